// What tests of the inbox start from: sessions of subscribers, and calls with their tokens.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { sql } from '../../src/db/sql.ts'
import type { CallOptions, Json, TestApp, TestReply } from './app.ts'

export const hmac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex')

export async function identifierOf(app: TestApp, name = 'Development'): Promise<string> {
  const row = await app.database.db.row<{ identifier: string }>(
    sql`select identifier from environments where name = ${name}`,
  )
  return row?.identifier ?? ''
}

/** What `POST /v1/inbox/session` answers. */
export const openSession = (app: TestApp, body: object): Promise<TestReply> =>
  app.call('POST', '/v1/inbox/session', { key: null, body })

export interface InboxPage {
  readonly token: string
  readonly session: Json
  call(method: string, path: string, options?: Omit<CallOptions, 'key'>): Promise<TestReply>
  /** The `data` of an answer of that status. */
  data(status: number, method: string, path: string, body?: unknown): Promise<Json>
}

/** A page of that subscriber, in Development. */
export async function inboxOf(app: TestApp, subscriberId: string, more: object = {}): Promise<InboxPage> {
  const applicationIdentifier = await identifierOf(app)
  const reply = await openSession(app, { applicationIdentifier, subscriber: { subscriberId }, ...more })
  assert.equal(reply.status, 201, reply.text)
  return pageOf(app, reply.body.data)
}

export function pageOf(app: TestApp, session: Json): InboxPage {
  const { token } = session
  const call: InboxPage['call'] = (method, path, options = {}) =>
    app.call(method, path.startsWith('/v1/') ? path : `/v1/inbox${path}`, {
      ...options,
      key: null,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...options.headers },
    })
  return {
    token,
    session,
    call,
    data: async (status, method, path, body) => {
      const reply = await call(method, path, body === undefined ? {} : { body })
      assert.equal(reply.status, status, `${method} ${path}: ${reply.text}`)
      return reply.body?.data
    },
  }
}
