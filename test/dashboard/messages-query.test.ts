// The list of messages in the dashboard: it says that it goes thirty days back exactly where the service looks no further.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessagesSearch } from '../../dashboard/src/pages/activity/messages-query.ts'
import {
  isOfLastDays,
  messagesQuery,
  resultOf,
  without,
  withResult,
} from '../../dashboard/src/pages/activity/messages-query.ts'
import { isWalk } from '../../src/read/messages/message-pages.ts'

const choices: { readonly [Name in keyof MessagesSearch]-?: readonly MessagesSearch[Name][] } = {
  status: [undefined, 'sent', 'warning'],
  channel: [undefined],
  provider: [undefined, 'sendgrid'],
  reason: [undefined, 'mail_unexpected_error'],
  subscriber: [undefined, 'ada'],
  transactionId: [undefined],
  captured: [undefined, 'only', 'without'],
  removed: [undefined, 'with', 'only'],
  after: [undefined],
  before: [undefined],
}

test('whatever a list is filtered by, the dashboard and the service agree on how far back it goes', () => {
  let searches: Record<string, unknown>[] = [{}]
  for (const [name, values] of Object.entries(choices))
    searches = searches.flatMap((one) => values.map((value) => (value === undefined ? one : { ...one, [name]: value })))
  const walks = searches.map((search) => {
    const { status, ...asked } = messagesQuery(search)
    const filter = { ...asked, ...(status === undefined ? {} : { statuses: status }) } as Parameters<typeof isWalk>[0]
    assert.equal(isOfLastDays(search), isWalk(filter), JSON.stringify(search))
    return isWalk(filter)
  })
  assert.ok(walks.includes(true) && walks.includes(false))
  assert.equal(isOfLastDays({ provider: 'sendgrid', after: '2026-01-02' }), false)
})

test('what was perhaps sent is asked for of the providers that are chosen', () => {
  const shown = (search: Record<string, string | undefined>) =>
    Object.fromEntries(Object.entries(search).filter(([, value]) => value))
  const chosen = withResult({ provider: 'sendgrid', channel: 'email' }, 'warning//any')
  assert.deepEqual(shown(chosen), { provider: 'sendgrid', channel: 'email', status: 'warning' })
  assert.equal(resultOf(chosen as MessagesSearch), 'warning//any')
  // Where no provider was asked, nothing was perhaps sent.
  for (const provider of ['', 'none', 'any'])
    assert.deepEqual(shown(withResult({ provider }, 'warning//any')), { provider: 'any', status: 'warning' })
  assert.equal(resultOf({ status: 'warning', provider: 'none' }), 'warning')
  assert.equal(resultOf({ status: 'warning', provider: 'sendgrid,none' }), 'warning')
  assert.equal(resultOf({ status: 'warning' }), 'warning')
})

test('without its provider a list of what was perhaps sent is of all providers', () => {
  const at = { status: 'warning', provider: 'sendgrid', reason: 'unexpected_sms_error' } as const
  assert.equal(without(at, 'provider')['provider'], 'any')
  assert.equal(without({ ...at, provider: 'any' }, 'provider')['provider'], '')
  assert.equal(without({ ...at, status: 'sent' } as MessagesSearch, 'provider')['provider'], '')
  assert.deepEqual(without(at, 'reason'), { ...at, reason: '' })
  assert.equal(withResult({ ...at, provider: 'any' }, 'sent')['provider'], '')
})
