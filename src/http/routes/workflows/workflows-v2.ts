// Workflows of API v2: /v2/workflows, their steps, and what a step would say.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { previewStep, unknownStep } from '../../../manage/workflows/preview-step.ts'
import { unknownWorkflow } from '../../../manage/workflows/workflow-rules.ts'
import {
  changeWorkflowV2,
  createWorkflowV2,
  removeWorkflowV2,
  replaceWorkflowV2,
} from '../../../manage/workflows/workflow-v2.ts'
import {
  stepV2For,
  workflowOrders,
  workflowStatuses,
  workflowsV2Page,
  workflowV2For,
} from '../../../read/workflows/workflows-v2.ts'
import { route } from '../../route.ts'
import { literals, pageLimitMax } from '../../schemas.ts'
import {
  changeWorkflowV2Body,
  createWorkflowV2Body,
  previewStepBody,
  replaceWorkflowV2Body,
  stepPreview,
  stepV2,
  workflowV2,
  workflowV2List,
} from './workflow-v2-schemas.ts'

const workflowId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'The `_id`, the trigger identifier or the slug.',
})
const params = Type.Object({ workflowId })
const stepParams = Type.Object({
  workflowId,
  stepId: Type.String({ minLength: 1, maxLength: 255, description: 'The `_id`, the `stepId` or the slug.' }),
})
const withoutSecrets =
  'Header values of custom steps and query strings of URLs are `[redacted]` for keys without the scope `full`.'
const shared = { tag: 'Workflows', category: 'configuration' } as const

export const workflowV2Routes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v2/workflows',
    operationId: 'createWorkflowV2',
    summary: 'Create a workflow (v2)',
    description: 'The same workflows as under `/v1/workflows`, with the content and settings of a step in one object.',
    scope: 'workflows:write',
    body: createWorkflowV2Body,
    replies: { 201: workflowV2 },
    errors: [409],
    handle: ({ db, world }, { principal, author, body, idempotency }) =>
      createWorkflowV2(db, world, principal, { workflow: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/workflows',
    operationId: 'listWorkflowsV2',
    summary: 'List workflows (v2)',
    scope: 'read',
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageLimitMax, default: 10 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
      orderBy: Type.Optional(literals(workflowOrders, { default: 'createdAt' })),
      orderDirection: Type.Optional(literals(['ASC', 'DESC'], { default: 'DESC' })),
      query: Type.Optional(
        Type.String({ maxLength: 255, description: 'Text contained in the name or the identifier; case-sensitive.' }),
      ),
      tags: Type.Optional(
        Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16, description: 'Workflows with any of these tags.' }),
      ),
      status: Type.Optional(Type.Array(literals(workflowStatuses), { maxItems: 3 })),
    }),
    replies: { 200: workflowV2List },
    handle: async ({ db }, { principal, query }) => {
      const { limit = 10, offset = 0, orderBy = 'createdAt', orderDirection = 'DESC' } = query
      return ok(await workflowsV2Page(db, principal.environment, { ...query, limit, offset, orderBy, orderDirection }))
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/workflows/{workflowId}',
    operationId: 'retrieveWorkflowV2',
    summary: 'Retrieve a workflow (v2)',
    description: withoutSecrets,
    scope: 'read',
    params,
    replies: { 200: workflowV2 },
    errors: [404],
    handle: async ({ db }, { principal, params }) => {
      const found = await workflowV2For(db, principal, params.workflowId)
      if (found === undefined) throw unknownWorkflow(params.workflowId)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'PUT',
    path: '/v2/workflows/{workflowId}',
    operationId: 'replaceWorkflowV2',
    summary: 'Replace a workflow (v2)',
    description:
      'Replaces the content; the identifier and whether it is active are unchanged unless given. Settings that only `/v1/workflows` can express are kept for steps that are given again.',
    scope: 'workflows:write',
    params,
    body: replaceWorkflowV2Body,
    replies: { 200: workflowV2 },
    errors: [404, 409],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      replaceWorkflowV2(db, world, principal, { id: params.workflowId, workflow: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: '/v2/workflows/{workflowId}',
    operationId: 'updateWorkflowV2',
    summary: 'Update a workflow, except its steps (v2)',
    description: 'Omitted fields are unchanged; null clears a field.',
    scope: 'workflows:write',
    params,
    body: changeWorkflowV2Body,
    replies: { 200: workflowV2 },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, body, idempotency }) =>
      changeWorkflowV2(db, world, principal, { id: params.workflowId, workflow: body, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v2/workflows/{workflowId}',
    operationId: 'deleteWorkflowV2',
    summary: 'Delete a workflow (v2)',
    description: 'Notifications that have started continue. The identifier can be used for another workflow.',
    scope: 'workflows:write',
    params,
    replies: { 204: null },
    errors: [404],
    handle: ({ db, world }, { principal, author, params, idempotency }) =>
      removeWorkflowV2(db, world, principal, { id: params.workflowId, author, idempotency }),
  }),
  route({
    ...shared,
    method: 'GET',
    path: '/v2/workflows/{workflowId}/steps/{stepId}',
    operationId: 'retrieveStep',
    summary: 'Retrieve a step',
    description: withoutSecrets,
    scope: 'read',
    params: stepParams,
    replies: { 200: stepV2 },
    errors: [404],
    handle: async ({ db }, { principal, params }) => {
      const found = await stepV2For(db, principal, params)
      if (found === 'no workflow') throw unknownWorkflow(params.workflowId)
      if (found === 'no step') throw unknownStep(params.stepId)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v2/workflows/{workflowId}/step/{stepId}/preview',
    operationId: 'previewStep',
    summary: 'Preview a step (v2)',
    description:
      'Renders the step as it would be sent; nothing is sent or stored. Omitted payload fields get sample values. A request costs 20 tokens. Header values of custom steps and query strings of URLs are `[redacted]` for keys without the scope `full`.',
    scope: 'read',
    cost: 20,
    params: stepParams,
    body: previewStepBody,
    replies: { 201: stepPreview },
    errors: [404],
    handle: ({ db, world }, { principal, params, body }) => previewStep(db, world, principal, { ...params, ...body }),
  }),
]
