// The audit log beyond changes: reads of secrets, exports and erasures, its keyed hashes, and streams to addresses of the operator's own.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { chained } from '../../src/domain/operate/audit.ts'
import { sendAudit } from '../../src/manage/operate/send-audit.ts'
import { rotateSigning } from '../../src/manage/operate/signing.ts'
import { listKeyedEntries } from '../../src/store/operate/audit-log.ts'
import { listEnvironments } from '../../src/store/operate/installation.ts'
import { OutboundError } from '../../src/world/outbound/outbound-error.ts'
import type { OutboundOptions } from '../../src/world/world.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { added, logOf, must } from '../support/audit-scene.ts'
import { tenant } from '../support/audit-things.ts'
import { worldClock } from '../support/pipeline.ts'
import { testAuthor } from '../support/test-author.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const verify = async () => (await app.call('GET', '/v1/audit/verify')).body

test('the signing secret is read in clear: one entry for each key and hour', async () => {
  const call = { method: 'GET', path: '/v1/environments/me' }
  const [entry, ...more] = await added(app, call)
  assert.deepEqual([entry.action, entry.resourceKind, entry.after], ['read', 'environment', { secrets: 'read' }])
  assert.deepEqual(more, [])
  assert.deepEqual(await added(app, call), [])
  app.world.advance(60 * 60_000)
  assert.equal((await added(app, call)).length, 1)
})

test('exports and erasures of a subscriber are recorded under a keyed hash', async () => {
  await must(app, { method: 'POST', path: '/v2/subscribers', body: { subscriberId: 'ann@example.com' } })
  const path = '/v1/subscribers/ann@example.com'
  const [exported] = await added(app, { method: 'GET', path: `${path}/export` })
  assert.deepEqual([exported.action, exported.resourceKind, exported.before], ['export', 'subscriber', null])
  const before = (await logOf(app)).length
  const receipt = (await must(app, { method: 'POST', path: `${path}/erase` })).body
  const [erased, ...more] = (await logOf(app)).slice(before)
  assert.deepEqual([erased.action, erased.after], ['erase', { erasureId: receipt._id }])
  assert.deepEqual(more, [])
  assert.deepEqual([exported.resourceId, erased.resourceId], [receipt.subscriberHash, receipt.subscriberHash])
  assert.ok(!JSON.stringify([exported, erased]).includes('ann'))
  assert.equal((await app.call('GET', '/v1/subscribers/unknown/export')).status, 404)
  assert.equal((await logOf(app)).length, before + 1)
})

test('a chain that was rewritten without the audit key is detected', async () => {
  const { db } = app.database
  const [environment] = await listEnvironments(db)
  assert.ok(environment)
  const { ok, keyedFrom } = await verify()
  assert.deepEqual([ok, keyedFrom], [true, 1])
  const entries = await listKeyedEntries(db, environment, { afterSeq: 0, limit: 1_000 })
  assert.ok(entries.length > 3 && entries.every(({ mac }) => mac !== null))
  const [last] = entries.slice(-1)
  assert.ok(last)
  // As the owner of the database could: another name, and valid hashes.
  const { seq: _seq, previousHash, hash: _hash, mac: _mac, ...facts } = last
  const head = { seq: last.seq - 1, hash: previousHash }
  const forged = chained(environment.id, head, { ...facts, keyName: 'Another key' })
  const where = sql`where environment_id = ${environment.id} and seq = ${last.seq}`
  const write = async (name: string, hash: string, mac: string | null): Promise<void> => {
    await db.run(sql`update audit_log set key_name = ${name}, hash = ${Buffer.from(hash, 'hex')},
      mac = ${mac === null ? null : Buffer.from(mac, 'hex')} ${where}`)
  }
  await db.run(sql`alter table audit_log disable trigger all`)
  try {
    for (const mac of [last.mac, null, 'ab'.repeat(32)]) {
      await write('Another key', forged.hash, mac)
      assert.deepEqual((await verify()).broken, { seq: last.seq, reason: 'mac' })
    }
  } finally {
    await write(last.keyName, last.hash, last.mac)
    await db.run(sql`alter table audit_log enable trigger all`)
  }
  assert.equal((await verify()).ok, true)
})

interface Delivery {
  readonly id: string | null
  readonly body: Json
  readonly options: OutboundOptions
  /** Whether one of its signatures fits this secret. */
  fits(secret: string): boolean
}

/** What is delivered from now on, each answered with the next status; 200 after these. */
function deliveries(...statuses: (number | Error)[]): Delivery[] {
  const all: Delivery[] = []
  app.world.onFetch = async (request, options) => {
    const text = await request.text()
    const [id, time] = [request.headers.get('webhook-id'), request.headers.get('webhook-timestamp')]
    const given = (request.headers.get('webhook-signature') ?? '').split(' ')
    const fits = (secret: string): boolean => {
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
      return given.includes(`v1,${createHmac('sha256', key).update(`${id}.${time}.${text}`).digest('base64')}`)
    }
    all.push({ id, body: JSON.parse(text), options: options ?? {}, fits })
    const status = statuses.shift() ?? 200
    if (status instanceof Error) throw status
    return { status, headers: new Headers(), body: 'whatever' }
  }
  return all
}

const send = () => sendAudit(app.database.db, app.world, worldClock(app.world))
const url = 'https://siem.example.com/in?token=hush-hush'

async function streams(): Promise<Json[]> {
  return (await must(app, { method: 'GET', path: '/v1/audit/streams' })).body
}

test('a stream gets every entry from now on, signed, guarded and in order', async () => {
  const made = (await must(app, { method: 'POST', path: '/v1/audit/streams', body: { url } })).body
  assert.match(made.signingSecret, /^whsec_/)
  const got = deliveries()
  const first = await tenant(app)
  await tenant(app)
  // Its own creation comes first: who knows of the stream is part of the log.
  assert.equal(await send(), 3)
  const [begun, second, third] = got
  assert.deepEqual([begun?.body.type, begun?.body.data.resourceKind], ['audit.entry', 'audit-stream'])
  assert.equal(begun?.body.data.resourceName, 'siem.example.com')
  assert.ok(!JSON.stringify(await logOf(app)).includes('hush-hush'))
  assert.equal(second?.body.data.resourceName, first.identifier)
  assert.equal(third?.body.data.seq, second?.body.data.seq + 1)
  const [entry] = (await logOf(app)).filter(({ seq }) => seq === third?.body.data.seq)
  const { environmentId, environmentName, ...sent } = third?.body.data ?? {}
  assert.deepEqual([sent, environmentName], [entry, 'Development'])
  assert.equal(third?.id, `audit-${environmentId}-${entry.seq}-${entry.hash.slice(0, 16)}`)
  assert.equal(third?.options.reach, 'guarded')
  assert.ok(third?.fits(made.signingSecret))
  assert.ok(!third?.fits((await app.call('GET', '/v1/environments/me')).body.signingSecret))
  assert.equal((await streams())[0].position, entry.seq)
})

test('an entry that is not taken is sent again, later and later, and nothing overtakes it', async () => {
  await send()
  const got = deliveries(500, new OutboundError('refused-address', 'siem.example.com is not allowed'), 302)
  await tenant(app)
  await tenant(app)
  assert.equal(await send(), 0)
  assert.equal(await send(), 0, 'it waits')
  assert.equal(got.length, 1)
  const [failing] = await streams()
  assert.deepEqual([failing.failures, failing.lastError], [1, 'It answered 500'])
  for (const [pauseMs, error] of [
    [5_000, 'siem.example.com is not allowed'],
    [10_000, 'It answered 302'],
  ] as const) {
    app.world.advance(pauseMs)
    assert.equal(await send(), 0)
    assert.equal((await streams())[0].lastError, error)
  }
  app.world.advance(20_000)
  assert.ok((await send()) >= 2)
  assert.deepEqual(new Set(got.slice(0, 4).map(({ id }) => id)).size, 1, 'the same id for every repeat')
  const [good] = await streams()
  assert.deepEqual([good.failures, good.lastError, good.nextTryAt], [0, null, null])
})

test('two nodes at once send each entry once, and a node that dies is followed by another', async () => {
  await send()
  const got = deliveries()
  await tenant(app)
  const counts = await Promise.all([send(), send()])
  assert.equal(counts[0] + counts[1], 1)
  assert.equal(got.length, 1)
  await tenant(app)
  const until = new Date(app.world.now().getTime() + 60_000)
  await app.database.db.run(sql`update audit_streams set lease = gen_random_uuid(), leased_until = ${until}`)
  assert.equal(await send(), 0)
  app.world.advance(60_000)
  assert.equal(await send(), 1)
})

test('a stream that is far behind takes turns with the others', async () => {
  await send()
  for (let count = 0; count < 50; count += 1) await tenant(app)
  const behind = (await must(app, { method: 'POST', path: '/v1/audit/streams', body: { url: behindUrl } })).body
  const got = addresses()
  // As if it had been here all along, and was due before the other.
  await app.database.db.run(sql`
    update audit_streams set position = 0, next_try_at = next_try_at - interval '1 minute' where id = ${behind._id}`)
  await send()
  const firstOfOther = got.indexOf(url)
  assert.ok(got.length > 100 && firstOfOther > 0 && firstOfOther <= 20, `the other came after ${firstOfOther} entries`)
  await must(app, { method: 'DELETE', path: `/v1/audit/streams/${behind._id}` })
})

test('a stream whose address cannot be decrypted is put aside, and can be deleted', async () => {
  await send()
  const broken = (await must(app, { method: 'POST', path: '/v1/audit/streams', body: { url: behindUrl } })).body
  await app.database.db.run(sql`
    update audit_streams set url = ${Buffer.alloc(60, 1)}, next_try_at = next_try_at - interval '1 minute'
    where id = ${broken._id}`)
  await tenant(app)
  const got = addresses()
  await send()
  assert.ok(got.length >= 2 && got.every((to) => to === url))
  const shown = (await streams()).find(({ _id }) => _id === broken._id)
  assert.deepEqual([shown.url, shown.failures], ['', 1])
  assert.match(shown.lastError, /a key that this node does not have/)
  assert.ok(JSON.stringify(app.world.logged).includes('was not taken by its stream'))
  await must(app, { method: 'DELETE', path: `/v1/audit/streams/${broken._id}` })
})

const behindUrl = 'https://archive.example.com/in'

/** Where entries go from now on, while time passes. */
function addresses(): string[] {
  const all: string[] = []
  app.world.onFetch = async (request) => {
    all.push(request.url)
    app.world.advance(1)
    return { status: 200, headers: new Headers(), body: '' }
  }
  return all
}

test('after a rotation entries carry both signatures for a while', async () => {
  await send()
  const [before] = await streams()
  const [environment] = await listEnvironments(app.database.db)
  assert.ok(environment)
  await rotateSigning(app.database.db, app.world, environment, { author: testAuthor, idempotency: undefined })
  const [after] = await streams()
  assert.notEqual(after.signingSecret, before.signingSecret)
  const got = deliveries()
  await send()
  assert.ok(got[0]?.fits(before.signingSecret) && got[0]?.fits(after.signingSecret))
})

test('streams are few, each to another address, to no place that makes no sense; one that is deleted gets nothing', async () => {
  const post = (body: object) => app.call('POST', '/v1/audit/streams', { body })
  for (const bad of ['siem', 'ftp://siem.example.com', 'https://user:pass@siem.example.com']) {
    assert.equal((await post({ url: bad })).status, 422, bad)
  }
  assert.equal((await post({ url })).status, 409)
  assert.equal((await post({ url: 'https://siem.example.com/all', from: 'start' })).status, 201)
  const got = deliveries()
  await send()
  assert.ok(got.some(({ body }) => body.data.seq === 1))
  for (const { _id } of await streams()) await must(app, { method: 'DELETE', path: `/v1/audit/streams/${_id}` })
  await tenant(app)
  assert.equal(await send(), 0)
  for (let count = 0; count < 5; count += 1) assert.equal((await post({ url: `${url}${count}` })).status, 201)
  assert.equal((await post({ url: `${url}-one-more` })).status, 409)
})
