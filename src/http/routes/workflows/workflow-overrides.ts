// Tenants' overrides of workflows: /v1/workflow-overrides.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import type { PreferenceSettings } from '../../../domain/workflows/workflow.ts'
import {
  changeOverride,
  createOverride,
  overrideNamed,
  removeOverride,
} from '../../../manage/workflows/workflow-overrides.ts'
import { overridesPage } from '../../../read/workflows/workflow-overrides.ts'
import { route } from '../../route.ts'
import {
  identifierText,
  nullableBoolean,
  nullableFreeObject,
  offsetPage,
  offsetParameters,
  pageLimitMax,
  timestamp,
} from '../../schemas.ts'

const active = nullableBoolean({
  description: 'Whether the workflow runs for the tenant; null uses the setting of the workflow.',
})
const preferenceSettings = Type.Unsafe<Partial<PreferenceSettings> | null>({
  type: ['object', 'null'],
  properties: Object.fromEntries(channels.map((channel) => [channel, { type: 'boolean' }])),
  additionalProperties: false,
  description:
    'Channels that are on or off for the tenant; null or an omitted channel uses the setting of the workflow.',
})
const change = { active: Type.Optional(active), preferenceSettings: Type.Optional(preferenceSettings) }
const override = Type.Object(
  {
    _id: Type.String(),
    workflowId: Type.String(),
    workflowIdentifier: Type.String(),
    tenantId: Type.String(),
    tenantIdentifier: Type.String(),
    active: nullableBoolean(),
    preferenceSettings: nullableFreeObject(),
    _environmentId: Type.String(),
    _organizationId: Type.String(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'WorkflowOverride' },
)
const name = (description: string) => identifierText({ maxLength: 255, description })
const pair = {
  workflowId: name('The workflow’s `_id` or its trigger identifier.'),
  tenantId: name('The tenant’s `_id` or its identifier.'),
}
const byId = {
  path: '/v1/workflow-overrides/{overrideId}',
  params: Type.Object({ overrideId: name('The `_id` of the override.') }),
}
const byPair = {
  path: '/v1/workflow-overrides/workflows/{workflowId}/tenants/{tenantId}',
  params: Type.Object(pair),
}
const shared = { tag: 'Tenants', category: 'configuration' } as const
const updateBody = Type.Object(change, { title: 'UpdateWorkflowOverride', examples: [{ active: false }] })

export const workflowOverrideRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v1/workflow-overrides',
    operationId: 'createWorkflowOverride',
    summary: 'Override a workflow for a tenant',
    scope: 'workflows:write',
    body: Type.Object(
      { ...pair, ...change },
      {
        title: 'CreateWorkflowOverride',
        examples: [{ workflowId: 'order-shipped', tenantId: 'acme', preferenceSettings: { sms: false } }],
      },
    ),
    replies: { 201: override },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) => {
      const { workflowId, tenantId, ...change } = body
      return createOverride(db, world, principal.environment, { workflowId, tenantId, change, author, idempotency })
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/workflow-overrides',
    operationId: 'listWorkflowOverrides',
    summary: 'List overrides of workflows',
    description: 'Newest first.',
    scope: 'read',
    query: Type.Object(offsetParameters(pageLimitMax)),
    replies: { 200: offsetPage('WorkflowOverridePage', override) },
    handle: async ({ db }, { principal, query }) =>
      ok(await overridesPage(db, principal.environment, { page: query.page ?? 0, limit: query.limit ?? 10 })),
  }),
  route({
    ...shared,
    ...byId,
    method: 'GET',
    operationId: 'retrieveWorkflowOverride',
    summary: 'Retrieve an override of a workflow',
    scope: 'read',
    replies: { 200: override },
    errors: [404],
    handle: async ({ db }, { principal, params }) => ok(await overrideNamed(db, principal.environment, params)),
  }),
  route({
    ...shared,
    ...byId,
    method: 'PUT',
    operationId: 'updateWorkflowOverride',
    summary: 'Update an override of a workflow',
    description: 'Omitted fields are unchanged.',
    scope: 'workflows:write',
    body: updateBody,
    replies: { 200: override },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeOverride(db, world, principal.environment, { name: params, change: body, author, idempotency }),
  }),
  route({
    ...shared,
    ...byId,
    method: 'DELETE',
    operationId: 'deleteWorkflowOverride',
    summary: 'Delete an override of a workflow',
    scope: 'workflows:write',
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeOverride(db, world, principal.environment, { name: params, author, idempotency }),
  }),
  route({
    ...shared,
    ...byPair,
    method: 'GET',
    operationId: 'retrieveTenantWorkflowOverride',
    summary: 'Retrieve a tenant’s override of a workflow',
    scope: 'read',
    replies: { 200: override },
    errors: [404],
    handle: async ({ db }, { principal, params }) => ok(await overrideNamed(db, principal.environment, params)),
  }),
  route({
    ...shared,
    ...byPair,
    method: 'PUT',
    operationId: 'updateTenantWorkflowOverride',
    summary: 'Update a tenant’s override of a workflow',
    description: 'Omitted fields are unchanged.',
    scope: 'workflows:write',
    body: updateBody,
    replies: { 200: override },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeOverride(db, world, principal.environment, { name: params, change: body, author, idempotency }),
  }),
  route({
    ...shared,
    ...byPair,
    method: 'DELETE',
    operationId: 'deleteTenantWorkflowOverride',
    summary: 'Delete a tenant’s override of a workflow',
    scope: 'workflows:write',
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeOverride(db, world, principal.environment, { name: params, author, idempotency }),
  }),
]
