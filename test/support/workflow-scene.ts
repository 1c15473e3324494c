// What tests of workflows start from: steps that are good, and what the database holds of versions.
import assert from 'node:assert/strict'
import { sql } from '../../src/db/sql.ts'
import type { Json, TestApp, TestReply } from './app.ts'

export const inApp = (content = 'Hello {{ subscriber.firstName }}', more: object = {}): Json => ({
  template: { type: 'in_app', content },
  ...more,
})

export const email = (subject = 'Order {{ payload.orderId }}', more: object = {}): Json => ({
  template: { type: 'email', subject, contentType: 'customHtml', content: '<p>Hello</p>' },
  ...more,
})

export const delay = (more: object = {}): Json => ({
  template: { type: 'delay' },
  metadata: { type: 'regular', amount: 2, unit: 'hours' },
  ...more,
})

export const digest = (more: object = {}): Json => ({
  template: { type: 'digest' },
  metadata: { type: 'regular', amount: 5, unit: 'minutes' },
  ...more,
})

export const condition = (value: string): Json => ({
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children: [{ field: 'plan', value, operator: 'EQUAL', on: 'payload' }],
})

export async function create(app: TestApp, body: Json): Promise<Json> {
  const reply = await app.call('POST', '/v1/workflows', { body })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

/** The first message of each field that was refused. */
export function refusals(reply: TestReply): Record<string, string> {
  assert.equal(reply.status, 422, reply.text)
  assert.equal(reply.body.message, 'Validation Error')
  return Object.fromEntries(
    Object.entries<Json>(reply.body.errors).map(([field, { messages }]) => [field, messages[0]]),
  )
}

export async function refused(app: TestApp, body: Json): Promise<Record<string, string>> {
  return refusals(await app.call('POST', '/v1/workflows', { body }))
}

export async function versionsOf(app: TestApp, workflowId: string): Promise<{ id: string; number: number }[]> {
  return app.database.db.rows(
    sql`select id, number from workflow_versions where workflow_id = ${workflowId} order by number`,
  )
}

export async function currentVersion(app: TestApp, workflowId: string): Promise<string | undefined> {
  const row = await app.database.db.row<{ version_id: string }>(
    sql`select version_id from workflows where id = ${workflowId}`,
  )
  return row?.version_id
}
