// ClickSend repeats what it was sent: only as much goes in one request as comes back in an answer that is read whole.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clicksend } from '../../src/providers/sms/clicksend.ts'
import { answerBytesMax } from '../../src/world/outbound/outbound-call.ts'
import { smsMessage } from '../support/provider-scene.ts'

const keyOf = (more: object) => clicksend.batching?.key({ ...smsMessage, ...more }, {})

test('the longest texts that share a request come back within an answer', () => {
  const content = '好'.repeat(306)
  assert.equal(keyOf({ content }), '')
  const echoed = content.replaceAll('好', '\\u597d').length
  assert.ok((clicksend.batching?.max ?? 0) * (echoed + 600) < answerBytesMax)
})

test('a longer text, or one with a passthrough, goes alone', () => {
  assert.equal(keyOf({ content: 'x'.repeat(307) }), undefined)
  assert.equal(keyOf({ passthrough: { body: { a: 1 } } }), undefined)
})
