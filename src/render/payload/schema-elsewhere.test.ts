// Large payload schemas in a thread: they are compiled and checked there, with the results that they would have here.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ThreadFailureKind, Threads } from '../../world/threads.ts'
import { createThreads, ThreadFailure } from '../../world/threads.ts'
import { compilePayloadSchema, isTooBusy } from './payload-schema.ts'
import type { SchemaElsewhere, SchemaRequest } from './schema-elsewhere.ts'
import { compileSchema, schemaReply, valuesHereMax } from './schema-elsewhere.ts'
import { judgeSchemaAhead, schemaVerdict } from './schema-verdicts.ts'

const real = createThreads({ entry: new URL('../render-thread.js', import.meta.url), size: 1 })
after(() => real.close())

const asked: SchemaRequest[] = []
const answering = (answer: (message: unknown) => Promise<unknown>): Threads => ({
  ...real,
  run: (message) => {
    asked.push(message as SchemaRequest)
    return answer(message)
  },
})
const failing = (kind: ThreadFailureKind): Threads =>
  answering(() => Promise.reject(new ThreadFailure(kind, 'for a test')))

const withFields = (count: number, more: object = {}): Record<string, unknown> => {
  const fields = Array.from({ length: count }, (_, at) => [`field${at}`, { type: 'string', maxLength: at }])
  return { type: 'object', properties: { ...Object.fromEntries(fields), ...more } }
}
const large = withFields(300, { currency: { enum: ['EUR', 'USD'], default: 'EUR' }, total: { type: 'number' } })

async function elsewhere(threads: Threads, schema: Record<string, unknown>): Promise<SchemaElsewhere> {
  const known = await compileSchema(() => threads)(schema)
  assert.ok(known.ok && 'checkElsewhere' in known)
  return known
}

test('what a thread says of a payload is what is said here, and the defaults are filled in', async () => {
  const known = await elsewhere(real, large)
  const here = compilePayloadSchema(large)
  assert.ok(here.ok)
  for (const payload of [{}, { total: 1, field3: 'abc' }, { total: 'much', currency: 'GBP', field1: 'ab' }]) {
    const copy: Record<string, unknown> = { ...payload }
    const unfit = here.check(copy)
    const given = Object.freeze({ ...payload })
    assert.deepEqual(await known.checkElsewhere(given), { unfit, payload: unfit.length === 0 ? copy : given })
  }
})

test('each payload of a group has its own verdict, and what was not said of a long group is asked for again', async () => {
  const known = await elsewhere(real, large)
  const payloads = Array.from({ length: 150 }, (_, at) => (at % 3 === 0 ? { field2: 'abc', at } : { total: at }))
  const replies = await Promise.all(payloads.map((payload) => known.checkElsewhere(payload)))
  for (const [at, { unfit, payload }] of replies.entries()) {
    assert.equal(unfit.length, at % 3 === 0 ? 1 : 0)
    assert.deepEqual(payload, at % 3 === 0 ? payloads[at] : { total: at, currency: 'EUR' })
  }
  const payloadSchema = JSON.stringify(withFields(300, { filling: { default: 'x'.repeat(60_000) } }))
  const reply = schemaReply({ payloadSchema, payloads: Array.from({ length: 20 }, () => '{}') })
  assert.ok('value' in reply)
  assert.deepEqual([reply.value.checks.length < 20, reply.value.checks.length >= 1], [true, true])
})

test('what goes wrong with one payload is said of it alone', () => {
  const reply = schemaReply({ payloadSchema: JSON.stringify(large), payloads: ['{"total":1}', '{', '{"total":"?"}'] })
  assert.ok('value' in reply)
  const [good, broken, unfit] = reply.value.checks
  assert.ok(good !== undefined && 'unfit' in good && good.unfit.length === 0)
  assert.ok(broken !== undefined && 'fault' in broken)
  assert.ok(unfit !== undefined && 'unfit' in unfit && unfit.unfit.length === 1)
})

test('small schemas go to no thread; of large ones each value counts, whatever it is', async () => {
  const none = failing('broken')
  assert.ok((await compileSchema(() => none)(withFields(20))).ok)
  assert.deepEqual(asked.splice(0), [])
  const names = Array.from({ length: valuesHereMax }, (_, at) => `n${at}`)
  const costly = [
    { required: names },
    { properties: Object.fromEntries(names.map((name) => [name, false])) },
    { enum: names },
  ]
  for (const schema of costly) await compileSchema(() => none)(schema)
  assert.equal(asked.splice(0).length, costly.length)
  assert.ok((await compileSchema(() => undefined)(large)).ok, 'without threads it is compiled here')
})

test('a schema that is wrong is refused with the place of the mistake', async () => {
  const wrong = withFields(300, { total: { type: 'text' } })
  assert.deepEqual(await compileSchema(() => real)(wrong), compilePayloadSchema(wrong))
})

test('without a thread that replies nothing is said of a payload, and a schema is refused only if it ended its thread', async () => {
  for (const busy of ['unavailable', 'busy', 'late'] as const) {
    const starved = await compileSchema(() => failing(busy))(large)
    assert.ok(!starved.ok && starved.isStarved === true && starved.isOutOfTime === true, busy)
  }
  const broken = await compileSchema(() => failing('broken'))(large)
  assert.ok(!broken.ok && broken.isStarved === undefined && broken.isOutOfTime === true)
  let kind: ThreadFailureKind | undefined
  const known = await elsewhere(
    answering((message) => (kind === undefined ? real.run(message) : Promise.reject(new ThreadFailure(kind, 'no')))),
    large,
  )
  for (kind of ['unavailable', 'busy', 'late', 'broken'] as const) {
    await assert.rejects(known.checkElsewhere({}), (error) => isTooBusy(error), kind)
  }
})

test('what was found ahead is not worked out again when the schema is saved', async () => {
  const schema = withFields(200, { own: { const: 'ahead' } })
  const value = { verdict: { ok: true, slowPatterns: ['as.the.thread.says'] }, checks: [] }
  await judgeSchemaAhead(
    answering(async () => ({ value })),
    schema,
  )
  assert.deepEqual(schemaVerdict(schema), value.verdict)
  await judgeSchemaAhead(failing('broken'), schema)
  assert.deepEqual(schemaVerdict(schema), value.verdict, 'it is not asked for again')
  const other = withFields(200, { own: { const: 'not ahead' } })
  assert.deepEqual(schemaVerdict(other), { ok: true, slowPatterns: [] })
})

test('without a free thread a schema is not refused for good, and nothing is remembered of it', async () => {
  const schema = withFields(200, { own: { const: 'no thread' } })
  await assert.rejects(judgeSchemaAhead(failing('unavailable'), schema), (error) => isTooBusy(error))
  assert.deepEqual(schemaVerdict(schema), { ok: true, slowPatterns: [] })
})
