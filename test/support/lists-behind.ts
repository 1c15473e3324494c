// The lists that numbers of the dashboard lead to, asked for as its pages ask for them.
import assert from 'node:assert/strict'
import type { FailuresSearch } from '../../dashboard/src/pages/activity/failures-query.ts'
import { failuresQuery } from '../../dashboard/src/pages/activity/failures-query.ts'
import type { MessagesSearch } from '../../dashboard/src/pages/activity/messages-query.ts'
import { messagesQuery } from '../../dashboard/src/pages/activity/messages-query.ts'
import type { To } from '../../dashboard/src/pages/overview/links.ts'
import type { Json } from './app.ts'

type Get = (path: string) => Promise<Json>

const byCursor: ReadonlySet<string> = new Set(['/v1/events', '/v1/buried'])

/** Asks as an address of the dashboard says, page by page; its rows, and the count beside its title. */
export async function listBehind(get: Get, { to, search }: To): Promise<{ rows: Json[]; total: number }> {
  const queries: Readonly<Record<string, readonly [path: string, query: object]>> = {
    '/activity/messages': ['/v1/messages', messagesQuery(search as MessagesSearch)],
    '/activity/failures': ['/v1/failures', failuresQuery(search as FailuresSearch)],
    '/activity/events': ['/v1/events', search],
    '/activity/queue': search['state'] === 'buried' ? ['/v1/buried', {}] : ['/v1/queue', search],
    '/settings/suppressions': ['/v1/suppressions', search],
  }
  const [path, query] = queries[to] ?? assert.fail(to)
  const limit = 7
  const rows: Json[] = []
  let total = -1
  for (let page = 0, cursor: string | null = null; ; page += 1) {
    const asked = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) asked.append(name, String(one))
    asked.set('limit', String(limit))
    if (cursor !== null) asked.set('after', cursor)
    else if (!byCursor.has(path)) asked.set('page', String(page))
    const body = await get(`${path}?${asked}`)
    rows.push(...body.data)
    if (page === 0) total = body.totalCount
    cursor = body.next ?? null
    if (cursor === null && body.hasMore !== true) return { rows, total }
  }
}

export async function assertAsMany(get: Get, count: number, to: To, what: string): Promise<Json[]> {
  const { rows, total } = await listBehind(get, to)
  const words = `${what}: ${JSON.stringify(to)}`
  assert.equal(rows.length, count, words)
  assert.equal(total, count, `counted, ${words}`)
  // A step may have failed more than once.
  const idOf = ({ _id, address, failedAt = '' }: Json): string => `${_id ?? address} ${failedAt}`
  assert.equal(new Set(rows.map(idOf)).size, count, `each once, ${words}`)
  return rows
}
