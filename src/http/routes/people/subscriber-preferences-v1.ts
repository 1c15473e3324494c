// Preferences as API v1 has them: /v1/subscribers/{subscriberId}/preferences.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import type { SubscriberPreferences } from '../../../domain/preferences/preference.ts'
import { globalPreferenceOf, templatePreferenceOf } from '../../../domain/preferences/preference-views.ts'
import { changeGlobalPreferences, changeWorkflowPreferences } from '../../../manage/people/preferences.ts'
import { unknownSubscriber } from '../../../manage/people/subscribers.ts'
import { unknownWorkflow } from '../../../manage/workflows/workflow-rules.ts'
import { preferencesAndWorkflows, preferencesForWorkflow } from '../../../read/people/preferences.ts'
import { route } from '../../route.ts'
import { literals } from '../../schemas.ts'
import { globalPreference, templatePreference, workflowId } from './preference-schemas.ts'
import { subscriberId } from './subscriber-schemas.ts'

const params = Type.Object({ subscriberId })
const workflowParams = Type.Object({ subscriberId, workflowId })
const shared = { tag: 'Subscribers', category: 'configuration', errors: [404] } as const
const path = '/v1/subscribers/{subscriberId}/preferences'
/** A bare list cannot say that it goes on; those with more workflows use API v2, by pages. */
const listed = { criticality: 'all', page: 0, limit: 1_000 } as const
const channelSwitch = Type.Object({ type: literals(channels), enabled: Type.Boolean() })

export const subscriberPreferenceV1Routes = [
  route({
    ...shared,
    method: 'GET',
    path,
    operationId: 'listSubscriberPreferences',
    summary: 'List preferences by workflow',
    description: 'The newest 1,000 active workflows.',
    scope: 'read',
    params,
    replies: { 200: Type.Array(templatePreference) },
    handle: async ({ db }, { principal, params }) => {
      const found = await preferencesAndWorkflows(db, principal.environment, params.subscriberId, listed)
      if (found === undefined) throw unknownSubscriber(params.subscriberId)
      const { preferences, workflows } = found
      return ok(workflows.slice(0, listed.limit).map((workflow) => templatePreferenceOf(preferences, workflow)))
    },
  }),
  route({
    ...shared,
    method: 'PATCH',
    path,
    operationId: 'updateSubscriberGlobalPreferences',
    summary: 'Update preferences of all workflows',
    scope: 'subscribers:write',
    params,
    body: Type.Object(
      {
        enabled: Type.Optional(Type.Boolean()),
        preferences: Type.Optional(Type.Array(channelSwitch, { maxItems: 100 })),
      },
      { title: 'UpdateSubscriberGlobalPreferences', examples: [{ preferences: [{ type: 'sms', enabled: false }] }] },
    ),
    replies: { 200: globalPreference },
    handle: ({ db, world }, { principal, params, body, idempotency }) => {
      const change = {
        ...(body.enabled === undefined ? {} : { enabled: body.enabled }),
        channels: switches(body.preferences ?? []),
      }
      const call = { subscriberId: params.subscriberId, change, idempotency }
      return changeGlobalPreferences(db, world, principal.environment, call, (_tx, preferences) =>
        globally(preferences),
      )
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: `${path}/global`,
    operationId: 'retrieveSubscriberGlobalPreferences',
    summary: 'Retrieve preferences of all workflows',
    scope: 'read',
    params,
    replies: { 200: Type.Array(globalPreference) },
    handle: async ({ db }, { principal, params }) => {
      const none = { ...listed, limit: 1 }
      const found = await preferencesAndWorkflows(db, principal.environment, params.subscriberId, none)
      if (found === undefined) throw unknownSubscriber(params.subscriberId)
      return ok([globally(found.preferences)])
    },
  }),
  route({
    ...shared,
    method: 'GET',
    path: `${path}/{workflowId}`,
    operationId: 'retrieveSubscriberWorkflowPreference',
    summary: 'Retrieve preferences of one workflow',
    scope: 'read',
    params: workflowParams,
    replies: { 200: templatePreference },
    handle: async ({ db }, { principal, params }) => {
      const { subscriberId, workflowId } = params
      const found = await preferencesForWorkflow(db, principal.environment, subscriberId, workflowId)
      if (found === undefined) throw unknownSubscriber(subscriberId)
      if (found.workflow === undefined) throw unknownWorkflow(workflowId)
      return ok(templatePreferenceOf(found.preferences, found.workflow))
    },
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: `${path}/{workflowId}`,
    operationId: 'updateSubscriberWorkflowPreference',
    summary: 'Update preferences of one workflow',
    description: 'Critical workflows cannot be changed (422).',
    scope: 'subscribers:write',
    params: workflowParams,
    body: Type.Object(
      { enabled: Type.Optional(Type.Boolean()), channel: Type.Optional(channelSwitch) },
      { title: 'UpdateSubscriberWorkflowPreference', examples: [{ channel: { type: 'email', enabled: false } }] },
    ),
    replies: { 200: templatePreference },
    handle: ({ db, world }, { principal, params, body, idempotency }) => {
      const { subscriberId, workflowId } = params
      const change = {
        ...(body.enabled === undefined ? {} : { enabled: body.enabled }),
        channels: switches(body.channel === undefined ? [] : [body.channel]),
      }
      const call = { subscriberId, changes: [{ workflowId, change, field: 'workflowId' }], idempotency }
      return changeWorkflowPreferences(db, world, principal.environment, call, (preferences, [workflow]) =>
        workflow === undefined ? null : templatePreferenceOf(preferences, workflow),
      )
    },
  }),
]

function globally(preferences: SubscriberPreferences | null) {
  const { enabled, channels: resolved } = globalPreferenceOf(preferences)
  return { preference: { enabled, channels: resolved } }
}

function switches(given: readonly { type: (typeof channels)[number]; enabled: boolean }[]) {
  return Object.fromEntries(given.map(({ type, enabled }) => [type, enabled]))
}
