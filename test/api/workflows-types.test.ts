// Steps of every type in API v1: what is stored of them, and what they cannot do without.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { create, refused } from '../support/workflow-scene.ts'

let app: TestApp
before(async () => {
  app = await createTestApp()
})
after(() => app.close())

const withSteps = (...steps: Json[]): Promise<Record<string, string>> => refused(app, { name: 'x', steps })
const paths = (errors: Record<string, string>): string[] => Object.keys(errors).sort()

test('steps of every type, and what else there is to say of them, are stored and answered', async () => {
  const skip = { '==': [{ var: 'payload.plan' }, 'free'] }
  const sender = { from: { email: 'shop@example.com', name: '{{ payload.shop }}' }, replyTo: 'help@example.com' }
  const cta = {
    type: 'redirect',
    data: { url: '/x', target: '_blank' },
    action: { buttons: [{ type: 'primary', content: 'Go', redirect: { url: '/go', target: '_self' } }] },
  }
  const steps = [
    { template: { type: 'sms', content: 'x' }, skip },
    { template: { type: 'chat', content: 'x' } },
    { template: { type: 'push', content: 'x', title: 'T' } },
    { template: { type: 'email', subject: 'x', contentType: 'customHtml', content: 'x', ...sender } },
    { template: { type: 'in_app', content: 'x', cta, disableOutputSanitization: true } },
    {
      template: { type: 'throttle' },
      metadata: { type: 'fixed', amount: 1, unit: 'hours', threshold: 2, throttleKey: 'a' },
    },
    { template: { type: 'throttle' }, metadata: { type: 'dynamic', dynamicKey: 'until' } },
    { template: { type: 'delay' }, metadata: { type: 'timed', cron: '0 9 * * *', extendToSchedule: true } },
    { template: { type: 'delay' }, metadata: { type: 'timed', amount: 1, unit: 'days', timed: { atTime: '09:00' } } },
    { template: { type: 'delay' }, metadata: { type: 'dynamic', dynamicKey: 'order.at' } },
    { template: { type: 'digest' }, metadata: { type: 'timed', cron: '0 9 * * 1', extendToSchedule: false } },
    {
      template: { type: 'custom' },
      metadata: {
        type: 'http',
        url: 'https://example.com/x',
        method: 'PUT',
        headers: { 'x-a': 'b' },
        body: { deep: { list: [1, '{{ payload.a }}'] } },
        timeoutMs: 5_000,
        continueOnFailure: true,
      },
    },
  ]
  const given = { name: 'All types', payloadSchema: {}, validatePayload: false, isTranslationEnabled: true, steps }
  const made = await create(app, given)
  assert.deepEqual([made.validatePayload, made.isTranslationEnabled], [false, true])
  assert.deepEqual(
    made.steps.map(({ template, metadata, skip }: Json) => ({
      template,
      ...(metadata && { metadata }),
      ...(skip && { skip }),
    })),
    steps,
  )
  assert.deepEqual((await app.call('GET', `/v1/workflows/${made._id}`)).body, made)
})

test('every type of step has something it cannot do without', async () => {
  const errors = await withSteps(
    { template: { type: 'sms' } },
    { template: { type: 'chat', content: ' ' } },
    { template: { type: 'push', title: 'x' } },
    { template: { type: 'throttle' } },
    { template: { type: 'custom' } },
  )
  assert.deepEqual(paths(errors), [
    'steps.0.template.content',
    'steps.1.template.content',
    'steps.2.template.content',
    'steps.3.metadata',
    'steps.4.metadata',
  ])
})

test('a type of step that only others know is refused with the word for ours', async () => {
  const errors = await withSteps({ template: { type: 'http_request' } })
  assert.match(errors['steps.0.template.type'] ?? '', /custom/)
})

test('settings of another type, or of another kind of it, are refused', async () => {
  const errors = await withSteps(
    { template: { type: 'throttle' }, metadata: { type: 'fixed', amount: 1, unit: 'hours', digestKey: 'a' } },
    { template: { type: 'delay' }, metadata: { type: 'regular', amount: 1, unit: 'hours', cron: '0 9 * * *' } },
    { template: { type: 'custom' }, metadata: { type: 'http', url: 'https://example.com', amount: 1 } },
    { template: { type: 'sms', content: 'x' }, metadata: { type: 'regular', amount: 1, unit: 'hours' } },
    { template: { type: 'throttle' }, metadata: { type: 'http', url: 'https://example.com' } },
  )
  assert.deepEqual(paths(errors), [
    'steps.0.metadata.digestKey',
    'steps.1.metadata.cron',
    'steps.2.metadata.amount',
    'steps.3.metadata',
    'steps.4.metadata.type',
  ])
})

test('steps that only wait or call have no variants', async () => {
  const variants = [{ template: { type: 'custom' }, filters: [] }]
  const errors = await withSteps({
    template: { type: 'custom' },
    metadata: { type: 'http', url: 'https://example.com' },
    variants,
  })
  assert.deepEqual(paths(errors), ['steps.0.variants.0'])
})

test('the texts of a call are templates: a broken one is named when the workflow is saved', async () => {
  const metadata = { type: 'http', url: 'https://example.com/{{ payload.id', body: { note: '{% if %}' } }
  const steps = [{ template: { type: 'custom' }, metadata }]
  const wrong = await refused(app, { name: 'Broken call', steps })
  assert.deepEqual(Object.keys(wrong).sort(), ['steps.0.metadata.body.note', 'steps.0.metadata.url'])
})
