// The in-app step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sceneNow, stepInput, stepWith } from '../../test/support/render-scene.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { inApp } from './in-app.ts'

const at = sceneNow.toISOString()
const template: StepTemplate = {
  type: 'in_app',
  content: 'Order {{id}}',
  subject: 'Hello',
  cta: { data: { url: '/orders/{{id}}' } },
  actor: { type: 'system_icon', data: 'info' },
  data: { id: '{{id}}' },
}

test('the message is delivered by being written', () => {
  assert.deepEqual(inApp.decide(stepInput(template, { payload: { id: 7 } })), {
    kind: 'deliver',
    message: {
      target: '',
      channel: 'in_app',
      content: 'Order 7',
      subject: 'Hello',
      cta: { type: 'redirect', data: { url: '/orders/7' } },
      actor: { type: 'system_icon', data: 'info' },
      data: { id: '7' },
    },
    details: [
      { code: 'messageCreated', at, providerId: 'platform' },
      { code: 'messageSent', at, providerId: 'platform' },
    ],
  })
})

test('content that cannot be made fails the step, names the field and does not stop what follows', () => {
  const decision = inApp.decide(stepInput(template, { payload: { id: 'x'.repeat(5_000) } }))
  assert.ok(decision.kind === 'fail' && !decision.stops)
  const [only] = decision.details
  assert.deepEqual([decision.details.length, only?.code, only?.at], [1, 'contentFailed', at])
  assert.deepEqual(JSON.parse(only?.raw ?? ''), {
    field: 'template.cta.data.url',
    message: 'the address is 5008 characters long; at most 4000 are allowed',
  })
})

test('another error than that of content is not hidden', () => {
  const broken = { ...stepInput(template), renderer: { ...stepInput(template).renderer, inApp: unexpected } }
  assert.throws(() => inApp.decide(broken), /a bug/)
})

function unexpected(): never {
  throw new Error('a bug')
}

test('a step needs a text', () => {
  assert.deepEqual(inApp.mistakes(stepWith(template)), [])
  for (const content of [undefined, '', '  ', [{ type: 'text' as const, content: 'x' }]]) {
    const wrong = { ...template, ...(content === undefined ? { content: '' } : { content }) }
    assert.deepEqual(
      inApp.mistakes(stepWith(wrong)).map(({ path }) => path),
      ['template.content'],
    )
  }
})
