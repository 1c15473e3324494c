// A custom step's call on the wire: what is sent, and what each answer means.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { createFakeWorld } from '../../test/support/fake-world.ts'
import type { CallOut } from '../domain/delivery/decision.ts'
import { OutboundError } from '../world/outbound/outbound-error.ts'
import type { OutboundAnswer, OutboundOptions } from '../world/world.ts'
import { callService } from './call-service.ts'

const call: CallOut = {
  kind: 'callOut',
  url: 'https://api.example.com/hooks?token=hush',
  method: 'PUT',
  headers: { Authorization: 'Bearer hush-hush' },
  body: '{"payload":{}}',
  timeoutMs: 1_500,
  continueOnFailure: false,
  details: [],
}
const keys = [{ version: 1, text: 'signing-secret' }]

async function outcome(answer: Partial<OutboundAnswer> | OutboundError, more: Partial<CallOut> = {}) {
  const world = createFakeWorld()
  const asked: { request: Request; options: OutboundOptions; body: string }[] = []
  world.onFetch = async (request, options) => {
    asked.push({ request, options, body: await request.text() })
    if (answer instanceof OutboundError) throw answer
    return { status: 200, headers: new Headers(), body: '', ...answer }
  }
  const result = await callService(world, { call: { ...call, ...more }, idempotencyKey: 'job-1', keys })
  return { result, asked: asked[0] ?? assert.fail('no one was called'), world }
}

test('a call is signed, carries its key, and reaches no private address', async () => {
  const { asked, world } = await outcome({ body: '{"ok":true}' })
  const { request, options, body } = asked
  assert.deepEqual([request.method, request.url, body], ['PUT', call.url, call.body])
  assert.equal(request.headers.get('idempotency-key'), 'job-1')
  assert.equal(request.headers.get('content-type'), 'application/json')
  assert.equal(request.headers.get('authorization'), 'Bearer hush-hush')
  const seconds = Math.floor(world.now().getTime() / 1000)
  const hex = createHmac('sha256', 'signing-secret').update(`${seconds}.${body}`).digest('hex')
  assert.equal(request.headers.get('x-posthorn-signature'), `t=${seconds},v1=${hex}`)
  assert.deepEqual(options, { reach: 'guarded', timeoutMs: 1_500 })
})

test('an object that is answered is the result, and anything else an empty one', async () => {
  assert.deepEqual((await outcome({ status: 201, body: '{"id":7}' })).result, {
    kind: 'answered',
    facts: { status: 201, answer: '{"id":7}' },
    result: { id: 7 },
  })
  assert.deepEqual((await outcome({ status: 204 })).result, { kind: 'answered', facts: { status: 204 }, result: {} })
  for (const body of ['OK', '[1]', `{"a":"${'x'.repeat(70_000)}"}`]) {
    const { result } = await outcome({ body })
    assert.ok(result.kind === 'answered')
    assert.deepEqual(result.result, {})
    assert.match(result.facts.message ?? '', /empty result/)
  }
})

test('a service that is busy or not there is called again, one that refuses is not', async () => {
  for (const status of [408, 425, 429, 500, 502, 503, 504])
    assert.equal((await outcome({ status })).result.kind, 'busy', String(status))
  for (const status of [301, 307, 400, 401, 403, 404, 409, 410, 422])
    assert.equal((await outcome({ status })).result.kind, 'failed', String(status))
  const slow = await outcome({ status: 503, headers: new Headers({ 'retry-after': '30' }) })
  assert.ok(slow.result.kind === 'busy')
  assert.equal(slow.result.retryAfterMs, 30_000)
  for (const [kind, expected] of [
    ['not-sent', 'busy'],
    ['unsure', 'busy'],
    ['refused-address', 'failed'],
  ] as const) {
    const { result } = await outcome(new OutboundError(kind, 'No answer'))
    assert.deepEqual([result.kind, result.facts], [expected, { message: 'No answer' }])
  }
})

test('a fault of ours is no answer of the service', async () => {
  const world = createFakeWorld()
  world.onFetch = () => assert.fail('broken')
  await assert.rejects(callService(world, { call, idempotencyKey: 'job-1', keys }), /broken/)
})

test('the reported response contains no secret that was sent, and is bounded', async () => {
  const { result } = await outcome({
    status: 400,
    body: `You said Bearer hush-hush, hush-hush \u0000${'x'.repeat(9_000)}`,
  })
  assert.match(result.facts.answer ?? '', /^You said …, … xxx/)
  assert.ok((result.facts.answer ?? '').length <= 4_000)
})

test('a service that echoes its address reports nothing of the query', async () => {
  const url = 'https://api.example.com/hooks/a?token=hush%2Fhush&key=whisper&n=1'
  const { pathname, search } = new URL(url)
  for (const echo of [
    url,
    `${pathname}${search}`,
    search,
    search.slice(1),
    'hush%2Fhush',
    'hush/hush',
    JSON.stringify({ token: 'hush/hush', key: 'whisper' }),
    JSON.stringify({ url }).replaceAll('/', '\\/'),
    JSON.stringify({ token: 'hush/hush' }).replaceAll('/', '\\/'),
  ]) {
    const { result } = await outcome({ status: 400, body: `No: ${echo}.` }, { url })
    assert.match(result.facts.answer ?? '', /^No: .*….*\.$/, echo)
    assert.doesNotMatch(result.facts.answer ?? '', /hush|whisper|n=1/, echo)
  }
})

test('of two secrets of which one lies in the other nothing is left', async () => {
  const headers = { 'X-Short': 'secret', 'X-Long': 'secret-and-more' }
  const { result } = await outcome({ status: 400, body: 'secret-and-more, secret' }, { headers })
  assert.equal(result.facts.answer, '…, …')
})

test('an address without a query is reported as it is', async () => {
  const { result } = await outcome({ status: 404, body: 'No /hooks here' }, { url: 'https://api.example.com/hooks' })
  assert.equal(result.facts.answer, 'No /hooks here')
})
