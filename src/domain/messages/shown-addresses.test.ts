// What is struck for callers who may not see by what people are reached.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jobWithoutAddresses, messageWithoutAddresses, outboundWithoutAddresses } from './shown-addresses.ts'

const link = 'https://posthorn.example.com/v1/unsubscribe/AbCdEfGhIjKlMnOp'
const struckLink = 'https://posthorn.example.com/v1/unsubscribe/[redacted]'
const payload = { id: 7, webhookUrl: 'https://hooks.example.com/secret' }
const struckPayload = { id: 7, webhookUrl: '[redacted]' }

test('of a message: links in its title as elsewhere, and the address in its payload', () => {
  const message = { title: `Stop: ${link}`, subject: link, payload, overrides: {}, cta: {} }
  const shown = messageWithoutAddresses(message as never) as typeof message
  assert.deepEqual(shown, {
    title: `Stop: ${struckLink}`,
    subject: struckLink,
    payload: struckPayload,
    overrides: {},
    cta: {},
  })
})

test('of a job: the address in its payload, and in those of its digest', () => {
  const job = { payload, overrides: { webhookUrl: 'x' }, digest: { type: 'regular', events: [payload, { id: 8 }] } }
  assert.deepEqual(jobWithoutAddresses(job), {
    payload: struckPayload,
    overrides: { webhookUrl: '[redacted]' },
    digest: { type: 'regular', events: [struckPayload, { id: 8 }] },
  })
})

test('of what a provider would be given: where it goes, links, and the address in the payload', () => {
  assert.deepEqual(outboundWithoutAddresses({ target: 'device', title: link, payload }), {
    target: '[redacted]',
    title: struckLink,
    payload: struckPayload,
  })
})
