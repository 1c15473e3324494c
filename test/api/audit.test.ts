// The audit log: when something is written, what never is, who may read it, and that a change of it is seen.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { added, logOf, must } from '../support/audit-scene.ts'
import { layout, name, post, tenant, workflow } from '../support/audit-things.ts'
import { sendgridBody, twilioBody } from '../support/integration-scene.ts'
import { inApp } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const verify = async (query = '') => (await app.call('GET', `/v1/audit/verify${query}`)).body

test('a first start reports the key that its settings make', async () => {
  const [first] = await logOf(app, app.productionKey)
  assert.equal(first.seq, 1)
  assert.equal(first.previousHash, '0'.repeat(64))
  assert.deepEqual([first.action, first.resourceKind, first.keyId], ['create', 'api-key', 'start'])
  assert.equal(first.resourceName, 'POSTHORN_API_KEY_2')
})

test('a change that leaves everything as it was writes nothing', async () => {
  const { identifier } = await tenant(app)
  const path = `/v1/tenants/${identifier}`
  assert.deepEqual(await added(app, { method: 'PATCH', path, body: { name: 'Old' } }), [])
  const { _id } = await workflow(app)
  assert.deepEqual(
    await added(app, { method: 'PUT', path: `/v1/workflows/${_id}/status`, body: { active: false } }),
    [],
  )
  const suppression = { channel: 'email', address: 'twice@example.com', note: 'asked' }
  await post(app, '/v1/suppressions', suppression)
  assert.deepEqual(await added(app, { method: 'POST', path: '/v1/suppressions', body: suppression }), [])
})

test('a change that is refused writes nothing, though part of it was done', async () => {
  const [one, other] = [await tenant(app), await tenant(app)]
  const written = (await logOf(app)).length
  const renamed = await app.call('PATCH', `/v1/tenants/${one.identifier}`, { body: { identifier: other.identifier } })
  assert.equal(renamed.status, 409)
  // Its own key is the last that may do everything: it is revoked, found to be the last, and rolled back.
  const production = (await app.call('GET', '/v1/environments/api-keys', { key: app.productionKey })).body.data[0]
  const before = (await logOf(app, app.productionKey)).length
  const path = `/v1/environments/api-keys/${production._id}`
  assert.equal((await app.call('DELETE', path, { key: app.productionKey })).status, 409)
  assert.equal((await logOf(app, app.productionKey)).length, before)
  assert.equal((await logOf(app)).length, written)
})

test('a transaction that fails after its entry was written takes the entry with it', async () => {
  const { db } = app.database
  const written = (await logOf(app)).length
  // The answer of a call with an idempotency key is stored last.
  await db.run(sql`
    create function refuse_answer() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`)
  await db.run(sql`create trigger refused before insert on idempotency_keys execute function refuse_answer()`)
  try {
    const headers = { 'idempotency-key': 'fails' }
    const reply = await app.call('POST', '/v1/tenants', { body: { identifier: name() }, headers })
    assert.equal(reply.status, 500)
  } finally {
    await db.run(sql`drop trigger refused on idempotency_keys`)
  }
  assert.equal((await logOf(app)).length, written)
  assert.equal((await verify()).ok, true)
})

test('a call that is repeated with its idempotency key writes once', async () => {
  const call = {
    method: 'POST',
    path: '/v1/tenants',
    body: { identifier: name() },
    headers: { 'idempotency-key': 'k' },
  }
  assert.equal((await added(app, call)).length, 1)
  assert.equal((await added(app, call)).length, 0)
})

test('no secret is ever in the log, before or after', async () => {
  const marker = 'MARKER-d41d8cd9'
  const secret = (what: string): string => `${marker}-${what}`
  const { _id } = await post(app, '/v1/integrations', {
    ...sendgridBody,
    credentials: { apiKey: secret('key'), from: 'a@example.com', user: secret('user') },
    configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: secret('signing') },
  })
  const change = {
    credentials: { apiKey: secret('key-2'), from: 'a@example.com' },
    configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: secret('signing-2') },
  }
  const [changed] = await added(app, { method: 'PUT', path: `/v1/integrations/${_id}`, body: change })
  assert.deepEqual(changed.before, {
    credentials: { apiKey: '[redacted]', user: '[redacted]' },
    configurations: { inboundWebhookSigningKey: '[redacted]' },
  })
  assert.deepEqual(changed.after, {
    credentials: { apiKey: '[redacted] (changed)' },
    configurations: { inboundWebhookSigningKey: '[redacted] (changed)' },
  })
  await must(app, { method: 'DELETE', path: `/v1/integrations/${_id}` })

  const step = (n: number) => ({
    template: { type: 'custom' },
    metadata: {
      type: 'http',
      url: `https://example.com/hook?token=${secret(`query-${n}`)}`,
      headers: { authorization: secret(`header-${n}`) },
    },
    filters: [
      {
        isNegated: false,
        type: 'GROUP',
        value: 'AND',
        children: [
          {
            on: 'webhook',
            webhookUrl: `https://example.com/?k=${secret('filter')}`,
            field: 'ok',
            operator: 'EQUAL',
            value: 'yes',
          },
        ],
      },
    ],
  })
  const made = await workflow(app, { steps: [step(1)] })
  const steps = [{ ...step(2), _id: made.steps[0]._id }]
  const [entry] = await added(app, { method: 'PATCH', path: `/v1/workflows/${made._id}`, body: { steps } })
  const { metadata } = entry.after.steps[made.steps[0]._id]
  assert.deepEqual(metadata.headers, { authorization: '[redacted] (changed)' })
  assert.match(metadata.url, /\[redacted\] \(changed\)$/)

  const key = await post(app, '/v1/environments/api-keys', { name: 'Shown once' })
  await post(app, '/v1/suppressions', { channel: 'email', address: `${marker}@example.com`, note: secret('note') })

  const own = (await app.call('GET', '/v1/environments/me')).body
  const [{ found, all }] = (await app.database.db.rows<{ found: number; all: number }>(sql`
    select count(*) filter (where log::text ilike ${`%${marker}%`} or log::text like ${`%${key.key}%`}
      or log::text like ${`%${own.signingSecret}%`}) as found, count(*) as all from audit_log log`)) as [
    { found: number; all: number },
  ]
  assert.equal(found, 0)
  assert.ok(all > 5)
})

test('a long text is reported by its hash and its length, a short one whole', async () => {
  const content = `<p>{{{ body }}}</p>${'a'.repeat(20_000)}`
  const { _id } = await layout(app)
  const [entry] = await added(app, { method: 'PATCH', path: `/v1/layouts/${_id}`, body: { content } })
  assert.equal(entry.before.content, '<p>{{{ body }}}</p>')
  assert.equal(entry.after.content.length, content.length)
  assert.match(entry.after.content.sha256, /^[0-9a-f]{64}$/)
})

test('the integration that becomes the primary in place of a deleted one is notified', async () => {
  const [first, second] = [
    await post(app, '/v1/integrations', { ...twilioBody, active: true }),
    await post(app, '/v1/integrations', { ...twilioBody, active: true }),
  ]
  assert.deepEqual([first.primary, second.primary], [true, false])
  const [entry] = await added(app, { method: 'DELETE', path: `/v1/integrations/${first._id}` })
  assert.equal(entry.before.primary, true)
  assert.equal(entry.before.channelPrimaryId, first._id)
  assert.deepEqual(Object.keys(entry.after), ['channelPrimaryId'])
  assert.notEqual(entry.after.channelPrimaryId, first._id)
})

test('changes that happen at once, on two nodes, form one chain without a gap', async () => {
  const other = await createTestApp({ nodeOf: app })
  try {
    const before = (await logOf(app)).length
    const calls = Array.from({ length: 30 }, (_, index) =>
      (index % 2 === 0 ? app : other).call('POST', '/v1/tenants', { body: { identifier: `at-once-${index}` } }),
    )
    const replies = await Promise.all(calls)
    assert.ok(replies.every(({ status }) => status === 201))
    const log = await logOf(app)
    assert.equal(log.length, before + 30)
    assert.deepEqual(
      log.map((entry) => entry.seq),
      log.map((_, index) => index + 1),
    )
    const result = await verify()
    assert.deepEqual([result.ok, result.complete, result.checked], [true, true, log.length])
    assert.deepEqual(result.head, { seq: log.length, hash: log.at(-1).hash })
  } finally {
    await other.app.close()
  }
})

for (const statement of [
  sql`update audit_log set key_name = 'Someone else'`,
  sql`delete from audit_log`,
  sql`delete from audit_log where false`,
  sql`truncate audit_log`,
  sql`truncate audit_log cascade`,
]) {
  test(`the database refuses: ${statement.text}`, async () => {
    const before = (await logOf(app)).length
    await assert.rejects(app.database.db.run(statement), /append-only/)
    assert.equal((await logOf(app)).length, before)
  })
}

/** What someone could do who owns the database. */
async function tampered(change: ReturnType<typeof sql>, check: () => Promise<void>): Promise<void> {
  const { db } = app.database
  await db.run(sql`create table audit_log_before as select * from audit_log`)
  await db.run(sql`alter table audit_log disable trigger all`)
  try {
    await db.run(change)
    await check()
  } finally {
    await db.run(sql`delete from audit_log`)
    await db.run(sql`insert into audit_log select * from audit_log_before`)
    await db.run(sql`alter table audit_log enable trigger all`)
    await db.run(sql`drop table audit_log_before`)
  }
  assert.equal((await verify()).ok, true)
}

const environmentId = async () => (await app.call('GET', '/v1/environments/me')).body._id

test('an entry that was changed is found, whichever column it is', async () => {
  const id = await environmentId()
  const changes = {
    at: sql`at = at + interval '1 second'`,
    key_id: sql`key_id = 'another'`,
    key_name: sql`key_name = 'Someone else'`,
    address: sql`address = '10.0.0.1'`,
    request_id: sql`request_id = 'another'`,
    action: sql`action = 'delete'`,
    resource_kind: sql`resource_kind = 'feed'`,
    resource_id: sql`resource_id = 'x'`,
    resource_name: sql`resource_name = 'x'`,
    before: sql`before = '{"a": 1}'`,
    after: sql`after = jsonb_set(after, '{a}', '1')`,
  }
  for (const [column, change] of Object.entries(changes)) {
    const where = sql`where environment_id = ${id} and seq = 3`
    await tampered(sql`update audit_log set ${change} ${where}`, async () => {
      const result = await verify()
      assert.equal(result.ok, false, column)
      assert.deepEqual(result.broken, { seq: 3, reason: 'hash' }, column)
      assert.equal(result.head.seq, 2, column)
      assert.equal(result.next, null, column)
    })
  }
})

test('an entry that was taken out, or put in with a hash of its own, is found', async () => {
  const id = await environmentId()
  const own = sql`environment_id = ${id}`
  await tampered(sql`delete from audit_log where ${own} and seq = 4`, async () => {
    assert.deepEqual((await verify()).broken, { seq: 4, reason: 'missing' })
  })
  await tampered(sql`update audit_log set previous_hash = hash where ${own} and seq = 5`, async () => {
    assert.deepEqual((await verify()).broken, { seq: 5, reason: 'previous-hash' })
  })
})

test('a log that was cut at its end is whole to itself, and found by the head that was pinned', async () => {
  const id = await environmentId()
  const { head } = await verify()
  const pin = `?pin=${head.seq}:${head.hash}`
  assert.equal((await verify(pin)).ok, true)
  await tampered(sql`delete from audit_log where environment_id = ${id} and seq = ${head.seq}`, async () => {
    assert.equal((await verify()).ok, true)
    assert.deepEqual((await verify(pin)).broken, { seq: head.seq, reason: 'pin' })
  })
  const other = `?pin=${head.seq}:${'0'.repeat(64)}`
  assert.deepEqual((await verify(other)).broken, { seq: head.seq, reason: 'pin' })
})

test('a check continues where the one before ended, and a cursor that is none is 400', async () => {
  const [, second] = await logOf(app)
  const rest = await verify(`?after=${second.seq}:${second.hash}`)
  assert.equal(rest.ok, true)
  assert.equal(rest.checked, (await logOf(app)).length - 2)
  const wrong = await verify(`?after=${second.seq}:${'f'.repeat(64)}`)
  assert.deepEqual(wrong.broken, { seq: 3, reason: 'previous-hash' })
  // Nothing comes after the last one, nor after one that was cut off between two calls.
  const { head } = await verify()
  const end = await verify(`?after=${head.seq}:${head.hash}`)
  assert.deepEqual([end.ok, end.complete, end.checked, end.head], [true, true, 0, head])
  const beyond = await verify(`?after=${head.seq + 1}:${head.hash}`)
  assert.deepEqual([beyond.ok, beyond.head, beyond.broken], [false, null, { seq: head.seq + 1, reason: 'missing' }])
  const other = await verify(`?after=${head.seq}:${'f'.repeat(64)}`)
  assert.deepEqual([other.ok, other.broken], [false, { seq: head.seq, reason: 'hash' }])
  assert.equal((await app.call('GET', '/v1/audit/verify?after=2')).status, 400)
  assert.equal((await app.call('GET', '/v1/audit/verify?pin=2')).status, 422)
})

test('numbers, names and texts that a database writes in its own way have the hash they were given', async () => {
  const data = {
    ...{ 10: 'ten', 9: 'nine', '': 'none', é: 'e\u0301', '\uffff': 1, '\u{1f600}': 2, __proto: { b: 1, a: 2 } },
    numbers: [1e21, 1.5e-300, -0, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, 100, 1e-7, 2 ** 60],
    texts: ['\u2028', '\u007f', '"\\/', '\t\n', ' '],
    nothing: [null, {}, [], { deep: { er: null } }],
  }
  const [entry] = await added(app, { method: 'POST', path: '/v1/tenants', body: { identifier: name(), data } })
  assert.deepEqual(entry.after.data.numbers.length, 9)
  assert.equal((await verify()).ok, true)
})

test('another environment has a log of its own', async () => {
  const before = await logOf(app, app.productionKey)
  await tenant(app)
  assert.deepEqual(await logOf(app, app.productionKey), before)
  const last = (await logOf(app)).at(-1)
  assert.equal((await app.call('GET', `/v1/audit/${last.seq}`, { key: app.productionKey })).status, 404)
})

test('only a full key reads the log', async () => {
  for (const scope of ['read', 'trigger']) {
    const { key } = await post(app, '/v1/environments/api-keys', { scopes: [scope] })
    for (const path of ['/v1/audit', '/v1/audit/1', '/v1/audit/verify']) {
      assert.equal((await app.call('GET', path, { key })).status, 403, `${scope} ${path}`)
    }
  }
  assert.equal((await app.call('GET', '/v1/audit', { key: null })).status, 401)
})

test('the list is newest first, pages both ways, and is filtered', async () => {
  const log = await logOf(app)
  const page = (await app.call('GET', '/v1/audit?limit=3')).body
  assert.deepEqual(page.data, log.slice(-3).reverse())
  assert.equal(page.totalCount, log.length)
  const next = (await app.call('GET', `/v1/audit?limit=3&after=${page.next}`)).body
  assert.deepEqual(next.data, log.slice(-6, -3).reverse())
  assert.deepEqual((await app.call('GET', `/v1/audit?limit=3&before=${next.previous}`)).body.data, page.data)

  const wanted = log.find((entry) => entry.resourceKind === 'layout')
  const of = async (query: string) => (await app.call('GET', `/v1/audit?limit=100&${query}`)).body.data
  const same = (member: string) => log.filter((entry) => entry[member] === wanted[member]).reverse()
  assert.deepEqual(await of('resourceKind=layout'), same('resourceKind'))
  assert.deepEqual(await of(`resourceId=${wanted.resourceId}`), same('resourceId'))
  assert.deepEqual(await of(`action=${wanted.action}`), same('action').slice(0, 100))
  assert.deepEqual(await of(`keyId=start`), log.filter((entry) => entry.keyId === 'start').reverse())
  assert.deepEqual(await of('resourceKind=layout&action=delete&keyId=nobody'), [])
})

test('the list is filtered by its timestamps: from one on, before another', async () => {
  app.world.advance(60_000)
  const from = app.world.now().toISOString()
  const [one] = await added(app, { method: 'POST', path: '/v1/tenants', body: { identifier: name() } })
  app.world.advance(60_000)
  const to = app.world.now().toISOString()
  await tenant(app)
  const { data } = (await app.call('GET', `/v1/audit?from=${from}&to=${to}`)).body
  assert.deepEqual(data, [one])
  assert.deepEqual((await app.call('GET', `/v1/audit/${one.seq}`)).body, one)
})

test('what cannot be asked for is reported', async () => {
  const statusOf = async (query: string) => (await app.call('GET', `/v1/audit${query}`)).status
  assert.equal(await statusOf('?resourceKind=topic'), 422)
  assert.equal(await statusOf('?action=rename'), 422)
  assert.equal(await statusOf('?from=yesterday'), 422)
  assert.equal(await statusOf('?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z'), 422)
  assert.equal(await statusOf('?after=nonsense'), 400)
  assert.equal(await statusOf('/999999'), 404)
  assert.equal(await statusOf('/0'), 422)
  assert.equal(await statusOf('/first'), 422)
})

test('a step that is changed is reported by its id, and the others are not reported', async () => {
  const made = await workflow(app, { steps: [inApp('One'), inApp('Two')] })
  const steps = made.steps.map((step: { _id: string }, index: number) => ({
    ...inApp(index === 0 ? 'One' : 'New'),
    _id: step._id,
  }))
  const [entry] = await added(app, { method: 'PATCH', path: `/v1/workflows/${made._id}`, body: { steps } })
  const id = made.steps[1]._id
  assert.deepEqual(entry.before, { steps: { [id]: { template: { content: 'Two' } } } })
  assert.deepEqual(entry.after, { steps: { [id]: { template: { content: 'New' } } } })
})
