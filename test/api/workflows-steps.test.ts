// The steps of a workflow: their order, and ids that last through changes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { condition, create, digest, email, inApp, refusals, refused } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

async function replaced(id: string, steps: Json): Promise<Json> {
  const reply = await app.call('PUT', `/v1/workflows/${id}`, { body: { name: 'x', steps } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const contents = (workflow: Json): string[] => workflow.steps.map((step: Json) => step.template.content)
const idsOf = (step: Json): string[] => [step._id, step.uuid, step._templateId]

test('a step has ids of its own, defaults, and the step before it as its parent', async () => {
  const { steps } = await create(app, { name: 'x', steps: [inApp('a'), digest(), inApp('c', { uuid: 'mine' })] })
  const [first, second, third] = steps
  assert.equal('_parentId' in first, false)
  assert.equal(second._parentId, first._id)
  assert.equal(third._parentId, second._id)
  assert.equal(first.uuid, first._id)
  assert.equal(third.uuid, 'mine')
  assert.equal(new Set(steps.flatMap((step: Json) => [step._id, step._templateId])).size, 6)
  assert.deepEqual([first.active, first.shouldStopOnFail, first.filters, first.variants], [true, false, [], []])
})

test('parents, by _id or uuid, order the chain', async () => {
  const made = await create(app, {
    name: 'x',
    steps: [
      inApp('third', { _parentId: 'two' }),
      inApp('first', { _id: 'one', _parentId: null }),
      inApp('second', { uuid: 'two', _parentId: 'one' }),
    ],
  })
  assert.deepEqual(contents(made), ['first', 'second', 'third'])
  const [first, second, third] = made.steps
  assert.notEqual(first._id, 'one')
  assert.deepEqual([second._parentId, third._parentId], [first._id, second._id])
})

test('an unknown parent is refused, naming the step', async () => {
  const errors = await refused(app, { name: 'x', steps: [inApp('a'), inApp('b', { _parentId: 'nobody' })] })
  assert.deepEqual(Object.keys(errors), ['steps.1._parentId'])
})

test('two steps with one parent are refused, naming the second', async () => {
  const steps = [inApp('a', { _id: 'a' }), inApp('b', { _parentId: 'a' }), inApp('c', { _parentId: 'a' })]
  const errors = await refused(app, { name: 'x', steps })
  assert.deepEqual(Object.keys(errors), ['steps.2._parentId'])
  const roots = [inApp('a', { _id: 'a' }), inApp('b'), inApp('c', { _parentId: 'a' })]
  assert.deepEqual(Object.keys(await refused(app, { name: 'x', steps: roots })), ['steps.1._parentId'])
})

test('a circle of parents is refused, naming the steps in it', async () => {
  const steps = [
    inApp('a', { _id: 'a' }),
    inApp('b', { _id: 'b', _parentId: 'c' }),
    inApp('c', { _id: 'c', _parentId: 'b' }),
  ]
  const errors = await refused(app, { name: 'x', steps })
  assert.deepEqual(Object.keys(errors), ['steps.1._parentId', 'steps.2._parentId'])
  assert.match(errors['steps.1._parentId'] ?? '', /cycle/)
  const self = await refused(app, { name: 'x', steps: [inApp('a', { _id: 'a', _parentId: 'a' })] })
  assert.deepEqual(Object.keys(self), ['steps.0._parentId'])
})

test('a step that names itself keeps its ids when the workflow is replaced, changed or put in another order', async () => {
  const made = await create(app, { name: 'x', steps: [inApp('a'), digest({ uuid: 'the-digest' }), email()] })
  const [first, second, third] = made.steps
  const moved = await replaced(made._id, [
    digest({ uuid: 'the-digest', metadata: { type: 'regular', amount: 9, unit: 'hours' } }),
    inApp('new'),
    inApp('changed', { _id: first._id }),
  ])
  assert.deepEqual(idsOf(moved.steps[0]), idsOf(second))
  assert.deepEqual(idsOf(moved.steps[2]), idsOf(first))
  assert.equal('_parentId' in moved.steps[0], false)
  assert.equal(moved.steps[2]._parentId, moved.steps[1]._id)
  const known = [first, second, third].flatMap(idsOf)
  assert.ok(idsOf(moved.steps[1]).every((id) => !known.includes(id)))
  const patched = await app.call('PATCH', `/v1/workflows/${made._id}`, {
    body: { steps: [{ ...moved.steps[2], _parentId: null }] },
  })
  assert.deepEqual(idsOf(patched.body.steps[0]), idsOf(first))
})

test('a step without a name of its own is a new one, and so is one that names a step of another workflow', async () => {
  const made = await create(app, { name: 'x', steps: [inApp('a')] })
  const other = await create(app, { name: 'x', steps: [inApp('b')] })
  const unnamed = await replaced(made._id, [inApp('a')])
  assert.notEqual(unnamed.steps[0]._id, made.steps[0]._id)
  const borrowed = await replaced(made._id, [inApp('a', { _id: other.steps[0]._id })])
  assert.notEqual(borrowed.steps[0]._id, other.steps[0]._id)
})

test('a step that was removed and is there again has the ids it had, and its variants have theirs', async () => {
  const variants = [inApp('of a few', { filters: [condition('a')] })]
  const made = await create(app, {
    name: 'x',
    steps: [inApp('a'), digest({ uuid: 'the-digest' }), inApp('c', { variants })],
  })
  const [first, second, third] = made.steps
  const sent = ({ _parentId, ...step }: Json): Json => step
  const without = await replaced(made._id, [sent(first)])
  assert.deepEqual(without.steps.map(idsOf), [idsOf(first)])
  // As an undo sends it: after another version was saved, with what was changed since.
  await replaced(made._id, [inApp('changed', { _id: first._id })])
  const steps = [inApp('changed', { _id: first._id }), sent({ ...second, name: 'Again' }), sent(third)]
  const patched = await app.call('PATCH', `/v1/workflows/${made._id}`, { body: { steps } })
  assert.equal(patched.status, 200, patched.text)
  assert.deepEqual(patched.body.steps.map(idsOf), made.steps.map(idsOf))
  assert.deepEqual(patched.body.steps[2].variants.map(idsOf), third.variants.map(idsOf))
  assert.equal(patched.body.steps[1].name, 'Again')
  await replaced(made._id, [sent(first)])
  assert.deepEqual((await replaced(made._id, steps)).steps.map(idsOf), made.steps.map(idsOf))
})

test('a removed step whose uuid another step has now is not taken back', async () => {
  const made = await create(app, { name: 'x', steps: [inApp('a', { uuid: 'shared' })] })
  const [former] = made.steps
  const other = await replaced(made._id, [inApp('b')])
  const renamed = await replaced(made._id, [inApp('b', { _id: other.steps[0]._id, uuid: 'shared' })])
  const [current] = renamed.steps
  assert.equal(current.uuid, 'shared')
  const both = await replaced(made._id, [inApp('b', { _id: current._id }), inApp('a', { _id: former._id })])
  assert.deepEqual(idsOf(both.steps[0]), idsOf(current))
  assert.ok(idsOf(both.steps[1]).every((id) => !idsOf(former).includes(id)))
})

test('two steps that name the same one are refused', async () => {
  const made = await create(app, { name: 'x', steps: [inApp('a', { uuid: 'u' })] })
  const [step] = made.steps
  for (const steps of [
    [inApp('a', { _id: step._id }), inApp('b', { _id: step._id })],
    [inApp('a', { _id: step._id }), inApp('b', { uuid: 'u' })],
    [inApp('a', { uuid: 'v' }), inApp('b', { uuid: 'v' })],
  ]) {
    const reply = await app.call('PUT', `/v1/workflows/${made._id}`, { body: { name: 'x', steps } })
    assert.match(Object.keys(refusals(reply)).join(), /^steps\.1\.(_id|uuid)$/)
  }
  const variants = ['a', 'b'].map((content) => inApp(content, { uuid: 'v', filters: [condition('a')] }))
  const errors = await refused(app, { name: 'x', steps: [inApp('x', { variants })] })
  assert.deepEqual(Object.keys(errors), ['steps.0.variants.1.uuid'])
})

test('variants keep their ids as steps do', async () => {
  const variant = (content: string, more: object = {}) => inApp(content, { filters: [condition('a')], ...more })
  const made = await create(app, { name: 'x', steps: [inApp('a', { variants: [variant('b'), variant('c')] })] })
  const [step] = made.steps
  const [, kept] = step.variants
  const steps = [inApp('a', { _id: step._id, variants: [variant('changed', { _id: kept._id }), variant('new')] })]
  const after = await replaced(made._id, steps)
  assert.deepEqual(idsOf(after.steps[0].variants[0]), idsOf(kept))
  assert.notEqual(after.steps[0].variants[1]._id, step.variants[0]._id)
})
