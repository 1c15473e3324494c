// The built service behind Debian's PgBouncer in transaction mode, with and without an address that leads past it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../src/db/sql.ts'
import type { FaultNode } from '../support/fault-scene.ts'
import { completed, FaultScene, makeWorkflow } from '../support/fault-scene.ts'
import type { PgBouncer } from '../support/pgbouncer.ts'
import { noPgBouncer, startPgBouncer } from '../support/pgbouncer.ts'
import type { Ended } from '../support/service.ts'
import { eventually } from '../support/service.ts'
import { email, inApp } from '../support/workflow-scene.ts'

const singles = 40
const bulks = 6
const perBulk = 25
const people = 20

const eventOf = (id: string, place: number) => ({
  name: 'both',
  to: { subscriberId: `s${place % people}`, email: `s${place % people}@example.org` },
  payload: { id },
  transactionId: id,
})

async function triggerAll(node: FaultNode): Promise<string[]> {
  const ids: string[] = []
  const one = async (place: number) => {
    const id = `single-${place}`
    ids.push(id)
    const { status, body } = await node.ask('POST', '/v1/events/trigger', eventOf(id, place))
    assert.equal(status, 201, JSON.stringify(body))
  }
  const many = async (bulk: number) => {
    const events = Array.from({ length: perBulk }, (_, place) => eventOf(`bulk-${bulk}-${place}`, place))
    ids.push(...events.map((event) => event.transactionId))
    const { status, body } = await node.ask('POST', '/v1/events/trigger/bulk', { events })
    assert.equal(status, 201, JSON.stringify(body))
    for (const result of body) assert.equal(result.status, 'processed', JSON.stringify(result))
  }
  await Promise.all([
    ...Array.from({ length: singles }, (_, place) => one(place)),
    ...Array.from({ length: bulks }, (_, bulk) => many(bulk)),
  ])
  return ids
}

async function deliversEverything(scene: FaultScene, node: FaultNode): Promise<void> {
  await makeWorkflow(node, 'both', [inApp('Feed {{ payload.id }}'), email('Mail {{ payload.id }}')])
  const ids = await triggerAll(node)
  assert.equal(ids.length, singles + bulks * perBulk)
  await completed(node, ids)
  await scene.settled()
  const seen = await scene.rows(sql`select channel, count(*) as count from messages group by channel order by channel`)
  assert.deepEqual(seen, [
    { channel: 'email', count: ids.length },
    { channel: 'in_app', count: ids.length },
  ])
  const feed = await node.ask('GET', '/v1/subscribers/s1/notifications/feed?limit=100')
  assert.equal(feed.status, 200)
  assert.equal(feed.body.totalCount, ids.filter((id) => Number(id.split('-').at(-1)) % people === 1).length)
  const activity = await node.ask('GET', '/v1/notifications?page=0&limit=50')
  assert.equal(activity.status, 200)
  assert.equal(activity.body.data.length, 50)
  for (const notification of activity.body.data) {
    for (const job of notification.jobs) assert.equal(job.status, 'completed', JSON.stringify(job))
  }
}

async function forgetsRevokedKeys(node: FaultNode, command: (...args: string[]) => Promise<Ended>): Promise<void> {
  const made = await command('keys', 'create', '--environment', 'Development', '--name', 'short-lived')
  assert.equal(made.code, 0, made.stderr)
  const key = /ph_[0-9A-Za-z]{43}/.exec(made.stdout)?.[0] ?? assert.fail(made.stdout)
  const status = async () => (await node.call('GET', '/v1/tenants', key)).status
  assert.equal(await status(), 200)
  const listed = await command('keys', 'list')
  const id = /^.*short-lived.*$/m.exec(listed.stdout)?.[0].match(/[0-9a-f-]{36}/)?.[0] ?? assert.fail(listed.stdout)
  // Used until the command is over, so that the node trusts it at that time.
  const revoking = command('keys', 'revoke', id, '--environment', 'Development')
  let isOver = false
  revoking.then(() => {
    isOver = true
  })
  while (!isOver) await Promise.all([status(), sleep(20)])
  assert.equal((await revoking).code, 0)
  // Within a second by the node's clock, as test/api/api-keys.test.ts shows; a busy machine may take a few.
  await eventually(async () => (await status()) === 401)
}

/** Its log has neither errors nor warnings, and it stops in order. */
async function endsWell(node: FaultNode): Promise<void> {
  const lines = node.stdout().split('\n')
  const logged = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as { level: number })
  assert.deepEqual(
    logged.filter((line) => line.level >= 40),
    [],
  )
  assert.equal((await node.stop()).code, 0)
}

for (const way of ['without a direct address', 'with a direct address'] as const) {
  describe(`behind a transaction pooler, ${way}`, { skip: noPgBouncer }, () => {
    const isDirect = way === 'with a direct address'
    let scene: FaultScene
    let bouncer: PgBouncer
    let variables: Record<string, string>
    /** One takes the events, the other does the work: it hears of it by LISTEN, or finds it by polling. */
    let taking: FaultNode
    let working: FaultNode
    before(async () => {
      scene = await FaultScene.create({ empty: true })
      bouncer = await startPgBouncer(scene.database, { serverConnections: 6 })
      variables = {
        DATABASE_URL: bouncer.url,
        POSTHORN_DATABASE_POOLER: 'transaction',
        // The service warns of an address that is open to everyone.
        POSTHORN_OUTBOUND_ALLOW: 'accounts+127.0.0.1',
        ...(isDirect ? { POSTHORN_DATABASE_DIRECT_URL: scene.database.url } : {}),
        POSTHORN_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
        POSTHORN_DATABASE_LOCK_TIMEOUT_MS: '5000',
        POSTHORN_DATABASE_STATEMENT_TIMEOUT_MS: '15000',
      }
      taking = await scene.start('taking', { ...variables, POSTHORN_ROLE: 'api' })
      working = await scene.start('working', { ...variables, POSTHORN_ROLE: 'worker' })
    })
    after(async () => {
      await scene.close()
      await bouncer.stop()
    })

    test('events triggered singly and in bulk at once are all delivered, and can be read', () =>
      deliversEverything(scene, taking))

    test('hints are heard where an address leads past the pooler, and nowhere else', async () => {
      const listening = sql`select count(*) as count from pg_stat_activity
        where datname = current_database() and application_name = 'posthorn node'`
      await eventually(async () => (await scene.count(listening)) === (isDirect ? 1 : 0))
    })

    test('a key that is revoked stops within a second on a node that hears nothing of it', () =>
      forgetsRevokedKeys(taking, (...args) => scene.command(args, variables)))

    test('nothing went wrong on the way', async () => {
      for (const node of [taking, working]) await endsWell(node)
    })
  })
}

test('a direct address that leads to another database is refused at the start', { skip: noPgBouncer }, async () => {
  const scene = await FaultScene.create()
  const other = await FaultScene.create()
  const bouncer = await startPgBouncer(scene.database, { serverConnections: 2 })
  try {
    const { code, stderr } = await scene.command(['start'], {
      PORT: '0',
      DATABASE_URL: bouncer.url,
      POSTHORN_DATABASE_POOLER: 'transaction',
      POSTHORN_DATABASE_DIRECT_URL: other.database.url,
    })
    assert.equal(code, 1)
    assert.match(stderr, /POSTHORN_DATABASE_DIRECT_URL \(.*\) and DATABASE_URL \(.*\) point to different databases/)
    assert.doesNotMatch(stderr, /\n +at /)
  } finally {
    await scene.close()
    await other.close()
    await bouncer.stop()
  }
})
