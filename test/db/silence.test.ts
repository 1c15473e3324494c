// Connections that die without a word: no statement hangs, the connection is given up and replaced, and both sides probe.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/db/connect.ts'
import { connect } from '../../src/db/connect.ts'
import { isInfrastructureError } from '../../src/db/failure.ts'
import { openSession } from '../../src/db/session.ts'
import type { Sql } from '../../src/db/sql.ts'
import { DatabaseUnavailable, sql } from '../../src/db/sql.ts'
import { silentLog } from '../../src/world/log.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import { startSilentFront } from '../support/silent-front.ts'

const options = { poolSize: 1, statementTimeoutMs: 300, lockTimeoutMs: 300, silenceMs: 200, log: silentLog }
/** Far more than 500 ms on a busy machine, far less than for ever. */
const soonMs = 5_000

let database: TestDatabase
before(async () => {
  database = await createTestDatabase({ empty: true })
})
after(() => database.drop())

const one = (db: Sql) => db.row<{ one: number }>(sql`select 1 as one`)

const ways: Readonly<Record<string, (db: Database) => Promise<unknown>>> = {
  'a statement': (db) => one(db),
  'a transaction': (db) => db.transaction((tx) => one(tx)),
  'reads that travel together': (db) => db.together((on) => Promise.all([one(on), one(on)])),
}
for (const pooler of ['none', 'transaction'] as const) {
  for (const [name, ask] of Object.entries(ways)) {
    test(`${name} on a connection that fell silent fails in time, and the next one works (pooler: ${pooler})`, async (t) => {
      const front = await startSilentFront(t, database)
      const db = connect({ url: front.url }, { ...options, pooler })
      t.after(() => db.close())
      await ask(db)
      front.fallSilent()
      const begun = performance.now()
      // The pool has one connection: the second caller waits for the first.
      const [first, second] = await Promise.allSettled([ask(db), ask(db)])
      assert.ok(performance.now() - begun < soonMs)
      assert.ok(first.status === 'rejected' && first.reason instanceof DatabaseUnavailable)
      assert.ok(isInfrastructureError(first.reason))
      assert.equal(second.status, 'fulfilled', 'whoever waits gets a new connection')
      assert.equal(front.open(), 1, 'the silent connection is destroyed')
      await ask(db)
    })
  }
}

test('a transaction that is given longer is cut off later, by the server and here', async (t) => {
  const front = await startSilentFront(t, database)
  const db = connect({ url: front.url }, options)
  t.after(() => db.close())
  const nap = sql`select pg_sleep(1)`
  await assert.rejects(
    db.transaction((tx) => tx.row(nap)),
    DatabaseUnavailable,
  )
  const limits = { statementTimeoutMs: 60_000, lockTimeoutMs: 2_000 }
  const seen = await db.transaction(async (tx) => {
    await tx.row(nap)
    return tx.row(
      sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`,
    )
  }, limits)
  assert.deepEqual(seen, { statement: '1min', lock: '2s' })
  assert.deepEqual(await db.row(sql`select current_setting('statement_timeout') as statement`), { statement: '300ms' })
})

test('the server probes us too: a node that vanished leaves no backends behind', async (t) => {
  const db = connect({ url: database.url }, options)
  t.after(() => db.close())
  const rows = await db.rows(sql`
    select name from pg_settings where source = 'session' and name like 'tcp\\_%' order by name`)
  assert.deepEqual(
    rows.map((row) => (row as { name: string }).name),
    ['tcp_keepalives_count', 'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_user_timeout'],
  )
})

/** Seconds until the system probes an idle connection. https://www.kernel.org/doc/html/latest/networking/proc_net_tcp.html */
function keepAliveSeconds(localPort: number, remotePort: number): number | undefined {
  const inHex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0')
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, local = '', remote = '', , , timer = ''] = line.trim().split(/\s+/)
    if (!local.endsWith(`:${inHex(localPort)}`) || !remote.endsWith(`:${inHex(remotePort)}`)) continue
    const [kind = '', jiffies = ''] = timer.split(':')
    return kind === '02' ? Number.parseInt(jiffies, 16) / 100 : undefined
  }
  return undefined
}

test('an idle connection is probed within seconds, not after the two hours of the system', {
  skip: existsSync('/proc/net/tcp') ? false : 'there is no /proc/net/tcp to see it in',
}, async (t) => {
  const front = await startSilentFront(t, database)
  const db = connect({ url: front.url }, options)
  t.after(() => db.close())
  await one(db)
  const [port = 0] = front.clientPorts()
  const seconds = keepAliveSeconds(port, front.port)
  assert.ok(seconds !== undefined && seconds <= 11, `${seconds} s`)
})

test('a session that fell silent is closed without waiting for an answer', async (t) => {
  const front = await startSilentFront(t, database)
  const session = await openSession({ url: front.url }, { channel: 'any', onNotification: () => {} })
  front.fallSilent()
  const begun = performance.now()
  await session.close()
  assert.ok(performance.now() - begun < soonMs)
})
