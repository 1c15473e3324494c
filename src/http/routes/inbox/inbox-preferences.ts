// What a session's subscriber wants to hear of: /v1/inbox/preferences.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import { channels } from '../../../domain/delivery/integration.ts'
import { subscriptionIdentifierLengthMax } from '../../../domain/people/topic.ts'
import type { WorkflowChange } from '../../../domain/preferences/preference.ts'
import { badRequest, invalidField } from '../../../domain/problem.ts'
import type { Severity } from '../../../domain/workflows/workflow.ts'
import { severities } from '../../../domain/workflows/workflow.ts'
import { changeInboxPreferences } from '../../../manage/people/inbox-preferences.ts'
import { changeGlobalPreferences } from '../../../manage/people/preferences.ts'
import type { SubscriptionChange } from '../../../manage/people/subscription-preferences.ts'
import { changeSubscriptionPreferences } from '../../../manage/people/subscription-preferences.ts'
import { inboxGlobalPreference, inboxPreferences } from '../../../read/people/inbox-preferences.ts'
import { criticalities } from '../../../store/workflows/preference-workflows.ts'
import { inboxRoute } from '../../inbox-route.ts'
import { literals } from '../../schemas.ts'
import { inboxPreference, workflowId } from '../people/preference-schemas.ts'
import { condition } from '../people/subscription-preferences.ts'
import { inboxSchedule, readSchedule } from './inbox-schedule.ts'

const path = '/v1/inbox/preferences'
const shared = { tag: 'Inbox' } as const
const bulkMax = 100
const switches = {
  email: Type.Optional(Type.Boolean()),
  sms: Type.Optional(Type.Boolean()),
  in_app: Type.Optional(Type.Boolean()),
  chat: Type.Optional(Type.Boolean()),
  push: Type.Optional(Type.Boolean()),
  tool: Type.Optional(Type.Boolean({ description: 'A channel that public clients know; no workflow has it here.' })),
}
const enabled = Type.Optional(Type.Boolean({ description: 'False switches off every channel that is not set itself.' }))
const one = { 200: Type.Object({ data: inboxPreference }, { title: 'InboxPreferenceAnswer' }) }
const many = { 200: Type.Object({ data: Type.Array(inboxPreference) }, { title: 'InboxPreferences' }) }
const tagsMax = 100
const subscriptionName = Type.String({
  minLength: 1,
  maxLength: subscriptionIdentifierLengthMax,
  description: 'The subscription, by its id or identifier.',
})
const subscriptionIdentifier = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    minLength: 1,
    maxLength: subscriptionIdentifierLengthMax,
    description: 'For a single subscription to a topic, by its id or identifier.',
  }),
)

/** Without `subscriptionIdentifier` a condition is rejected: as a choice for the workflow it would do something else. */
const workflowOrSubscription = { enabled, ...switches, condition: Type.Optional(condition), subscriptionIdentifier }

interface GivenChange {
  readonly enabled?: boolean
  readonly email?: boolean
  readonly sms?: boolean
  readonly in_app?: boolean
  readonly chat?: boolean
  readonly push?: boolean
}

/** Channels are next to the other fields. */
function changeOf(given: GivenChange & { readonly condition?: unknown }): WorkflowChange {
  if (given.condition != null) throw invalidField('condition', 'condition is for a single subscription to a topic')
  const said = channels.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]))
  return {
    ...(given.enabled === undefined ? {} : { enabled: given.enabled }),
    ...(said.length === 0 ? {} : { channels: Object.fromEntries(said) }),
  }
}

type GivenForSubscription = GivenChange & { readonly condition?: Readonly<Record<string, unknown>> | null }

/** Clients set all channels alike; a subscription has no choice for each. */
function choiceIn(given: GivenForSubscription) {
  const said = channels.flatMap((name) => given[name] ?? [])
  const isOn = given.enabled ?? (said.length === 0 ? undefined : said.some((on) => on))
  if (isOn === undefined && given.condition === undefined) {
    throw invalidField('enabled', 'Either enabled or condition is required')
  }
  return {
    ...(isOn === undefined ? {} : { enabled: isOn }),
    ...(given.condition === undefined ? {} : { condition: given.condition }),
  }
}

type BulkChange = GivenForSubscription & {
  readonly workflowId: string
  readonly subscriptionIdentifier?: string | null
}

/** Choices for workflows and those for single subscriptions are not mixed in one call: either all are made or none. */
function subscriptionChanges(given: readonly BulkChange[]): SubscriptionChange[] | undefined {
  const changes = given.flatMap(({ subscriptionIdentifier, workflowId, ...choice }) =>
    subscriptionIdentifier == null ? [] : [{ subscription: subscriptionIdentifier, workflowId, ...choiceIn(choice) }],
  )
  if (changes.length === 0) return undefined
  if (changes.length === given.length) return changes
  throw invalidField('preferences', 'preferences must all have a subscriptionIdentifier, or none of them')
}

export const inboxPreferenceRoutes = [
  inboxRoute({
    ...shared,
    method: 'GET',
    path,
    operationId: 'listInboxPreferences',
    summary: 'List preferences',
    description: 'The global preference first, then one per active workflow, oldest first.',
    query: Type.Object({
      tags: Type.Optional(
        Type.Array(Type.String({ maxLength: 256 }), { maxItems: tagsMax, description: 'Workflows with any of these.' }),
      ),
      severity: Type.Optional(Type.Array(literals(severities), { description: 'Workflows of any of these.' })),
      criticality: Type.Optional(
        literals(criticalities, { default: 'nonCritical', description: 'Which workflows to list.' }),
      ),
    }),
    replies: many,
    handle: async ({ db }, { reader, query }) => {
      const { tags, severity, criticality = 'nonCritical' } = query
      const asked = { criticality, tags: some(tags), severities: some<Severity>(severity) }
      return ok({ data: await inboxPreferences(db, reader, asked) })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'GET',
    path: `${path}/global`,
    operationId: 'retrieveInboxGlobalPreference',
    summary: 'Retrieve the global preference',
    replies: one,
    handle: async ({ db }, { reader }) => ok({ data: await inboxGlobalPreference(db, reader) }),
  }),
  inboxRoute({
    ...shared,
    method: 'PATCH',
    path,
    operationId: 'updateInboxGlobalPreference',
    summary: 'Update the global preference',
    description: 'Omitted channels are unchanged. The week of a schedule is replaced as a whole.',
    body: Type.Object(
      { ...switches, schedule: Type.Optional(inboxSchedule) },
      { title: 'UpdateInboxGlobalPreference', examples: [{ email: false }] },
    ),
    replies: one,
    errors: [404],
    handle: async ({ db, world }, { reader, body }) => {
      const schedule = body.schedule == null ? {} : { schedule: readSchedule('schedule', body.schedule) }
      const call = {
        subscriberId: reader.subscriberId,
        idempotency: undefined,
        change: { ...changeOf(body), ...schedule },
      }
      const { environment } = reader
      return changeGlobalPreferences(db, world, environment, call, async (tx) => ({
        data: await inboxGlobalPreference(tx, reader),
      }))
    },
  }),
  inboxRoute({
    ...shared,
    method: 'PATCH',
    path: `${path}/bulk`,
    operationId: 'updateInboxPreferences',
    summary: 'Update preferences in bulk',
    description:
      'Either all changes are made or, if one is invalid, none. If a workflow appears twice, the last entry applies.',
    body: Type.Object(
      {
        preferences: Type.Array(Type.Object({ workflowId, ...workflowOrSubscription }), {
          maxItems: bulkMax,
          description: `1 to ${bulkMax}.`,
        }),
      },
      {
        title: 'UpdateInboxPreferences',
        examples: [{ preferences: [{ workflowId: 'order-shipped', email: false }] }],
      },
    ),
    replies: many,
    errors: [404, 409],
    handle: async ({ db, world }, { reader, body }) => {
      if (body.preferences.length === 0) throw badRequest('preferences must not be empty')
      const own = subscriptionChanges(body.preferences)
      if (own !== undefined) return ok({ data: await changeSubscriptionPreferences(db, world, reader, own) })
      const changes = body.preferences.map((given) => ({ workflowId: given.workflowId, change: changeOf(given) }))
      return ok({ data: await changeInboxPreferences(db, world, reader, changes) })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'PATCH',
    path: `${path}/{workflowId}`,
    operationId: 'updateInboxPreference',
    summary: 'Update the preference for a workflow',
    params: Type.Object({ workflowId }),
    description:
      'With `subscriptionIdentifier` only what reaches the subscriber through the topic of that subscription changes.',
    body: Type.Object(workflowOrSubscription, {
      title: 'UpdateInboxPreference',
      examples: [{ email: true, in_app: false }],
    }),
    replies: one,
    errors: [404, 409],
    handle: async ({ db, world }, { reader, params, body }) => {
      const own = subscriptionChanges([{ ...body, workflowId: params.workflowId }])
      if (own !== undefined) {
        const [data] = await changeSubscriptionPreferences(db, world, reader, own)
        return ok({ data })
      }
      const changes = [{ workflowId: params.workflowId, change: changeOf(body) }]
      const [data] = await changeInboxPreferences(db, world, reader, changes)
      return ok({ data })
    },
  }),
  inboxRoute({
    ...shared,
    method: 'PATCH',
    path: '/v1/inbox/subscriptions/{identifier}/preferences/{workflowId}',
    operationId: 'updateInboxSubscriptionPreference',
    summary: 'Update the preference for a workflow of a single subscription',
    description:
      'Whether events of the workflow reach the subscriber through the topic of this subscription. A value of `enabled` ends a condition; channels are set all alike. 409 if several subscriptions have the identifier: use the id.',
    params: Type.Object({ identifier: subscriptionName, workflowId }),
    body: Type.Object(
      { enabled, ...switches, condition: Type.Optional(condition) },
      { title: 'UpdateInboxSubscriptionPreference', examples: [{ enabled: false }] },
    ),
    replies: one,
    errors: [404, 409],
    handle: async ({ db, world }, { reader, params, body }) => {
      const change = { subscription: params.identifier, workflowId: params.workflowId, ...choiceIn(body) }
      const [data] = await changeSubscriptionPreferences(db, world, reader, [change])
      return ok({ data })
    },
  }),
]

/** An empty list requests nothing. */
const some = <Item>(items: readonly Item[] | undefined): readonly Item[] | undefined =>
  items === undefined || items.length === 0 ? undefined : items
