// The built-in SMS: kept, and never sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { platformSms } from '../../src/providers/sms/platform-sms.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { kindOf, sendWith, smsMessage } from '../support/provider-scene.ts'

test('a message is kept under its own id, and no call leaves', async () => {
  // This world throws at any call.
  const world = createFakeWorld()
  const outcome = await sendWith({ world }, platformSms, { ...smsMessage, to: 'not a number' }, {})
  assert.deepEqual(outcome, { kind: 'sent', providerMessageId: smsMessage.id, captured: true })
})

test('a message to no one, or that says nothing, is refused as it would be in earnest', async () => {
  const world = createFakeWorld()
  const kind = async (change: object) =>
    kindOf(await sendWith({ world }, platformSms, { ...smsMessage, ...change }, {}))
  assert.equal(await kind({ to: '' }), 'refused: bad-recipient')
  assert.equal(await kind({ content: '' }), 'refused: bad-content')
})
