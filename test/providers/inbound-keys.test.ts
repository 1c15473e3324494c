// Calls from outside to integrations without a key: whatever they carry, none of them is believed.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { emailWebhook } from '../../src/providers/email/email-webhook.ts'
import { isBelieved } from '../../src/providers/inbound/inbound.ts'
import type { InboundCall } from '../../src/providers/inbound/receipt.ts'
import { providers } from '../../src/providers/registry.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { inboundCallOf } from '../support/provider-contract.ts'

const world = createFakeWorld()
const seconds = String(Math.floor(world.now().getTime() / 1000))
const body = '{"signature":{"timestamp":"1","token":"t","signature":""},"id":"1","status":"bounced"}'
const signedWithNothing = (algorithm: string, text: string): string =>
  createHmac(algorithm, '').update(text).digest('hex')

const calls: readonly InboundCall[] = [
  inboundCallOf({ body }),
  inboundCallOf({ body, query: '?token=&key=' }),
  inboundCallOf({ body, headers: { authorization: 'Bearer ' } }),
  inboundCallOf({ body, headers: { authorization: `Basic ${Buffer.from(':').toString('base64')}` } }),
  inboundCallOf({
    body,
    headers: {
      'x-posthorn-signature': `t=${seconds},v1=${signedWithNothing('sha256', `${seconds}.${body}`)}`,
      signature: signedWithNothing('sha256', body),
      'mailtrap-signature': signedWithNothing('sha256', body),
      'x-hub-signature-256': `sha256=${signedWithNothing('sha256', body)}`,
      'x-termii-signature': signedWithNothing('sha512', body),
      'webhook-signature': signedWithNothing('sha256', body),
      'x-twilio-signature': '',
      'x-mandrill-signature': '',
    },
  }),
]

for (const account of [{}, { secretKey: '', token: '', apiKey: '' }]) {
  for (const key of [undefined, '']) {
    test(`nothing is believed with the key ${key} and the account ${JSON.stringify(account)}`, async () => {
      for (const { id, receipts, replies } of providers) {
        for (const reader of [receipts, replies]) {
          if (reader === undefined) continue
          for (const [index, call] of calls.entries()) {
            assert.equal(await isBelieved(reader, call, { key, account, world }), false, `${id}, call ${index}`)
          }
        }
      }
    })
  }
}

test('the same call is believed with the key it was signed with', async () => {
  const signature = createHmac('sha256', 'a-key').update(`${seconds}.${body}`).digest('hex')
  const call = inboundCallOf({ body, headers: { 'x-posthorn-signature': `t=${seconds},v1=${signature}` } })
  assert.ok(emailWebhook.receipts)
  assert.equal(await isBelieved(emailWebhook.receipts, call, { key: 'a-key', account: {}, world }), true)
})
