// What tests of the audit log start from: its rows as they are stored, oldest first.
import assert from 'node:assert/strict'
import type { Json, TestApp, TestReply } from './app.ts'

export interface Call {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** The whole log, oldest first. */
export async function logOf(app: TestApp, key = app.developmentKey): Promise<Json[]> {
  const entries: Json[] = []
  let after: string | null = ''
  while (after !== null) {
    const cursor: string = after === '' ? '' : `&after=${encodeURIComponent(after)}`
    const reply = await app.call('GET', `/v1/audit?limit=100&orderDirection=ASC${cursor}`, { key })
    assert.equal(reply.status, 200, reply.text)
    entries.push(...reply.body.data)
    after = reply.body.next
  }
  return entries
}

export async function must(app: TestApp, { method, path, ...options }: Call): Promise<TestReply> {
  const reply = await app.call(method, path, options)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  return reply
}

/** What a call adds to the log. */
export async function added(app: TestApp, call: Call): Promise<Json[]> {
  const before = (await logOf(app)).length
  await must(app, call)
  return (await logOf(app)).slice(before)
}
