// What the tests of the audit log make before they change it, and what entries must say.
import assert from 'node:assert/strict'
import type { AuditAction, ResourceKind } from '../../src/domain/operate/audit.ts'
import type { Json, TestApp } from './app.ts'
import type { Call } from './audit-scene.ts'
import { must } from './audit-scene.ts'
import { twilioBody } from './integration-scene.ts'
import { inApp } from './workflow-scene.ts'

export interface Scenario {
  readonly kind: ResourceKind
  readonly action: AuditAction
  /** Makes what is there before, and says what is then called. */
  readonly call: (app: TestApp) => Call | Promise<Call>
  /** What each of its entries must say. */
  readonly says: (entry: Json) => void
  readonly entries?: number
}

/** By the operation. */
export type Scenarios = Readonly<Record<string, Scenario>>

let count = 0
export const name = (): string => `thing-${++count}`

export const made = (members: object) => (entry: Json) => {
  assert.equal(entry.before, null)
  assert.deepEqual({ ...entry.after, ...members }, entry.after)
}
export const changed = (before: object, after: object) => (entry: Json) => {
  assert.deepEqual(entry.before, before)
  assert.deepEqual(entry.after, after)
}
export const gone = (members: object) => (entry: Json) => {
  assert.deepEqual({ ...entry.before, ...members }, entry.before)
  assert.equal(entry.after, null)
}

export async function post(app: TestApp, path: string, body: object): Promise<Json> {
  return (await must(app, { method: 'POST', path, body })).body
}

export const workflow = (app: TestApp, more: object = {}) =>
  post(app, '/v1/workflows', { name: name(), steps: [inApp()], ...more })
export const layout = (app: TestApp) =>
  post(app, '/v1/layouts', { name: 'Old', identifier: name(), content: '<p>{{{ body }}}</p>' })
export const group = (app: TestApp) => post(app, '/v1/notification-groups', { name: name() })
export const tenant = (app: TestApp) => post(app, '/v1/tenants', { identifier: name(), name: 'Old' })
export const integration = (app: TestApp) => post(app, '/v1/integrations', { ...twilioBody, name: name() })
export const context = (app: TestApp) =>
  post(app, '/v2/contexts', { type: 'project', id: name(), data: { plan: 'old' } })
export const override = async (app: TestApp) => {
  const [{ _id: workflowId }, { identifier: tenantId }] = [await workflow(app), await tenant(app)]
  const body = { workflowId, tenantId, active: false }
  return { ...(await post(app, '/v1/workflow-overrides', body)), workflowId, tenantId }
}
export const v2 = (workflowId: string) => ({
  name: 'Old',
  workflowId,
  preferences: { workflow: null },
  steps: [{ name: 'Tell', type: 'in_app', controlValues: { body: 'Hello' } }],
})
