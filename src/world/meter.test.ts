// The meter: what is counted is read back, label by label.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMeter, deliveryBoundsMs } from './meter.ts'

test('counts of the same labels add up, and others stay apart', () => {
  const meter = createMeter()
  meter.countMessage('email', 'sendgrid', 'sent')
  meter.countMessage('email', 'sendgrid', 'sent')
  meter.countMessage('email', 'sendgrid', 'failed')
  meter.countEvents('processed', 3)
  meter.countEvents('error', 1)
  meter.countNotifications(1, 500)
  meter.countReceipt('postmark', 'bounced')
  const { messages, events, notifications, receipts } = meter.read()
  assert.deepEqual(messages, [
    { labels: ['email', 'sendgrid', 'sent'], value: 2 },
    { labels: ['email', 'sendgrid', 'failed'], value: 1 },
  ])
  assert.deepEqual(events, [
    { labels: ['processed'], value: 3 },
    { labels: ['error'], value: 1 },
  ])
  assert.deepEqual(notifications, [{ labels: ['fan_out'], value: 500 }])
  assert.deepEqual(receipts, [{ labels: ['postmark', 'bounced'], value: 1 }])
})

test('what should never happen stands at nothing before it does', () => {
  const { buried, leaseExpiries, messages } = createMeter().read()
  assert.deepEqual(buried, [{ labels: [], value: 0 }])
  assert.deepEqual(leaseExpiries, [
    { labels: ['jobs'], value: 0 },
    { labels: ['tasks'], value: 0 },
  ])
  assert.deepEqual(messages, [])
})

test('two meters know nothing of each other', () => {
  const [one, another] = [createMeter(), createMeter()]
  one.countBuried(2)
  assert.deepEqual(another.read().buried, [{ labels: [], value: 0 }])
  assert.deepEqual(one.read().buried, [{ labels: [], value: 2 }])
})

test('a time is counted at every bound that it does not pass, its own included', () => {
  const meter = createMeter()
  for (const ms of [10, 11, 3_600_000, 3_600_001, -5]) meter.noteDelivery('sms', ms)
  const [sms] = meter.read().deliveries
  assert.deepEqual(sms?.labels, ['sms'])
  assert.equal(sms?.count, 5)
  assert.equal(sms?.sumMs, 10 + 11 + 3_600_000 + 3_600_001)
  const at = (bound: (typeof deliveryBoundsMs)[number]) => sms?.upTo[deliveryBoundsMs.indexOf(bound)]
  assert.deepEqual([at(10), at(25), at(900_000), at(3_600_000)], [2, 3, 3, 4])
})

test('labels that never end are counted together: no reading grows without a bound', () => {
  const meter = createMeter()
  for (let number = 0; number < 3_000; number += 1) meter.countReceipt(`provider-${number}`, 'sent')
  const { receipts } = meter.read()
  assert.equal(receipts.length, 2_001)
  assert.deepEqual(receipts.at(-1), { labels: ['other', 'other'], value: 1_000 })
  assert.equal(
    receipts.reduce((sum, { value }) => sum + value, 0),
    3_000,
  )
})
