// The answers to a message's buttons over the API.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { MessageScene } from '../support/message-scene.ts'

let app: TestApp
let scene: MessageScene
before(async () => {
  app = await createTestApp()
  scene = await MessageScene.of(app, ['buttons', 'eve'])
})
after(() => app.close())

const unknownId = '01942a63-0d2e-7abc-8def-0123456789ab'
const answer = (messageId: string, type: string, body: object, options = {}) =>
  app.call('POST', `/v1/subscribers/buttons/messages/${messageId}/actions/${type}`, { body, ...options })
const buttons = [
  { type: 'primary', content: 'Yes' },
  { type: 'secondary', content: 'No' },
] as const

test('a button that is answered is the result of the message’s action', async () => {
  const said = await scene.say('buttons', {
    draft: { cta: { type: 'redirect', data: { url: '/x' }, action: { status: 'pending', buttons } } },
  })
  const done = await answer(said.id, 'primary', { status: 'done', payload: { reason: 'fine' } })
  assert.equal(done.status, 201)
  assert.equal(done.body._id, said.id)
  assert.deepEqual(done.body.cta, {
    type: 'redirect',
    data: { url: '/x' },
    action: { status: 'done', buttons, result: { type: 'primary', payload: { reason: 'fine' } } },
  })
  const pending = await answer(said.id, 'secondary', { status: 'pending' })
  assert.deepEqual(pending.body.cta.action, { status: 'pending', buttons, result: { type: 'secondary' } })
  const [item] = (await app.call('GET', '/v1/subscribers/buttons/notifications/feed')).body.data
  assert.deepEqual(item.cta, pending.body.cta)
})

test('an answer to a button that is not there is 400, to a message that is not there 404', async () => {
  const one = await scene.say('buttons', { draft: { cta: { action: { buttons: [buttons[0]] } } } })
  assert.equal((await answer(one.id, 'secondary', { status: 'done' })).status, 400)
  assert.equal((await answer(unknownId, 'primary', { status: 'done' })).status, 404)
  assert.equal((await answer('not-an-id', 'primary', { status: 'done' })).status, 404)
  assert.equal((await answer(one.id, 'primary', { status: 'done' }, { key: app.productionKey })).status, 404)
  assert.equal((await answer((await scene.say('eve')).id, 'primary', { status: 'done' })).status, 404)
})

test('a message without buttons notes what is reported of it, as public clients expect', async () => {
  const { id } = await scene.say('buttons')
  const reply = await answer(id, 'primary', { status: 'done', payload: { by: 'phone' } })
  assert.equal(reply.status, 201)
  assert.deepEqual(reply.body.cta, {
    action: { status: 'done', result: { type: 'primary', payload: { by: 'phone' } } },
  })
  const marked = await app.call('POST', '/v1/subscribers/buttons/messages/markAs', {
    body: { messageId: id, mark: { read: true } },
  })
  assert.deepEqual([marked.status, marked.body[0].read, marked.body[0].cta], [201, true, reply.body.cta])
  const notification = await app.call('PATCH', `/v2/subscribers/buttons/notifications/${id}/read`)
  assert.deepEqual([notification.status, notification.body.primaryAction], [200, undefined])
})

test('an ill-formed answer is 422 and named', async () => {
  const { id } = await scene.say('buttons', { draft: { cta: { action: { buttons: [buttons[0]] } } } })
  const refused = async (type: string, body: object) => {
    const reply = await answer(id, type, body)
    assert.equal(reply.status, 422)
    return Object.keys(reply.body.errors)
  }
  assert.deepEqual(await refused('tertiary', { status: 'done' }), ['type'])
  assert.deepEqual(await refused('primary', {}), ['status'])
  assert.deepEqual(await refused('primary', { status: 'perhaps' }), ['status'])
  assert.deepEqual(await refused('primary', { status: 'done', payload: 'text' }), ['payload'])
  assert.deepEqual(await refused('primary', { status: 'done', payload: { text: 'x'.repeat(17_000) } }), ['payload'])
})
