// The pool: transactions, deadlocks, timeouts, TLS, and a server that goes away and comes back.
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { awaitDatabase, UnusableDatabase } from '../../src/db/await-database.ts'
import type { Database } from '../../src/db/connect.ts'
import { connect, tlsOptions } from '../../src/db/connect.ts'
import { startEmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.ts'
import type { Tx } from '../../src/db/sql.ts'
import { DatabaseUnavailable, prepared, shortRead, sql } from '../../src/db/sql.ts'
import { silentLog } from '../../src/world/log.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { makeCertificates, startTlsFront } from '../support/tls-front.ts'

const poolOptions = { poolSize: 2, statementTimeoutMs: 2_000, lockTimeoutMs: 1_000, log: silentLog }

let database: TestDatabase
let db: Database
before(async () => {
  database = await createTestDatabase({ empty: true })
  db = database.db
  await db.run(sql`create table counters (name text primary key, value integer not null)`)
  await db.run(sql`insert into counters values ('a', 0), ('b', 0), ('locked', 0)`)
})
after(() => database.drop())

const add = (tx: Tx, name: string) => tx.run(sql`update counters set value = value + 1 where name = ${name}`)
const counterValue = async (name: string) =>
  (await db.row<{ value: number }>(sql`select value from counters where name = ${name}`))?.value

test('lists come out as they went in, of a prepared statement as of any other', async () => {
  const texts = ['', 'a"b\\c', '{e,f}', 'NULL', null, 'zwölf', '🎺', 'line\nbreak', '\ud800x', 'x'.repeat(70_000)]
  const ids = ['01a1e06b-27f9-7615-b3a0-29b508447234', null, 'FFFFFFFF-0000-4000-8000-00000000000A']
  const documents = texts.map((text) => (text === null ? null : JSON.stringify({ text })))
  const asked = (list: readonly unknown[], type: 'uuid' | 'text' | 'json' | 'jsonb') => {
    const types = { uuid: sql`uuid[]`, text: sql`text[]`, json: sql`json[]`, jsonb: sql`jsonb[]` }
    return sql`select one from unnest(${list}::${types[type]}) with ordinality as o (one, place) order by place`
  }
  const cases = [
    [texts, 'text', texts.map((text) => text?.toWellFormed() ?? null)],
    [ids, 'uuid', ids.map((id) => id?.toLowerCase() ?? null)],
    [documents.slice(0, 8), 'json', texts.slice(0, 8).map((text) => (text === null ? null : { text }))],
    [documents.slice(0, 8), 'jsonb', texts.slice(0, 8).map((text) => (text === null ? null : { text }))],
    [[], 'uuid', []],
    [[null], 'text', [null]],
  ] as const
  for (const [list, type, expected] of cases) {
    const statement = asked(list, type)
    for (const one of [statement, prepared(`list-${type}`, statement)]) {
      const rows = await db.rows<{ one: unknown }>(one)
      assert.deepEqual(
        rows.map((row) => row.one),
        expected,
      )
    }
  }
})

test('a list that stands in a prepared statement as two types is understood as both', async () => {
  const ids = ['01a1e06b-27f9-7615-b3a0-29b508447234']
  const found = sql`select (${ids}::uuid[])[1]::text as id, (${ids}::text[])[1] as name`
  const [id] = ids
  assert.deepEqual(await db.row(prepared('list-of-two-types', found)), { id, name: id })
})

test('a prepared statement with an id that is none says which', async () => {
  const statement = prepared('list-of-ids', sql`select unnest(${['no id']}::uuid[])`)
  await assert.rejects(db.rows(statement), /invalid input syntax for type uuid: "no id"/)
})

test('a transaction keeps all of its work, or none when it throws', async () => {
  await db.transaction((tx) => add(tx, 'a'))
  assert.equal(await counterValue('a'), 1)
  await assert.rejects(
    db.transaction(async (tx) => {
      await add(tx, 'a')
      throw new Error('changed my mind')
    }),
    /changed my mind/,
  )
  assert.equal(await counterValue('a'), 1)
})

test('a transaction whose failed statement was passed over in silence is an error, not a success', async () => {
  await assert.rejects(
    db.transaction(async (tx) => {
      await add(tx, 'a')
      await tx.run(sql`select 1 / 0`).catch(() => {})
    }),
    /was rolled back/,
  )
  assert.equal(await counterValue('a'), 1)
})

/** Two transactions that each lock one row and then want the other's. */
function crossing(work: (first: string, second: string) => Promise<unknown>): Promise<unknown> {
  return Promise.all([work('a', 'b'), work('b', 'a')])
}

function meetingPoint(parties: number): () => Promise<void> {
  let here = 0
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return async () => {
    here += 1
    if (here >= parties) open()
    await opened
  }
}

test('the loser of a deadlock is tried again, and both transactions succeed', async () => {
  await db.run(sql`update counters set value = 0`)
  let tries = 0
  const meet = meetingPoint(2)
  await crossing((first, second) =>
    db.transaction(async (tx) => {
      tries += 1
      await add(tx, first)
      await meet()
      await add(tx, second)
    }),
  )
  // Whoever is tried again may be faster than the winner's waking, and meet it once more.
  assert.ok(tries >= 3, String(tries))
  assert.equal(await counterValue('a'), 2)
  assert.equal(await counterValue('b'), 2)
})

test('a request that loses every attempt is answered that the database is unavailable', async () => {
  let tries = 0
  const lost = Object.assign(new Error('deadlock detected'), { code: '40P01' })
  await assert.rejects(
    db.transaction(async () => {
      tries += 1
      throw lost
    }),
    DatabaseUnavailable,
  )
  assert.equal(tries, 3)
})

test('a statement that takes too long is cancelled and reported as not available', async () => {
  const impatient = database.another({ statementTimeoutMs: 200 })
  await assert.rejects(impatient.row(sql`select pg_sleep(5)`), DatabaseUnavailable)
  await assert.rejects(
    impatient.transaction((tx) => tx.row(sql`select pg_sleep(5)`)),
    DatabaseUnavailable,
  )
  assert.deepEqual(await impatient.row(sql`select 1 as one`), { one: 1 })
})

test('a lock that is not given in time is reported as not available', async () => {
  const impatient = database.another({ lockTimeoutMs: 200 })
  await db.transaction(async (tx) => {
    await add(tx, 'locked')
    await assert.rejects(
      impatient.transaction((other) => add(other, 'locked')),
      DatabaseUnavailable,
    )
  })
  assert.equal(await impatient.transaction((other) => add(other, 'locked')), 1)
})

test('a full pool is reported as not available after the connect timeout', async () => {
  const small = database.another({ poolSize: 1 })
  await small.transaction(async () => {
    const begun = performance.now()
    await assert.rejects(small.row(sql`select 1`), DatabaseUnavailable)
    assert.ok(performance.now() - begun < 10_000)
  })
})

test('mistakes in a statement stay what they are', async () => {
  await assert.rejects(db.row(sql`select no_such_column`), (error: Error) => !(error instanceof DatabaseUnavailable))
})

test('a connection that is ended between two statements fails its transaction, not the process', async () => {
  await assert.rejects(
    db.transaction(async (tx) => {
      const row = await tx.row<{ pid: number }>(sql`select pg_backend_pid() as pid`)
      await db.run(sql`select pg_terminate_backend(${row?.pid})`)
      const isGone = sql`select 1 from pg_stat_activity where pid = ${row?.pid}`
      while ((await db.rows(isGone)).length > 0);
      await new Promise((resolve) => setImmediate(resolve))
      await add(tx, 'a')
    }),
    DatabaseUnavailable,
  )
  assert.deepEqual(await db.row(sql`select 1 as one`), { one: 1 })
})

test('short reads share connections; each has its own answer or its own error', async () => {
  const quotient = (by: number) =>
    db.row<{ pid: number; value: number }>(
      shortRead('shared-quotient', sql`select pg_backend_pid() as pid, 100 / ${by}::int as value`),
    )
  const results = await Promise.allSettled(Array.from({ length: 8 }, (_, index) => quotient(index)))
  const pids = results.flatMap((result) => (result.status === 'fulfilled' ? (result.value?.pid ?? []) : []))
  // A connection that is silent for long is not joined, and on a busy machine one may be: shared-reads.test.ts has the rule.
  assert.equal(pids.length, 7)
  assert.ok(new Set(pids).size < pids.length, `seven reads had ${new Set(pids).size} connections`)
  assert.match(String((results[0] as PromiseRejectedResult).reason), /division by zero/)
  assert.deepEqual(
    results.slice(1).map((result) => (result.status === 'fulfilled' ? result.value?.value : result.reason)),
    [100, 50, 33, 25, 20, 16, 14],
  )
})

test('readers of a connection on which preparing failed for the first of them are answered all the same', async () => {
  await db.run(sql`create table renamed (value integer)`)
  const read = () => db.rows(shortRead('shared-unprepared', sql`select value from renamed`))
  await db.run(sql`alter table renamed rename to gone`)
  const failed = await Promise.allSettled([read(), read(), read()])
  for (const result of failed)
    assert.match(String((result as PromiseRejectedResult).reason), /relation "renamed" does not exist/)
  await db.run(sql`alter table gone rename to renamed`)
  assert.deepEqual(await Promise.all([read(), read()]), [[], []])
  await db.run(sql`alter table renamed alter column value type text`)
  assert.deepEqual(await Promise.all([read(), read()]), [[], []])
})

test('a shared connection that is ended fails its readers, not the process, and the next read has another', async () => {
  const name = 'shared-end'
  const ending = (isLast: boolean) =>
    db.row(
      shortRead(
        name,
        sql`select case when ${isLast}::boolean then pg_terminate_backend(pg_backend_pid()) end as ended`,
      ),
    )
  const results = await Promise.allSettled([ending(false), ending(true), ending(false)])
  // The first may have its answer, or may not have read it yet.
  for (const result of results.slice(1)) {
    assert.equal(result.status, 'rejected')
    assert.ok((result as PromiseRejectedResult).reason instanceof DatabaseUnavailable)
  }
  assert.deepEqual(await ending(false), { ended: null })
})

test('sslmode means what libpq says it means', () => {
  const none = { ca: null, cert: null, key: null }
  assert.equal(tlsOptions('disable', none), false)
  assert.deepEqual(pick(tlsOptions('require', none)), { rejectUnauthorized: false, checksName: false })
  assert.deepEqual(pick(tlsOptions('verify-ca', none)), { rejectUnauthorized: true, checksName: false })
  assert.deepEqual(pick(tlsOptions('verify-full', none)), { rejectUnauthorized: true, checksName: true })
  assert.throws(() => tlsOptions('prefer', none), /sslmode must be disable, require, verify-ca or verify-full/)
  assert.throws(() => tlsOptions('require', { ...none, ca: '/no/such/file' }), /ENOENT/)
})

function pick(options: ReturnType<typeof tlsOptions>) {
  assert.ok(options !== false)
  return { rejectUnauthorized: options.rejectUnauthorized, checksName: options.checkServerIdentity === undefined }
}

test('TLS is spoken, and the server proven, as the address says', async (t) => {
  const certificates = makeCertificates(t)
  const front = await startTlsFront(t, database, certificates)
  const { user, database: name } = database.connection
  const ask = async (host: string, parameters: string, port = front.port) => {
    const pool = connect({ url: `postgres://${user}@${host}:${port}/${name}?${parameters}` }, poolOptions)
    try {
      return await pool.row(sql`select 1 as one`)
    } finally {
      await pool.close()
    }
  }
  const right = `sslrootcert=${certificates.ca}`
  const wrong = `sslrootcert=${certificates.otherCa}`
  const good = { one: 1 }
  assert.deepEqual(await ask('127.0.0.1', 'sslmode=disable'), good)
  assert.deepEqual(front.seen, { tls: 0, plain: 1 })
  assert.deepEqual(await ask('127.0.0.1', 'sslmode=require'), good)
  assert.deepEqual(front.seen, { tls: 1, plain: 1 })
  assert.deepEqual(await ask('127.0.0.1', `sslmode=require&${right}`), good)
  assert.deepEqual(await ask('127.0.0.1', `sslmode=verify-ca&${right}`), good)
  assert.deepEqual(await ask('127.0.0.1', `sslmode=verify-full&${right}`), good)
  assert.deepEqual(await ask('localhost', `sslmode=verify-full&${right}`), good)
  // 127.0.0.2 reaches no one here, so another name for the same server is written as an IPv4-mapped address.
  assert.deepEqual(await ask('[::ffff:127.0.0.1]', `sslmode=verify-ca&${right}`), good)
  await assert.rejects(ask('[::ffff:127.0.0.1]', `sslmode=verify-full&${right}`), /altnames|IP/i)
  for (const mode of ['require', 'verify-ca', 'verify-full']) {
    await assert.rejects(ask('127.0.0.1', `sslmode=${mode}&${wrong}`), /certificate|issuer/i, mode)
  }
  // Without a root certificate only the public ones count, and none of them knows ours.
  for (const mode of ['verify-ca', 'verify-full']) {
    await assert.rejects(ask('127.0.0.1', `sslmode=${mode}`), /certificate|issuer/i, mode)
  }
  const strict = await startTlsFront(t, database, certificates, { wantsClientCertificate: true })
  const own = `sslcert=${certificates.certificate}&sslkey=${certificates.key}`
  assert.deepEqual(await ask('127.0.0.1', `sslmode=require&${own}`, strict.port), good)
  await assert.rejects(ask('127.0.0.1', 'sslmode=require', strict.port))
  const plain = await startTlsFront(t, database, certificates, { refuses: true })
  await assert.rejects(ask('127.0.0.1', 'sslmode=require', plain.port), /does not support SSL/)
})

test('a pool lives through a restart of its server, and fails fast while there is none', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'posthorn-restart-'))
  // As root PostgreSQL runs as another user, who must be able to enter.
  await chmod(directory, 0o711)
  const options = { dataDirectory: directory, log: silentLog, settings: { fsync: 'off' } }
  const first = await startEmbeddedPostgres(options)
  let running = first
  const pool = connect(first.connection, poolOptions)
  t.after(async () => {
    await pool.close()
    await running.stop()
    await rm(directory, { recursive: true, force: true })
  })
  await pool.transaction((tx) => tx.run(sql`create table kept (id integer)`))
  await first.stop()
  const begun = performance.now()
  await assert.rejects(pool.row(sql`select 1`), DatabaseUnavailable)
  await assert.rejects(
    pool.transaction((tx) => tx.row(sql`select 1`)),
    DatabaseUnavailable,
  )
  assert.ok(performance.now() - begun < 10_000, 'an outage is reported at once, not after a statement timeout')
  running = await startEmbeddedPostgres(options)
  assert.deepEqual(await pool.rows(sql`select id from kept`), [])
})

/** Takes connections and never says a word, like a server behind a broken network. */
async function muteServer(t: TestContext): Promise<number> {
  const server = createServer((socket) => t.after(() => socket.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

test('a server that takes the connection and says nothing is given up after the connect timeout', async (t) => {
  const pool = connect({ url: `postgres://u@127.0.0.1:${await muteServer(t)}/x` }, poolOptions)
  t.after(() => pool.close())
  const begun = performance.now()
  await assert.rejects(pool.row(sql`select 1`), DatabaseUnavailable)
  const tookMs = performance.now() - begun
  assert.ok(tookMs > 2_500 && tookMs < 10_000, `${tookMs} ms`)
})

test('a start waits for its database with growing pauses, says so each time, and gives up in time', async (t) => {
  const { log, logged } = createFakeWorld()
  const pool = connect({ host: '/no/such/directory', port: 1, user: 'u', database: 'x' }, poolOptions)
  t.after(() => pool.close())
  const begun = performance.now()
  await assert.rejects(awaitDatabase(pool, { name: 'x at nowhere', waitMs: 1_000, log }), (error: Error) => {
    assert.ok(error instanceof UnusableDatabase)
    assert.match(error.message, /x at nowhere did not respond within 1 s \(\d attempts\): .*ENOENT/)
    return true
  })
  assert.ok(performance.now() - begun < 20_000)
  assert.ok(logged.length >= 2)
  const pauses = logged.map(({ facts }) => (facts as { pauseMs: number }).pauseMs)
  assert.ok(pauses[0] === 250 && pauses[1] === 500, String(pauses))
})

test('a database that refuses us is not waited for, and one with another encoding is refused', async (t) => {
  const wait = { name: 'x', waitMs: 60_000, log: silentLog }
  const wrong = connect({ ...database.connection, database: 'no_such_database' }, poolOptions)
  t.after(() => wrong.close())
  await assert.rejects(
    awaitDatabase(wrong, wait),
    /x refused the connection: database "no_such_database" does not exist/,
  )
  await db.run(sql`create database latin encoding 'LATIN1' locale 'C' locale_provider libc template template0`)
  const latin = connect({ ...database.connection, database: 'latin' }, poolOptions)
  await assert.rejects(awaitDatabase(latin, wait), /encoding LATIN1/)
  await latin.close()
  await db.run(sql`drop database latin`)
  await awaitDatabase(db, wait)
})
