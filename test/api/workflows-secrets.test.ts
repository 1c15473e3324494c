// Workflows over the API: keys that may only read see no header values and no queries of addresses, wherever steps are shown.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApiKey } from '../../src/manage/operate/api-keys.ts'
import type { Json, TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { testAuthor } from '../support/test-author.ts'
import { environmentOf } from '../support/topic-scene.ts'

const url = 'https://api.example.com/hooks/{{ payload.n }}?token=hush-query'
const headers = { Authorization: 'Bearer hush-header' }
const asking = {
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children: [
    {
      on: 'webhook',
      webhookUrl: 'https://ask.example.com/?k=hush-condition',
      field: 'ok',
      value: 'yes',
      operator: 'EQUAL',
    },
  ],
}
const steps = [
  {
    name: 'Call',
    uuid: 'call',
    template: { type: 'custom' },
    metadata: { type: 'http', url, headers },
    replyCallback: { active: true, url: 'https://replies.example.com/?k=hush-reply' },
  },
  {
    name: 'Bell',
    uuid: 'bell',
    template: { type: 'in_app', content: 'Hello' },
    variants: [{ name: 'Other', template: { type: 'in_app', content: 'Hello you' }, filters: [asking] }],
  },
]

let app: TestApp
let key: string
let workflow: Json
let transactionId: string
let notificationId: string
before(async () => {
  app = await createTestApp()
  app.world.onFetch = async () => ({ status: 200, headers: new Headers(), body: '{"ok":"no"}' })
  const made = await createApiKey(app.database.db, app.world, await environmentOf(app), {
    key: { name: 'reader', scopes: ['read'] },
    author: testAuthor,
    idempotency: undefined,
  })
  key = made.body.key
  const scene = new FlowScene(app)
  workflow = await scene.created(steps)
  const run = await scene.run(workflow.triggers[0].identifier, 'ada', { payload: { n: 7 } })
  transactionId = run.transactionId
  notificationId = run._id
})
after(() => app.close())

async function seen(path: string, reader?: string): Promise<TestReply> {
  const reply = await app.call('GET', path, reader === undefined ? {} : { key: reader })
  assert.equal(reply.status, 200, reply.text)
  return reply
}
const secrets = ({ text }: TestReply): string[] => [...new Set(text.match(/hush-[a-z]+/g))].sort()
const all = ['hush-condition', 'hush-header', 'hush-query', 'hush-reply']

test('a workflow and the list show a reader no secret, and a full key all of them', async () => {
  for (const path of [`/v1/workflows/${workflow._id}`, '/v1/workflows', `/v2/workflows/${workflow._id}`]) {
    assert.deepEqual(secrets(await seen(path, key)), [], path)
    assert.deepEqual(secrets(await seen(path)), all, path)
  }
})

test('what is no secret is shown as it is', async () => {
  const [call, bell] = (await seen(`/v1/workflows/${workflow._id}`, key)).body.steps
  assert.deepEqual(call.metadata, {
    type: 'http',
    url: 'https://api.example.com/hooks/{{ payload.n }}?[redacted]',
    headers: { Authorization: '[redacted]' },
  })
  const [part] = bell.variants[0].filters[0].moreChildren
  assert.deepEqual([part.webhookUrl, part.field, part.value], ['https://ask.example.com/?[redacted]', 'ok', 'yes'])
  const { headers: names } = (await seen(`/v2/workflows/${workflow._id}`, key)).body.steps[0].controlValues
  assert.deepEqual(names, { Authorization: '[redacted]' })
})

test('a step by itself shows a reader no secret', async () => {
  const path = `/v2/workflows/${workflow._id}/steps`
  for (const step of ['call', 'bell']) assert.deepEqual(secrets(await seen(`${path}/${step}`, key)), [], step)
  assert.deepEqual(secrets(await seen(`${path}/call`)), ['hush-header', 'hush-query', 'hush-reply'])
  assert.deepEqual(secrets(await seen(`${path}/bell`)), ['hush-condition'])
})

test('a preview reports a reader the names of headers and the address without its query', async () => {
  const path = `/v2/workflows/${workflow._id}/step/call/preview`
  const body = { previewPayload: { payload: { n: 7 } } }
  const reply = await app.call('POST', path, { key, body })
  assert.equal(reply.status, 201, reply.text)
  const { url: address, headers: names, method } = reply.body.result.preview
  assert.deepEqual(
    [address, names, method],
    ['https://api.example.com/hooks/7?[redacted]', { Authorization: '[redacted]' }, 'POST'],
  )
  assert.deepEqual(secrets(reply), [])
  assert.deepEqual(secrets(await app.call('POST', path, { body })), ['hush-header', 'hush-query'])
})

test('messages show a reader their workflow without its secrets', async () => {
  const path = `/v1/messages?transactionId=${transactionId}`
  const page = await seen(path, key)
  assert.equal(page.body.data[0].template.steps.length, 2)
  assert.deepEqual(secrets(page), [])
  assert.deepEqual(secrets(await seen(path)), all)
})

test('the activity reports no one a secret', async () => {
  for (const path of [`/v1/notifications/${notificationId}`, '/v1/notifications']) {
    for (const reader of [key, undefined]) assert.deepEqual(secrets(await seen(path, reader)), [], path)
  }
  const [call] = (await seen(`/v1/notifications/${notificationId}`, key)).body.jobs
  assert.deepEqual(call.step.metadata.headers, { Authorization: '[redacted]' })
})
