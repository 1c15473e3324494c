// Workflows that are legal in each of their parts and too much as a whole: refused before they cost anyone's turn.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, inApp, refused } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

test('a workflow whose templates are too many to be parsed in one turn is refused as a whole', async () => {
  const full = Array.from({ length: 50 }, () => inApp('{{a}}'.repeat(201)))
  assert.deepEqual(Object.keys(await refused(app, { name: 'x', steps: full })), ['steps'])
  const fewer = Array.from({ length: 5 }, () => inApp('{{a}}'.repeat(201)))
  await create(app, { name: 'many outputs', steps: fewer })
})

const choices = (depth: number): Json =>
  depth === 0 ? { required: ['a'] } : { anyOf: [choices(depth - 1), choices(depth - 1)] }

test('a payload schema of too many parts is refused before it is compiled', async () => {
  const errors = await refused(app, { name: 'x', payloadSchema: choices(8), steps: [inApp()] })
  assert.match(errors['payloadSchema'] ?? '', /at most 300 schemas/)
  await create(app, { name: 'some choices', payloadSchema: choices(7), steps: [inApp()] })
})

test('a payload schema that was stored when it could be larger stays as it is, and becomes no other of its size', async () => {
  const made = await create(app, { name: 'stored', workflowId: 'stored', payloadSchema: {}, steps: [inApp()] })
  const { db } = app.database
  const large = { type: 'object', ...choices(8) }
  await db.run(sql`
    update workflow_versions set definition = jsonb_set(definition, '{payloadSchema}', ${JSON.stringify(large)}::jsonb)
    where workflow_id = ${made['_id']}`)
  const workflow = (payloadSchema: Json, content: string) => ({
    name: 'stored',
    workflowId: 'stored',
    payloadSchema,
    steps: [inApp(content)],
  })
  const second = (payloadSchema: Json) => ({
    name: 'stored',
    payloadSchema,
    preferences: { user: null },
    steps: [{ name: 'a', type: 'in_app', controlValues: { body: 'second' } }],
  })
  const ways = [
    ['POST', '/v1/configuration', (schema: Json) => ({ workflows: [workflow(schema, 'of a file')] })],
    ['PUT', `/v1/workflows/${made['_id']}`, (schema: Json) => workflow(schema, 'replaced')],
    ['PATCH', `/v1/workflows/${made['_id']}`, (schema: Json) => ({ payloadSchema: schema, description: 'changed' })],
    ['PUT', '/v2/workflows/stored', second],
    ['PATCH', '/v2/workflows/stored', (schema: Json) => ({ payloadSchema: schema, description: 'changed again' })],
  ] as const
  for (const [method, path, bodyOf] of ways) {
    const other = await app.call(method, path, { body: bodyOf({ ...large, description: 'another' }) })
    assert.equal(other.status, 422, `${method} ${path} ${other.text}`)
    assert.match(other.text, /at most 300 schemas/)
    const same = await app.call(method, path, { body: bodyOf(large) })
    assert.equal(same.status, 200, `${method} ${path} ${same.text}`)
  }
  const found = await app.call('GET', `/v1/workflows/${made['_id']}`)
  assert.deepEqual(found.body.payloadSchema, large)
})
