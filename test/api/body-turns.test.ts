// Bodies as large as a route takes: none of them keeps the others waiting, whatever it holds.
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request } from 'node:http'
import type { TestContext } from 'node:test'
import { after, before, test } from 'node:test'
import type { BodyBudget } from '../../src/http/request/body-budget.ts'
import { createBodyBudget } from '../../src/http/request/body-budget.ts'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene } from '../support/flow-scene.ts'
import { listen } from '../support/raw-socket.ts'
import type { SentReply } from '../support/sender.ts'
import { sendBody } from '../support/sender.ts'
import { watchWork } from '../support/turn-cpu.ts'

const mebibyte = 1024 * 1024
/** Each is several times what one turn may take, when it is worked on at once. */
const largeBytes = 5_000_000

let app: TestApp
let url: string
let budget: BodyBudget
let worstHeldBytes = 0
before(async () => {
  // The fake world's sleep is over at once: here bodies wait as they do in the service.
  const waits = createBodyBudget({ sleep: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)) })
  budget = {
    ...waits,
    takeBytes: async (owner, bytes) => {
      const giveBack = await waits.takeBytes(owner, bytes)
      worstHeldBytes = Math.max(worstHeldBytes, waits.heldBytes())
      return giveBack
    },
  }
  app = await createTestApp({ bodyBudget: budget })
  url = `http://127.0.0.1:${await listen(app)}`
  const scene = new FlowScene(app)
  const name = 'large'
  const step = { template: { type: 'in_app', content: 'Hello' } }
  await scene.expect(201, 'POST', '/v1/workflows', { name, workflowId: name, active: true, steps: [step] })
  // What is compiled when it is first needed is compiled now.
  await scene.results([{ name, to: 'somebody', payload: { attachments: [{ file: 'YQ==' }] } }, 1])
})
after(() => app.close())

const bulk = '/v1/events/trigger/bulk'
const single = '/v1/events/trigger'

const sent = (path: string, makes: string, more: object = {}): Promise<SentReply> =>
  sendBody({ url: `${url}${path}`, key: app.developmentKey, makes, ...more })

const smallEvent = `JSON.stringify({ name: 'large', to: 'a' })`

/** A hundred events of rows as reports have them: 5 MB in all. */
const legal = `(() => {
  const row = (index) => ({ id: index, name: 'Row ' + index, price: index / 7, isOpen: index % 2 === 0, tags: ['a', 'b' + index] })
  const rows = Array.from({ length: 650 }, (_, index) => row(index))
  const events = Array.from({ length: 100 }, (_, index) => ({ name: 'large', to: 'person-' + index, payload: { rows } }))
  return JSON.stringify({ events })
})()`

for (const kind of ['plain', 'keyed']) {
  test(`a legal bulk of 5 MB, ${kind}, is accepted in turns`, async () => {
    let keys = 0
    const { result: reply, share } = await watchWork(() => {
      keys += 1
      return sent(bulk, legal, kind === 'plain' ? {} : { headers: { 'idempotency-key': `large-${keys}` } })
    })
    assert.ok(reply.bytes > largeBytes, `${reply.bytes}`)
    assert.equal(reply.status, 201)
    assert.equal(reply.body.length, 100)
    assert.deepEqual(new Set(reply.body.map((one: Json) => one.status)), new Set(['processed']))
    assert.ok(share < 1, `the longest turn took ${share} of what it may`)
  })
}

const hostile: Readonly<Record<string, readonly [path: string, makes: string, status: number, keyed?: 'keyed']>> = {
  'lists of nothing': [single, "'[' + '[],'.repeat(3e6 - 1) + '[]]'", 400],
  'names of their own': [
    bulk,
    "'{\"events\":[{' + Array.from({ length: 0.6e6 }, (_, i) => '\"n' + i + '\":1').join() + '}]}'",
    201,
  ],
  'numbers in one event': [bulk, "'{\"events\":[{\"name\":[' + '1,'.repeat(4e6) + '1]}]}'", 201],
  'more numbers in one event': [bulk, "'{\"events\":[{\"name\":[' + '1,'.repeat(8.1e6) + '1]}]}'", 400],
  'texts that are escaped': [bulk, "'{\"events\":[\"' + '\\\\\"'.repeat(4e6) + '\"]}'", 201],
  'one text': [single, '\'{"name":"x","to":"\' + \'x\'.repeat(8e6) + \'"}\'', 422],
  blanks: [bulk, "'{\"events\":[' + ' '.repeat(8e6) + '1]}'", 400],
  'events as many as fit': [bulk, "'{\"events\":[' + '1,'.repeat(4e6) + '1]}'", 422],
  'events that are legal by a hair': [
    bulk,
    '\'{"events":[\' + Array.from({ length: 25 }, () => \'{"name":"large","to":"a","payload":{"a":[\' + \'{},\'.repeat(170e3) + \'1]}}\').join() + \']}\'',
    400,
  ],
  'numbers that are hashed': [
    bulk,
    "'{\"events\":[{\"name\":[' + '0.12345678901234567,'.repeat(4e5) + '1]}]}'",
    201,
    'keyed',
  ],
  'what lies deep and is hashed': [
    bulk,
    "'{\"events\":[' + '['.repeat(50) + '{\"a\":[' + '12345,'.repeat(1.3e6) + '1]}' + ']'.repeat(50) + ']}'",
    201,
    'keyed',
  ],
  'a file in base64': [
    single,
    "JSON.stringify({ name: 'large', to: 'a', payload: { attachments: [{ file: Buffer.alloc(9e6, 7).toString('base64') }] } })",
    201,
  ],
  'a file as a Buffer': [
    single,
    "JSON.stringify({ name: 'large', to: 'a', payload: { attachments: [{ file: Buffer.alloc(3e6, 77) }] } })",
    201,
  ],
}

for (const [name, [path, makes, status, keyed]] of Object.entries(hostile)) {
  test(`${name}: answered in turns`, async () => {
    let keys = 0
    const { result: reply, share } = await watchWork(() => {
      keys += 1
      return sent(path, makes, keyed === undefined ? {} : { headers: { 'idempotency-key': `${name} ${keys}` } })
    })
    assert.equal(reply.status, status, JSON.stringify(reply.body).slice(0, 300))
    assert.ok(reply.bytes > largeBytes, `${reply.bytes}`)
    assert.ok(share < 1, `the longest turn took ${share} of what it may`)
  })
}

/** Large, and soon judged. */
const idle = '\'{"name":"x","to":"\' + \'x\'.repeat(26e6) + \'"}\''

/** The same, of which the end is sent when it is asked for. */
function begin(t: TestContext): { end(): void; reply: Promise<{ status: number; headers: IncomingHttpHeaders }> } {
  const bytes = Buffer.from(`{"name":"x","to":"${'x'.repeat(26e6)}"}`)
  const headers = { authorization: `ApiKey ${app.developmentKey}`, 'content-type': 'application/json' }
  const call = request(`${url}${single}`, { method: 'POST', headers: { ...headers, 'content-length': bytes.length } })
  call.write(bytes.subarray(0, -1))
  t.after(() => call.destroy())
  const reply = new Promise<IncomingMessage>((resolve, reject) => call.on('response', resolve).on('error', reject))
  return {
    end: () => void call.end(bytes.subarray(-1)),
    reply: reply.then((answer) => ({ status: answer.resume().statusCode ?? 0, headers: answer.headers })),
  }
}

test('five at once stay within what bodies may hold, and a small one does not wait for them', async (t) => {
  worstHeldBytes = 0
  const begun = [begin(t), begin(t)]
  while (budget.heldBytes() < 40 * mebibyte) await new Promise((resolve) => void setTimeout(resolve, 5))
  const large = Array.from({ length: 3 }, () => sent(single, idle))
  assert.equal((await sent(single, smallEvent)).status, 201)
  for (const { end } of begun) end()
  for (const { status, headers } of await Promise.all([...begun.map(({ reply }) => reply), ...large])) {
    assert.ok(status === 422 || (status === 503 && headers['retry-after'] === '5'), `${status}`)
  }
  assert.ok(worstHeldBytes > 40 * mebibyte && worstHeldBytes <= 52 * mebibyte, `${worstHeldBytes}`)
  assert.equal(budget.heldBytes(), 0)
})

test('what is wrong with some events of a large body costs no other, and is reported in their order', async () => {
  const makes = `(() => {
    const text = 'x'.repeat(100_000)
    const event = (name, more) => ({ name, to: 'a', payload: { text }, ...more })
    const wrong = [event('unknown'), 1, { to: 'a' }, event('large', { payload: { text: text.repeat(6) } })]
    const events = Array.from({ length: 20 }, (_, index) => wrong[index % 5] ?? event('large', { transactionId: 't' + index }))
    return JSON.stringify({ events }).replace('{"to":"a"}', '{"to":"a","__proto__":1}')
  })()`
  const { status, body, bytes } = await sendBody({ url: `${url}${bulk}`, key: app.developmentKey, makes })
  assert.equal(status, 201)
  assert.ok(bytes > mebibyte)
  const reported = body.map((one: Json) => one.error?.[0] ?? one.transactionId)
  assert.deepEqual(reported.slice(0, 10), [
    'workflow_not_found',
    'The event must be an object',
    '__proto__ would change a prototype and is not allowed',
    'The event is 600047 bytes; at most 524288 are allowed',
    't4',
    'workflow_not_found',
    'The event must be an object',
    'name is required',
    'The event is 600047 bytes; at most 524288 are allowed',
    't9',
  ])
})
