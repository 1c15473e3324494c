// What receipts do to a message: every status from every standing, in any order, once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repeatedIdOf } from '../../domain/derived-id.ts'
import type { Receipt, ReceiptStatus } from '../../providers/inbound/receipt.ts'
import { receiptStatuses } from '../../providers/inbound/receipt.ts'
import type { ReportedMessage } from '../../store/messages/receipts.ts'
import { isFor, receiptEffect } from './receipt-effects.ts'

const createdAt = new Date('2024-02-29T10:00:00.000Z')
const now = new Date('2024-02-29T11:00:00.000Z')
const integration = { _id: 'first', providerId: 'vendor' }

const message = (more: Partial<ReportedMessage> = {}): ReportedMessage => ({
  id: 'm',
  jobId: 'j',
  subscriberId: 's',
  channel: 'email',
  state: 'done',
  status: 'sent',
  providerMessageId: 'p',
  email: 'ada@example.org',
  phone: null,
  target: null,
  addresses: null,
  receipts: {},
  createdAt,
  isOver: true,
  redrives: 0,
  isOthers: false,
  ...more,
})

const receipt = (status: ReceiptStatus, more: Partial<Receipt> = {}): Receipt => ({ status, row: {}, ...more })

type MessageState = 'sent' | 'warning' | 'error'

/** How the message stands after reports that came in calls of their own. */
function standingAfter(start: MessageState, statuses: readonly ReceiptStatus[]): string {
  let current = message({ status: start })
  for (const status of statuses) {
    const { change } = receiptEffect(current, [receipt(status)], integration, now)
    const receipts = { ...current.receipts, ...change?.receipts }
    current = { ...current, receipts, status: change?.status ?? current.status }
  }
  return current.status ?? ''
}

/** The same where they came in one call. */
function standingAtOnce(start: MessageState, statuses: readonly ReceiptStatus[]): string {
  const all = statuses.map((status) => receipt(status))
  return receiptEffect(message({ status: start }), all, integration, now).change?.status ?? start
}

test('each status from each standing', () => {
  const table = (['sent', 'warning', 'error'] as const).map((start) =>
    receiptStatuses.map((status) => `${status}: ${standingAfter(start, [status])}`),
  )
  const kept = (start: MessageState, ...moved: string[]): string[] =>
    receiptStatuses.map((status) => moved.find((one) => one.startsWith(`${status}:`)) ?? `${status}: ${start}`)
  const failed = ['failed: error', 'rejected: error', 'bounced: error']
  const arrived = ['delivered: sent', 'opened: sent', 'clicked: sent']
  assert.deepEqual(table, [
    kept('sent', ...failed),
    kept('warning', ...failed, ...arrived, 'sent: sent'),
    kept('error', ...arrived),
  ])
})

test('two reports come to the same in either order, in one call or in two', () => {
  for (const start of ['sent', 'warning', 'error'] as const) {
    for (const one of receiptStatuses) {
      for (const other of receiptStatuses) {
        const forward = standingAfter(start, [one, other])
        assert.equal(standingAfter(start, [other, one]), forward, `${start}: ${one}, ${other}`)
        assert.equal(standingAtOnce(start, [one, other]), forward, `${start}: ${one} and ${other} at once`)
      }
    }
  }
})

test('only a bounce speaks against an arrival; the error of a failure goes with it', () => {
  assert.equal(standingAfter('sent', ['failed', 'delivered']), 'sent')
  assert.equal(standingAfter('sent', ['delivered', 'bounced', 'opened']), 'error')
  const { change } = receiptEffect(message(), [receipt('failed'), receipt('delivered')], integration, now)
  assert.deepEqual([change?.status, change?.error, change?.deliveredAt], ['sent', undefined, now])
})

test('what was reported before changes nothing, twice in one call neither', () => {
  const twice = receiptEffect(message(), [receipt('delivered'), receipt('delivered')], integration, now)
  assert.deepEqual([twice.details.length, twice.news.length], [1, 1])
  const known = message({ receipts: { bounced: now.toISOString() } })
  const again = receiptEffect(known, [receipt('bounced')], integration, now)
  assert.deepEqual([again.change, again.details, again.suppressions], [undefined, [], []])
})

test('a failure with the integration that had its turn before leaves what the next one sent; an arrival is one', () => {
  const others = message({ status: 'warning', isOthers: true })
  const failed = receiptEffect(others, [receipt('bounced')], integration, now)
  assert.deepEqual([failed.change?.status, failed.suppressions.length], [undefined, 1])
  assert.equal(receiptEffect(others, [receipt('delivered')], integration, now).change?.status, 'sent')
  // Whoever took over may still report the same.
  const own = message({ receipts: failed.change?.receipts ?? {} })
  assert.equal(receiptEffect(own, [receipt('bounced')], integration, now).change?.status, 'error')
})

test('a failure under the name that was refused before a redrive leaves what was sent since, under whatever name', () => {
  const id = '019b7c7a-2d0e-7a3b-8f10-5a0c5d3f9e21'
  const redriven = message({ id, redrives: 1 })
  const late = receiptEffect(redriven, [receipt('rejected', { messageId: id.toUpperCase() })], integration, now)
  assert.deepEqual([late.change?.status, late.details.length], [undefined, 1])
  const known = message({ id, redrives: 1, receipts: late.change?.receipts ?? {} })
  const messageId = repeatedIdOf(id, 1)
  assert.equal(receiptEffect(known, [receipt('rejected', { messageId })], integration, now).change?.status, 'error')
  assert.equal(receiptEffect(known, [receipt('rejected')], integration, now).change?.status, 'error')
})

test('many copies or replies never displace a report about the recipient; their own complaints still count', () => {
  const copies = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`delivered copy${n}@example.org`, '']))
  const answers = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`reply ${n}`, '']))
  const full = message({ receipts: { ...copies, ...answers } })
  assert.equal(receiptEffect(full, [receipt('bounced')], integration, now).change?.status, 'error')
  const copy = receiptEffect(full, [receipt('complained', { address: 'new@example.org' })], integration, now)
  assert.deepEqual([copy.change, copy.suppressions.map(({ address }) => address)], [undefined, ['new@example.org']])
  const answered = message({ receipts: answers })
  const effect = receiptEffect(answered, [receipt('delivered', { address: 'copy@example.org' })], integration, now)
  assert.equal(effect.news.length, 1)
})

test('a status that no one knows is left out', () => {
  const strange = receipt('strange' as ReceiptStatus)
  assert.equal(receiptEffect(message(), [strange], integration, now).change, undefined)
})

test('the vendor’s time counts where it can be true', () => {
  const at = (timestamp: Date): string | undefined =>
    receiptEffect(message(), [receipt('opened', { at: timestamp })], integration, now).details[0]?.at
  const between = new Date('2024-02-29T10:30:00.000Z')
  assert.equal(at(between), between.toISOString())
  assert.equal(at(new Date('2023-01-01T00:00:00.000Z')), now.toISOString())
  assert.equal(at(new Date('2025-01-01T00:00:00.000Z')), now.toISOString())
})

test('an SMS has one recipient, however the vendor writes the number; it is suppressed as the subscriber’s', () => {
  const sms = message({ channel: 'sms', email: null, phone: '0170 1234567' })
  const { change, suppressions } = receiptEffect(
    sms,
    [receipt('bounced', { address: '491701234567' })],
    integration,
    now,
  )
  assert.equal(change?.status, 'error')
  assert.ok(suppressions.every(({ channel }) => channel === 'sms'))
  assert.ok(isFor(sms, '+491701234567'))
  assert.equal(isFor(sms, '+491701234568'), false)
  assert.equal(isFor(sms, '67'), false)
  const international = message({ channel: 'sms', email: null, phone: '+491701234567' })
  assert.ok(isFor(international, '0170 1234567'), 'the vendor left the country out')
  assert.equal(isFor(international, '0170 1234568'), false)
})

test('push and chat have no address to suppress', () => {
  for (const channel of ['push', 'chat'] as const) {
    const { suppressions } = receiptEffect(message({ channel, email: null }), [receipt('bounced')], integration, now)
    assert.deepEqual(suppressions, [])
  }
})
