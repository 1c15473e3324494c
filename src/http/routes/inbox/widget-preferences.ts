// Preferences as older inbox clients ask for them: /v1/widgets/preferences.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import type { Channel } from '../../../domain/delivery/integration.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import type { Reader } from '../../../domain/messages/inbox.ts'
import type { SubscriberPreferences } from '../../../domain/preferences/preference.ts'
import { globalPreferenceOf, templatePreferenceOf } from '../../../domain/preferences/preference-views.ts'
import { changeGlobalPreferences, changeWorkflowPreferences } from '../../../manage/people/preferences.ts'
import { unknownSubscriber } from '../../../manage/people/subscribers.ts'
import { preferencesAndWorkflows } from '../../../read/people/preferences.ts'
import type { InboxRoute, InboxService } from '../../inbox-route.ts'
import { inboxRoute } from '../../inbox-route.ts'
import { literals } from '../../schemas.ts'
import { globalPreference, templatePreference, workflowId } from '../people/preference-schemas.ts'

const path = '/v1/widgets/preferences'
const shared = { tag: 'Inbox' } as const
/** A bare list cannot say that it goes on. */
const listed = { criticality: 'nonCritical', page: 0, limit: 1_000 } as const
const workflows = Type.Object({ data: Type.Array(templatePreference) }, { title: 'WidgetPreferences' })

async function preferencesOf({ db }: InboxService, { environment, subscriberId }: Reader, limit: number) {
  const found = await preferencesAndWorkflows(db, environment, subscriberId, { ...listed, limit })
  if (found === undefined) throw unknownSubscriber(subscriberId)
  return found
}

const list = (at: string, operationId: string): InboxRoute =>
  inboxRoute({
    ...shared,
    method: 'GET',
    path: at,
    operationId,
    summary: 'List preferences by workflow (older clients)',
    replies: { 200: workflows },
    errors: [404],
    handle: async (service, { reader }) => {
      const found = await preferencesOf(service, reader, listed.limit)
      const shown = found.workflows.slice(0, listed.limit)
      return ok({ data: shown.map((workflow) => templatePreferenceOf(found.preferences, workflow)) })
    },
  })

function globally(preferences: SubscriberPreferences | null) {
  const { enabled, channels: resolved } = globalPreferenceOf(preferences)
  return { preference: { enabled, channels: resolved } }
}

const switched = (given: readonly { type: Channel; enabled: boolean }[]) =>
  Object.fromEntries(given.map(({ type, enabled }) => [type, enabled]))

const channelSwitch = Type.Object({
  type: literals(channels),
  enabled: Type.Boolean(),
  channelType: Type.Optional(literals(channels, { description: 'The same as `type`.' })),
})

export const widgetPreferenceRoutes = [
  list(path, 'listWidgetPreferences'),
  list(`${path}/template`, 'listWidgetPreferencesByLevel'),
  inboxRoute({
    ...shared,
    method: 'GET',
    path: `${path}/global`,
    operationId: 'retrieveWidgetGlobalPreference',
    summary: 'Retrieve preferences of all workflows (older clients)',
    replies: { 200: Type.Object({ data: Type.Array(globalPreference) }, { title: 'WidgetGlobalPreference' }) },
    errors: [404],
    handle: async (service, { reader }) =>
      ok({ data: [globally((await preferencesOf(service, reader, 1)).preferences)] }),
  }),
  inboxRoute({
    ...shared,
    method: 'PATCH',
    path,
    operationId: 'updateWidgetGlobalPreference',
    summary: 'Update preferences of all workflows (older clients)',
    body: Type.Object(
      {
        enabled: Type.Optional(Type.Boolean()),
        preferences: Type.Optional(Type.Array(channelSwitch, { maxItems: 100 })),
      },
      { title: 'UpdateWidgetGlobalPreference', examples: [{ preferences: [{ type: 'sms', enabled: false }] }] },
    ),
    replies: { 200: Type.Object({ data: globalPreference }, { title: 'WidgetGlobalPreferenceAnswer' }) },
    errors: [404],
    handle: ({ db, world }, { reader, body }) => {
      const { enabled, preferences = [] } = body
      const change = { ...(enabled === undefined ? {} : { enabled }), channels: switched(preferences) }
      const call = { subscriberId: reader.subscriberId, change, idempotency: undefined }
      return changeGlobalPreferences(db, world, reader.environment, call, (_tx, changed) => ({
        data: globally(changed),
      }))
    },
  }),
  inboxRoute({
    ...shared,
    method: 'PATCH',
    path: `${path}/{workflowId}`,
    operationId: 'updateWidgetPreference',
    summary: 'Update preferences of one workflow (older clients)',
    params: Type.Object({ workflowId }),
    body: Type.Object(
      { enabled: Type.Optional(Type.Boolean()), channel: Type.Optional(channelSwitch) },
      { title: 'UpdateWidgetPreference', examples: [{ channel: { type: 'email', enabled: false } }] },
    ),
    replies: { 200: Type.Object({ data: templatePreference }, { title: 'WidgetPreferenceAnswer' }) },
    errors: [404],
    handle: ({ db, world }, { reader, params, body }) => {
      const { enabled, channel } = body
      const change = {
        ...(enabled === undefined ? {} : { enabled }),
        channels: switched(channel === undefined ? [] : [channel]),
      }
      const changes = [{ workflowId: params.workflowId, change, field: 'workflowId' }]
      const call = { subscriberId: reader.subscriberId, changes, idempotency: undefined }
      return changeWorkflowPreferences(db, world, reader.environment, call, (preferences, [workflow]) => ({
        data: workflow === undefined ? null : templatePreferenceOf(preferences, workflow),
      }))
    },
  }),
]
