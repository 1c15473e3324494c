// What a subscriber wants to hear of: /v2/subscribers/{subscriberId}/preferences.
import { Type } from 'typebox'
import { ok } from '../../../domain/answer.ts'
import {
  globalPreferenceOf,
  leveledPreferenceOf,
  workflowPreferenceOf,
} from '../../../domain/preferences/preference-views.ts'
import type { FieldErrors } from '../../../domain/problem.ts'
import { invalid } from '../../../domain/problem.ts'
import { changeGlobalPreferences, changeWorkflowPreferences } from '../../../manage/people/preferences.ts'
import { unknownSubscriber } from '../../../manage/people/subscribers.ts'
import type { PreferencesQuery } from '../../../read/people/preferences.ts'
import { preferencesOf } from '../../../read/people/preferences.ts'
import { criticalities } from '../../../store/workflows/preference-workflows.ts'
import { route } from '../../route.ts'
import { literals } from '../../schemas.ts'
import { globalChange, leveledPreference, preferencesAnswer, workflowChange, workflowId } from './preference-schemas.ts'
import { subscriberId } from './subscriber-schemas.ts'

const params = Type.Object({ subscriberId })
const shared = { tag: 'Subscribers', category: 'configuration', params, errors: [404] } as const
const path = '/v2/subscribers/{subscriberId}/preferences'
/** Callers that know no pages see this many workflows, which is all of them nearly everywhere. */
const workflowsPerPageMax = 1_000
const bulkMax = 100
const firstPage: PreferencesQuery = { criticality: 'nonCritical', page: 0, limit: workflowsPerPageMax }

export const subscriberPreferenceRoutes = [
  route({
    ...shared,
    method: 'GET',
    path,
    operationId: 'retrieveSubscriberPreferences',
    summary: 'Retrieve preferences',
    description:
      'The preferences in effect for the subscriber, for all workflows and for each active one, and which level decided. A workflow lists the channels for which it has active steps.',
    scope: 'read',
    query: Type.Object({
      criticality: Type.Optional(
        literals(criticalities, { default: 'nonCritical', description: 'Which workflows to list.' }),
      ),
      page: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Page, from 0.' })),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: workflowsPerPageMax,
          default: workflowsPerPageMax,
          description: 'Workflows per page.',
        }),
      ),
    }),
    replies: { 200: preferencesAnswer },
    handle: async ({ db }, { principal, params, query }) => {
      const found = await preferencesOf(db, principal.environment, params.subscriberId, { ...firstPage, ...query })
      if (found === undefined) throw unknownSubscriber(params.subscriberId)
      return ok(found)
    },
  }),
  route({
    ...shared,
    method: 'PATCH',
    path,
    operationId: 'updateSubscriberPreferences',
    summary: 'Update preferences',
    description:
      'For all workflows, or for one if `workflowId` is given. Omitted fields are unchanged, null clears a field. Critical workflows cannot be changed (422), and no preference holds them back. Templates find events that were held back or collected in `step.events` and `step.total_count`; a template that uses neither renders the first event.',
    scope: 'subscribers:write',
    body: Type.Object(
      { workflowId: Type.Optional(workflowId), ...workflowChange, ...globalChange },
      {
        title: 'UpdateSubscriberPreferences',
        examples: [
          { channels: { sms: false }, schedule: { isEnabled: true, outside: 'bundle', weeklySchedule: exampleWeek() } },
          { workflowId: 'order-shipped', channels: { email: true }, frequency: { type: 'daily', atTime: '18:00' } },
        ],
      },
    ),
    replies: { 200: preferencesAnswer },
    handle: ({ db, world }, { principal, params, body, idempotency }) => {
      const { workflowId, frequency, schedule, doNotDisturbUntil, ...switches } = body
      refuseMisplaced(body)
      const call = { subscriberId: params.subscriberId, idempotency }
      const { environment } = principal
      if (workflowId === undefined) {
        const change = { ...switches, ...given({ schedule, doNotDisturbUntil }) }
        return changeGlobalPreferences(db, world, environment, { ...call, change }, (tx) =>
          preferencesOf(tx, environment, params.subscriberId, firstPage),
        )
      }
      const changes = [{ workflowId, change: { ...switches, ...given({ frequency }) }, field: 'workflowId' }]
      return changeWorkflowPreferences(db, world, environment, { ...call, changes }, (preferences, workflows) => ({
        global: globalPreferenceOf(preferences),
        workflows: workflows.map((workflow) => workflowPreferenceOf(preferences, workflow)),
        hasMore: false,
      }))
    },
  }),
  route({
    ...shared,
    method: 'PATCH',
    path: `${path}/bulk`,
    operationId: 'updateSubscriberPreferencesInBulk',
    summary: 'Update preferences in bulk',
    description: 'For up to 100 workflows at once: either all changes are made or, if one is invalid, none.',
    scope: 'subscribers:write',
    cost: 100,
    body: Type.Object(
      {
        preferences: Type.Array(Type.Object({ workflowId, ...workflowChange }), { minItems: 1, maxItems: bulkMax }),
      },
      {
        title: 'UpdateSubscriberPreferencesInBulk',
        examples: [{ preferences: [{ workflowId: 'order-shipped', channels: { email: false } }] }],
      },
    ),
    replies: { 200: Type.Array(leveledPreference) },
    handle: ({ db, world }, { principal, params, body, idempotency }) => {
      const changes = body.preferences.map(({ workflowId, ...change }, index) => ({
        workflowId,
        change,
        field: `preferences.${index}.workflowId`,
      }))
      const call = { subscriberId: params.subscriberId, changes, idempotency }
      return changeWorkflowPreferences(db, world, principal.environment, call, (preferences, workflows) =>
        workflows.map((workflow) => leveledPreferenceOf(preferences, workflow)),
      )
    },
  }),
]

function exampleWeek() {
  const workday = { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] }
  return { monday: workday, tuesday: workday, wednesday: workday, thursday: workday, friday: workday }
}

/** Some settings are for one workflow, others for all: accepted silently in the wrong place they would do nothing. */
function refuseMisplaced(body: {
  workflowId?: string
  frequency?: unknown
  schedule?: unknown
  doNotDisturbUntil?: unknown
}) {
  const misplaced =
    body.workflowId === undefined
      ? { frequency: 'applies to one workflow: give its workflowId' }
      : {
          schedule: 'applies to all workflows: omit workflowId',
          doNotDisturbUntil: 'applies to all workflows: omit workflowId',
        }
  const errors: FieldErrors = {}
  for (const [name, words] of Object.entries(misplaced)) {
    if (body[name as keyof typeof body] !== undefined) errors[name] = { messages: [`${name} ${words}`] }
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

/** Without the members that were not given. */
function given<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [Name in keyof Members]?: Exclude<Members[Name], undefined> }
}
