// Payload schemas as large as they may be, and those that an older version stored: none keeps others waiting.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { createRenderThreads } from '../../src/main/render-threads.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { watchWork } from '../support/turn-cpu.ts'

const threads = createRenderThreads({ deadlineMs: 60_000 }) ?? assert.fail('there is no built file for threads')
let app: TestApp
before(async () => {
  app = await createTestApp()
  Object.assign(app.world, { threads, judgingThreads: threads })
  // What is loaded and compiled when it is first needed does not count.
  await save(
    'first',
    fields(300, () => ({ type: 'string' })),
  )
  await trigger('first', {})
})
after(async () => {
  await app.close()
  await threads.close()
})

/** Another name with each attempt: each is new to the node. */
function namesOf(name: string): () => string {
  let count = 0
  return () => {
    count += 1
    return `${name.replaceAll(' ', '-')}-${count}`
  }
}

const fields = (count: number, field: (at: number) => unknown): Json => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`field${at}`, field(at)])),
})

const step = { template: { type: 'in_app', content: 'Hello' } }
const save = (name: string, payloadSchema: Json): Promise<TestReply> =>
  sent('/v1/workflows', { name, workflowId: name, active: true, steps: [step], payloadSchema, validatePayload: true })
const trigger = (name: string, payload: Json): Promise<TestReply> =>
  sent('/v1/events/trigger', { name, to: 'anne', payload })

/** A service whose machine was too busy to tell asks to be asked again, after a second. */
async function sent(path: string, body: Json): Promise<TestReply> {
  for (let tries = 1; ; tries += 1) {
    const reply = await app.call('POST', path, { body })
    if (reply.status !== 503 || tries === 50) return reply
    app.world.advance(1_000)
  }
}

const allowed: Readonly<Record<string, Json>> = {
  'long patterns': fields(250, (at) => ({ type: 'string', pattern: `^${at}[a-z]{3,30}$` })),
  'fields with much to them': fields(290, (at) => ({
    ...{ type: 'string', minLength: 1, maxLength: at + 1, format: 'date-time' },
    ...{ enum: ['a', 'b'], description: 'x'.repeat(60), not: false },
  })),
  'fields that may not be there': fields(3_000, () => false),
  'names that are required': {
    allOf: Array.from({ length: 45 }, () => ({ required: Array.from({ length: 190 }, (_, at) => `r${at}`) })),
  },
}

for (const [name, schema] of Object.entries(allowed)) {
  test(`${name}: saved and used in turns`, async () => {
    const next = namesOf(name)
    const saved = await watchWork(() => save(next(), schema))
    assert.equal(saved.result.status, 201, saved.result.text.slice(0, 300))
    assert.ok(saved.share < 1, `${saved.share} of what a turn may take, saved`)
    const other = namesOf(`${name} used`)
    for (let made = 0; made < 3; made += 1) await save(other(), schema)
    const used = namesOf(`${name} used`)
    const first = await watchWork(() => trigger(used(), { field0: '?' }))
    assert.equal(first.result.status, 422, first.result.text.slice(0, 300))
    assert.ok(first.share < 1, `${first.share} of what a turn may take, used`)
  })
}

test('one that was stored before there was a limit is compiled elsewhere, and judges as it did', async () => {
  const schema = fields(900, (at) => ({ type: 'string', maxLength: at }))
  schema.properties.currency = { enum: ['EUR', 'USD'], default: 'EUR' }
  const refused = await save('stored', schema)
  assert.equal(refused.status, 422)
  for (const at of [1, 2, 3]) {
    assert.equal((await save(`stored-${at}`, { type: 'object' })).status, 201)
    await app.database.db.run(sql`
      update workflow_versions v set definition = definition || jsonb_build_object('payloadSchema', ${JSON.stringify(schema)}::jsonb)
      where id = (select version_id from workflows where identifier = ${`stored-${at}`})`)
  }
  const used = namesOf('stored')
  const first = await watchWork(() => trigger(used(), { field5: 'abc' }))
  assert.equal(first.result.status, 201, first.result.text)
  assert.ok(first.share < 1, `${first.share} of what a turn may take`)
  const wrong = await trigger('stored-1', { field1: 'abc', currency: 'GBP' })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /payload.field1 must NOT have more than 1 characters/)
  assert.match(wrong.text, /payload.currency must be one of EUR, USD/)
  const [event] = await app.database.db.rows<{ payload: Json }>(
    sql`select payload from events order by id desc limit 1`,
  )
  assert.deepEqual(event?.payload, { field5: 'abc', currency: 'EUR' })
})

test('versions of a large workflow are written and compared elsewhere, to the same texts', async () => {
  // Of what takes longest to write as YAML.
  const data = { dense: Array.from({ length: 1_000 }, () => []) }
  const steps = Array.from({ length: 6 }, (_, at) => ({
    template: { type: 'in_app', content: `Hello ${at}`, data: { ...data, at } },
  }))
  const body = { name: 'long', workflowId: 'long', steps }
  assert.equal((await app.call('POST', '/v1/workflows', { body })).status, 201)
  const changed = { ...body, name: 'longer' }
  assert.equal((await app.call('PUT', '/v1/workflows/long', { body: changed })).status, 200)
  for (const path of ['diff', 'files']) {
    const { result, share } = await watchWork(() => app.call('GET', `/v1/workflows/long/versions/1/${path}`))
    assert.equal(result.status, 200)
    assert.ok(share < 1, `${share} of what a turn may take`)
    Object.assign(app.world, { threads: undefined })
    const here = await app.call('GET', `/v1/workflows/long/versions/1/${path}`)
    Object.assign(app.world, { threads })
    assert.equal(result.text, here.text)
  }
})

test('an event waits for no thread that is busy with what people try out', async () => {
  assert.equal((await save('not-tried', allowed['long patterns'])).status, 201)
  Object.assign(app.world, { threads: { ...threads, run: () => new Promise(() => {}) } })
  const reply = await trigger('not-tried', {})
  Object.assign(app.world, { threads })
  assert.equal(reply.status, 201, reply.text)
})
