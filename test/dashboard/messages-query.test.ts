// The list of messages in the dashboard: it says that it goes thirty days back exactly where the service looks no further.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessagesSearch } from '../../dashboard/src/pages/activity/messages-query.ts'
import { isOfLastDays, messagesQuery } from '../../dashboard/src/pages/activity/messages-query.ts'
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
