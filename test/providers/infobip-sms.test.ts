// Infobip: many messages in one request, of which some have a fault.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { infobipSms } from '../../src/providers/sms/infobip-sms.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { kindOf, smsMessage } from '../support/provider-scene.ts'

const messages = [1, 2, 3].map((place) => ({ ...smsMessage, id: `0197f3a0-0000-7000-8000-00000000000${place}` }))

async function kindsAfter(status: number, properties: readonly string[]) {
  const world = createFakeWorld()
  const violations = properties.map((property) => ({ property, violation: 'is wrong' }))
  const body = JSON.stringify({ errorCode: `E${status}`, description: 'words', violations })
  world.fetch = async () => ({ status, headers: new Headers(), body })
  const account = { apiKey: 'key', baseUrl: 'abc12.api.infobip.com', from: 'Acme' }
  return (await infobipSms.sendMany?.(world, messages, account))?.map(kindOf)
}

test('the others of a request that was refused for one of them are sent later', async () => {
  assert.deepEqual(await kindsAfter(400, ['messages[1].destinations[0].to']), [
    'busy',
    'refused: bad-recipient',
    'busy',
  ])
  assert.deepEqual(await kindsAfter(400, ['messages[0].sender', 'messages[2].content.text']), [
    'misconfigured',
    'busy',
    'refused: bad-content',
  ])
})

test('an error that belongs to no message applies to all', async () => {
  assert.deepEqual(await kindsAfter(400, ['options']), ['refused: other', 'refused: other', 'refused: other'])
  assert.deepEqual(await kindsAfter(401, ['messages[1]']), ['misconfigured', 'misconfigured', 'misconfigured'])
})
