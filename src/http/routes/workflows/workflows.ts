// Workflows and their groups: /v1/workflows, /v1/notification-groups.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { optionalTimestamp } from '../../../domain/time/timestamp-parameter.ts'
import { createGroup } from '../../../manage/workflows/notification-groups.ts'
import { unknownWorkflow } from '../../../manage/workflows/workflow-rules.ts'
import { changeWorkflow, createWorkflow, removeWorkflow, replaceWorkflow } from '../../../manage/workflows/workflows.ts'
import { groupsPage } from '../../../read/workflows/notification-groups.ts'
import { workflowFor, workflowsFor } from '../../../read/workflows/workflows.ts'
import { route } from '../../route.ts'
import { identifierText, offsetPage, offsetParameters, pageLimitMax } from '../../schemas.ts'
import {
  changeWorkflowBody,
  createWorkflowBody,
  notificationGroup,
  replaceWorkflowBody,
  workflow,
} from './workflow-schemas.ts'

const params = Type.Object({
  workflowId: Type.String({ minLength: 1, maxLength: 255, description: 'The `_id` or the trigger identifier.' }),
})
const timestampLengthMax = 64
const knownQuery = Type.Object({
  ifUpdatedAt: Type.Optional(
    Type.String({
      maxLength: timestampLengthMax,
      description: 'The `updatedAt` of the workflow as you know it. If it was saved since, nothing is changed (409).',
    }),
  ),
})
const withoutSecrets =
  'Header values of custom steps and query strings of URLs are `[redacted]` for keys without the scope `full`.'
const shared = { tag: 'Workflows', category: 'configuration' } as const

export const workflowRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v1/workflows',
    operationId: 'createWorkflow',
    summary: 'Create a workflow',
    description: 'Templates, settings and schemas are checked together; every error is reported with its path.',
    scope: 'workflows:write',
    body: createWorkflowBody,
    replies: { 201: workflow },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createWorkflow(db, world, principal, { workflow: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/workflows',
    operationId: 'listWorkflows',
    summary: 'List workflows',
    description: `Newest first. ${withoutSecrets}`,
    scope: 'read',
    query: Type.Object({
      ...offsetParameters(pageLimitMax),
      query: Type.Optional(
        Type.String({ maxLength: 255, description: 'Text contained in the name or the identifier; case-sensitive.' }),
      ),
      tags: Type.Optional(
        Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16, description: 'Workflows with any of these tags.' }),
      ),
    }),
    replies: { 200: offsetPage('WorkflowPage', workflow) },
    handle: async ({ db }, { principal, query }) =>
      ok(await workflowsFor(db, principal, { ...query, page: query.page ?? 0, limit: query.limit ?? 10 })),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/workflows/{workflowId}',
    operationId: 'retrieveWorkflow',
    summary: 'Retrieve a workflow',
    description: withoutSecrets,
    scope: 'read',
    params,
    replies: { 200: workflow },
    errors: [404],
    handle: async ({ db }, { principal, params }) => {
      const found = await workflowFor(db, principal, params.workflowId)
      if (found === undefined) throw unknownWorkflow(params.workflowId)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'PUT',
    path: '/v1/workflows/{workflowId}',
    operationId: 'replaceWorkflow',
    summary: 'Replace a workflow',
    description:
      'Replaces the whole workflow; the identifier, the group and whether it is active are unchanged unless given. Notifications that have started continue with the version they started with.',
    scope: 'workflows:write',
    params,
    query: knownQuery,
    body: replaceWorkflowBody,
    replies: { 200: workflow },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, query, body, idempotency }) => {
      const ifUpdatedAt = optionalTimestamp('ifUpdatedAt', query.ifUpdatedAt)
      return replaceWorkflow(db, world, principal, {
        id: params.workflowId,
        workflow: body,
        ifUpdatedAt,
        author,
        idempotency,
      })
    },
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: '/v1/workflows/{workflowId}',
    operationId: 'updateWorkflow',
    summary: 'Update a workflow',
    description: 'Omitted fields are unchanged; null clears a field. If steps are given, they replace all steps.',
    scope: 'workflows:write',
    params,
    query: knownQuery,
    body: changeWorkflowBody,
    replies: { 200: workflow },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, query, body, idempotency }) => {
      const ifUpdatedAt = optionalTimestamp('ifUpdatedAt', query.ifUpdatedAt)
      return changeWorkflow(db, world, principal, {
        id: params.workflowId,
        workflow: body,
        ifUpdatedAt,
        author,
        idempotency,
      })
    },
  }),
  route({
    ...shared,
    method: 'PUT',
    path: '/v1/workflows/{workflowId}/status',
    operationId: 'updateWorkflowStatus',
    summary: 'Switch a workflow on or off',
    scope: 'workflows:write',
    params,
    body: Type.Object({ active: Type.Boolean() }, { title: 'WorkflowStatus', examples: [{ active: true }] }),
    replies: { 200: workflow },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeWorkflow(db, world, principal, {
        id: params.workflowId,
        workflow: { active: body.active },
        author,
        idempotency,
      }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/workflows/{workflowId}',
    operationId: 'deleteWorkflow',
    summary: 'Delete a workflow',
    description: 'Notifications that have started continue. The identifier can be used for another workflow.',
    scope: 'workflows:write',
    params,
    replies: { 200: Type.Boolean({ description: 'Always true.' }) },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeWorkflow(db, world, principal, { id: params.workflowId, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v1/notification-groups',
    operationId: 'listNotificationGroups',
    summary: 'List notification groups',
    description: 'Oldest first.',
    scope: 'read',
    query: Type.Object(offsetParameters(pageLimitMax)),
    replies: { 200: offsetPage('NotificationGroupPage', notificationGroup) },
    handle: async ({ db }, { principal, query }) =>
      ok(await groupsPage(db, principal.environment, { page: query.page ?? 0, limit: query.limit ?? 10 })),
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/notification-groups',
    operationId: 'createNotificationGroup',
    summary: 'Create a notification group',
    scope: 'workflows:write',
    body: Type.Object(
      { name: identifierText({ maxLength: 255 }) },
      { title: 'CreateNotificationGroup', examples: [{ name: 'Orders' }] },
    ),
    replies: { 201: notificationGroup },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createGroup(db, world, principal.environment, { name: body.name, author, idempotency }),
  }),
]
