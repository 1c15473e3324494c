// The public client @novu/api authors workflows: each of its calls parses what we answer.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Novu } from '@novu/api'
import { ErrorDto, ValidationErrorDto } from '@novu/api/models/errors/index.js'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, digest, email, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let novu: Novu
before(async () => {
  app = await createTestApp({ vendor: 'novu' })
  const serverURL = await app.app.listen({ port: 0, host: '127.0.0.1' })
  novu = new Novu({ secretKey: app.developmentKey, serverURL, retryConfig: { strategy: 'none' } })
})
after(() => app.close())

const preference = {
  all: { enabled: true, readOnly: false },
  channels: { email: { enabled: true }, sms: { enabled: false }, in_app: { enabled: true } },
}

test('the client creates a workflow of every type it knows, and reads it back', async () => {
  const { result } = await novu.workflows.create({
    name: 'Orders',
    workflowId: 'orders',
    description: 'All of them',
    tags: ['shop'],
    active: true,
    payloadSchema: { type: 'object', properties: { id: { type: 'string' } } },
    validatePayload: true,
    severity: 'high',
    preferences: { user: null, workflow: preference },
    steps: [
      {
        name: 'Bell',
        type: 'in_app',
        controlValues: {
          subject: 'S',
          body: 'B',
          primaryAction: { label: 'Go', redirect: { url: '/x', target: '_blank' } },
        },
      },
      // Without a word on the editor the client says `block`, whatever the body is.
      { name: 'Mail', type: 'email', controlValues: { subject: 'S', body: '<p>B</p>' } },
      { name: 'Text', type: 'sms', controlValues: { body: 'B', skip: { '==': [{ var: 'payload.id' }, ''] } } },
      { name: 'Phone', type: 'push', controlValues: { subject: 'S', body: 'B' } },
      { name: 'Room', type: 'chat', controlValues: { body: 'B' } },
      {
        name: 'Gather',
        type: 'digest',
        controlValues: { type: 'regular', amount: 5, unit: 'minutes', lookBackWindow: { amount: 1, unit: 'hours' } },
      },
      { name: 'Daily', type: 'digest', controlValues: { type: 'timed', cron: '0 9 * * *' } },
      { name: 'Wait', type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } },
      { name: 'Brake', type: 'throttle', controlValues: { type: 'fixed', amount: 5, unit: 'minutes', threshold: 2 } },
      { name: 'Call', type: 'custom', controlValues: { custom: { url: 'https://example.com/hook' } } },
    ],
  })
  assert.deepEqual([result.origin, result.status, result.severity], ['novu-cloud', 'ACTIVE', 'high'])
  assert.equal(result.preferences.default.channels['sms']?.enabled, false)
  assert.deepEqual(
    result.steps.map((step) => step.type),
    ['in_app', 'email', 'sms', 'push', 'chat', 'digest', 'digest', 'delay', 'throttle', 'custom'],
  )
  for (const name of [result.id, 'orders', result.slug]) {
    assert.deepEqual((await novu.workflows.get(name)).result, result)
  }
  const step = await novu.workflows.steps.retrieve('orders', 'mail')
  assert.equal(step.result.type, 'email')
})

test('the client updates, patches, lists and deletes', async () => {
  const steps = [{ name: 'Bell', type: 'in_app' as const, controlValues: { body: 'Two' } }]
  const made = await novu.workflows.create({ name: 'One', workflowId: 'one', steps })
  const preferences = { user: preference, workflow: preference }
  const updated = await novu.workflows.update({ name: 'Two', steps, preferences, active: true }, 'one')
  assert.deepEqual([updated.result.id, updated.result.name], [made.result.id, 'Two'])
  assert.equal(updated.result.preferences.user?.channels['sms']?.enabled, false)
  const patched = await novu.workflows.patch({ active: false, tags: ['t'] }, 'one')
  assert.deepEqual([patched.result.status, patched.result.tags], ['INACTIVE', ['t']])
  const listed = await novu.workflows.list({
    limit: 5,
    offset: 0,
    orderBy: 'name',
    orderDirection: 'ASC',
    query: 'Two',
    tags: ['t'],
    status: ['INACTIVE'],
  })
  assert.deepEqual([listed.result.totalCount, listed.result.workflows[0]?.workflowId], [1, 'one'])
  await novu.workflows.delete('one')
  await assert.rejects(novu.workflows.get('one'), (error) => error instanceof ErrorDto && error.statusCode === 404)
})

test('the client previews a step', async () => {
  const steps = [
    {
      name: 'Mail',
      type: 'email' as const,
      controlValues: { subject: '{{ payload.id }}', body: '<p>B</p>', editorType: 'html' as const },
    },
  ]
  await novu.workflows.create({ name: 'Shown', workflowId: 'shown', steps })
  const generatePreviewRequestDto = { previewPayload: { payload: { id: '7' } } }
  const { result } = await novu.workflows.steps.generatePreview({
    workflowId: 'shown',
    stepId: 'mail',
    generatePreviewRequestDto,
  })
  assert.equal((result.result as { preview: { subject: string } }).preview.subject, '7')
  assert.deepEqual(result.previewPayloadExample.payload, { id: '7' })
})

test('the client reads a workflow of API v1', async () => {
  const blocks = [{ type: 'text', content: 'Hello' }]
  const template = { type: 'email', subject: 'S', contentType: 'editor', content: blocks }
  const timed = { type: 'timed', amount: 1, unit: 'days', timed: { atTime: '09:00' } }
  await create(app, {
    name: 'First',
    workflowId: 'first',
    steps: [
      inApp(),
      digest({ metadata: { type: 'backoff', amount: 1, unit: 'days' } }),
      digest({ metadata: timed }),
      email('S', { template }),
    ],
  })
  const { result } = await novu.workflows.get('first')
  assert.deepEqual([result.origin, result.steps.length], ['novu-cloud-v1', 4])
})

test('the client gets errors in its own format', async () => {
  const steps = [{ name: 'Bell', type: 'in_app' as const, controlValues: { body: '{{ a' } }]
  await assert.rejects(novu.workflows.create({ name: 'x', workflowId: 'x', steps }), (error) => {
    assert.ok(error instanceof ValidationErrorDto)
    return Object.keys(error.errors).includes('steps.0.controlValues.body')
  })
})
