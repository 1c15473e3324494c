// Workflows that are legal in each of their parts and too much as a whole: refused before they cost anyone's turn.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
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

test('a payload schema of too many parts is refused before it is compiled', async () => {
  const choices = (depth: number): Json =>
    depth === 0 ? { required: ['a'] } : { anyOf: [choices(depth - 1), choices(depth - 1)] }
  const errors = await refused(app, { name: 'x', payloadSchema: choices(8), steps: [inApp()] })
  assert.match(errors['payloadSchema'] ?? '', /at most 500 schemas/)
  await create(app, { name: 'some choices', payloadSchema: choices(7), steps: [inApp()] })
})
