// The custom step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimingScene } from '../../test/support/timing-step-scene.ts'
import { timingInput, timingStep } from '../../test/support/timing-step-scene.ts'
import { valueAt } from '../domain/path.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import { custom } from './custom.ts'

const now = '2024-05-10T10:00:00.000Z'
const plain = { type: 'http', url: 'https://api.example.com/hooks?token=hush' }
/** Paths in braces, and nothing else of a template. */
const value: TimingScene['value'] = (text, scope) => {
  if (text.includes('{%')) throw new RenderError('value', 'is broken')
  return text.replaceAll(/{{ ([\w.]+) }}/g, (_, path: string) => String(valueAt(scope, path) ?? ''))
}
const input = (scene: Partial<TimingScene>) => timingInput({ type: 'custom', metadata: plain, now, value, ...scene })
const decide = (scene: Partial<TimingScene>) => custom.decide(input(scene))

function call(scene: Partial<TimingScene>) {
  const decision = decide(scene)
  assert.ok(decision.kind === 'callOut', JSON.stringify(decision))
  return decision
}

function failure(scene: Partial<TimingScene>) {
  const decision = decide(scene)
  if (decision.kind !== 'fail') return undefined
  const [found] = decision.details
  return { code: found?.code, stops: decision.stops, raw: JSON.parse(found?.raw ?? '{}') }
}

test('a call reports whom it is for, of what and why, and is a POST of ten seconds', () => {
  const given = input({ payload: { orderId: 7 } })
  const decision = custom.decide(given)
  assert.ok(decision.kind === 'callOut')
  assert.deepEqual(JSON.parse(decision.body), {
    subscriber: {},
    payload: { orderId: 7 },
    workflow: { identifier: 'timing', name: 'Timing', tags: [], data: {} },
    step: { stepId: 'step', digest: false, total_count: 1 },
    transactionId: 'transaction',
    notificationId: given.job.notificationId,
  })
  assert.deepEqual(
    [decision.method, decision.url, decision.timeoutMs, decision.continueOnFailure, decision.headers],
    ['POST', plain.url, 10_000, false, {}],
  )
})

test('address, headers and the body’s own members are templates', () => {
  const { url, method, headers, body, timeoutMs } = call({
    payload: { orderId: 7, name: 'Ada' },
    metadata: {
      type: 'http',
      url: 'https://api.example.com/orders/{{ payload.orderId }}',
      method: 'PATCH',
      headers: { 'X-Order': 'order {{ payload.orderId }}' },
      body: { text: 'Hello {{ payload.name }}', list: ['{{ payload.name }}', 5, null], deep: { on: true } },
      timeoutMs: 1_500,
    },
  })
  assert.deepEqual([url, method, timeoutMs], ['https://api.example.com/orders/7', 'PATCH', 1_500])
  assert.deepEqual(headers, { 'X-Order': 'order 7' })
  const { text, list, deep } = JSON.parse(body)
  assert.deepEqual([text, list, deep], ['Hello Ada', ['Ada', 5, null], { on: true }])
})

test('what was asked is reported without header values and query', () => {
  const metadata = { ...plain, headers: { Authorization: 'Bearer hush' }, body: { n: 1 } }
  const [found] = call({ metadata }).details
  assert.equal(found?.code, 'callStarted')
  assert.deepEqual(JSON.parse(found?.raw ?? ''), {
    method: 'POST',
    url: 'https://api.example.com/hooks?…',
    headers: ['Authorization'],
    body: { n: 1 },
  })
  assert.equal('isRetry' in (found ?? {}), false)
  assert.equal(call({ job: { status: 'running' } }).details[0]?.isRetry, true)
})

test('a template that comes to nothing that can be called fails the step and names the field', () => {
  for (const [metadata, field] of [
    [{ ...plain, url: 'https://api.example.com/{% broken' }, 'metadata.url'],
    [{ ...plain, url: 'https://api.example.com/{{ payload.long }}' }, 'metadata.url'],
    [{ ...plain, headers: { 'X-Name': '{% broken' } }, 'metadata.headers.X-Name'],
    [{ ...plain, headers: { 'X-Name': '{{ payload.lines }}' } }, 'metadata.headers.X-Name'],
    [{ ...plain, headers: { 'X-Name': '{{ payload.snow }}' } }, 'metadata.headers.X-Name'],
    [{ ...plain, body: { deep: ['{% broken'] } }, 'metadata.body.deep.0'],
  ] as const) {
    const payload = { x: 'x', lines: 'a\r\nX-Evil: 1', snow: '☃', long: 'x'.repeat(4_000) }
    const found = failure({ metadata, payload })
    assert.deepEqual([found?.code, found?.stops, found?.raw.field], ['contentFailed', true, field])
  }
  assert.equal(
    failure({ metadata: { ...plain, url: 'https://api.example.com/{% broken', continueOnFailure: true } })?.stops,
    false,
  )
})

test('a body that is too large fails the step', () => {
  const found = failure({ payload: { text: 'x'.repeat(2 * 1024 * 1024) } })
  assert.match(found?.raw.message ?? '', /more than 2097152 bytes/)
})

test('settings that an older version let through fail the step, not the worker', () => {
  for (const metadata of [undefined, null, {}, { type: 'http' }, { ...plain, method: 'GET' }])
    assert.match(failure({ metadata })?.raw.error ?? '', /^metadata/, JSON.stringify(metadata))
})

test('what can never run is reported when it is saved', () => {
  const paths = (metadata: unknown) => custom.mistakes(timingStep('custom', metadata)).map(({ path }) => path)
  assert.deepEqual(paths(plain), [])
  assert.deepEqual(paths({ ...plain, url: 'https://api.example.com/{{ tenant.data.path }}', timeoutMs: 20_000 }), [])
  assert.deepEqual(paths({ ...plain, headers: { 'X-Any': '' }, body: {}, method: 'PUT', continueOnFailure: true }), [])
  const deep = JSON.parse(`${'{"a":'.repeat(12)}1${'}'.repeat(12)}`)
  for (const [metadata, path] of [
    [undefined, 'metadata'],
    [{ ...plain, type: 'mail' }, 'metadata.type'],
    [{ type: 'http' }, 'metadata.url'],
    [{ ...plain, url: ' ' }, 'metadata.url'],
    [{ ...plain, url: 'api.example.com/hooks' }, 'metadata.url'],
    [{ ...plain, url: 'file:///etc/passwd' }, 'metadata.url'],
    [{ ...plain, url: 'https://{{ tenant.data.host }}/hook' }, 'metadata.url'],
    [{ ...plain, url: 'https://user:pass@api.example.com' }, 'metadata.url'],
    [{ ...plain, url: 'http://169.254.169.254/latest' }, 'metadata.url'],
    [{ ...plain, url: `https://api.example.com/${'x'.repeat(4_000)}` }, 'metadata.url'],
    [{ ...plain, method: 'GET' }, 'metadata.method'],
    [{ ...plain, headers: [] }, 'metadata.headers'],
    [{ ...plain, headers: { 'X Y': 'z' } }, 'metadata.headers'],
    [{ ...plain, headers: { Host: 'evil.example.com' } }, 'metadata.headers.Host'],
    [{ ...plain, headers: { 'x-posthorn-signature': 'mine' } }, 'metadata.headers.x-posthorn-signature'],
    [{ ...plain, headers: { 'Webhook-Signature': 'mine' } }, 'metadata.headers.Webhook-Signature'],
    [{ ...plain, headers: { 'X-Any': 5 } }, 'metadata.headers.X-Any'],
    [
      { ...plain, headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, ''])) },
      'metadata.headers',
    ],
    [{ ...plain, body: 'text' }, 'metadata.body'],
    [{ ...plain, body: { payload: {} } }, 'metadata.body.payload'],
    [{ ...plain, body: deep }, 'metadata.body'],
    [{ ...plain, body: { list: Array(201).fill('') } }, 'metadata.body'],
    [{ ...plain, body: { text: 'x'.repeat(10_001) } }, 'metadata.body.text'],
    [{ ...plain, timeoutMs: 20_001 }, 'metadata.timeoutMs'],
    [{ ...plain, timeoutMs: '5s' }, 'metadata.timeoutMs'],
    [{ ...plain, continueOnFailure: 'yes' }, 'metadata.continueOnFailure'],
  ] as const)
    assert.deepEqual(paths(metadata), [path], JSON.stringify(metadata))
})
