// Clickatell: messages that are sent together.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clickatell } from '../../src/providers/sms/clickatell.ts'
import type { OutboundRequest } from '../../src/world/world.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { smsMessage } from '../support/provider-scene.ts'

const messages = [smsMessage, { ...smsMessage, to: '+14155550102', content: 'Another' }]

const account = { apiKey: 'key' }

async function sendMany(given = messages) {
  const world = createFakeWorld()
  const bodies: { to?: string[]; messages?: { to: string }[] }[] = []
  world.fetch = async (request) => {
    const body = JSON.parse(String((request as OutboundRequest).body))
    bodies.push(body)
    const to: string[] = body.messages?.map((one: { to: string }) => one.to) ?? body.to
    const answers = to.map((one) => ({ apiMessageId: `id-${one}`, accepted: true, to: one, error: null }))
    return { status: 202, headers: new Headers(), body: JSON.stringify({ messages: answers }) }
  }
  const outcomes = await clickatell.sendMany?.(world, given, account)
  return { ids: outcomes?.map((one) => one.kind === 'sent' && one.providerMessageId), bodies }
}

test('the One API takes them in one request', async () => {
  const { ids, bodies } = await sendMany()
  assert.deepEqual(ids, ['id-14155550101', 'id-14155550102'])
  assert.equal(bodies.length, 1)
})

test('a message without a recipient is left out, and reported in its place', async () => {
  const { ids, bodies } = await sendMany([{ ...smsMessage, to: 'nobody' }, smsMessage])
  assert.deepEqual(ids, [false, 'id-14155550101'])
  assert.equal(bodies[0]?.messages?.length, 1)
})

test('a message with settings of its own goes alone', () => {
  assert.equal(clickatell.batching?.key(smsMessage, account), '')
  assert.equal(clickatell.batching?.key({ ...smsMessage, customData: { x: 1 } }, account), undefined)
  assert.equal(clickatell.batching?.key({ ...smsMessage, passthrough: { body: {} } }, account), undefined)
})

test('by the older API, which knows one text a request, each goes alone', () => {
  const older = { ...account, baseUrl: 'https://platform.clickatell.com/messages' }
  assert.equal(clickatell.batching?.key(smsMessage, older), undefined)
})
