// Preferences of a single subscription to a topic, as calls give and see them.
import { Type } from 'typebox'
import type { GivenPreference } from '../../../domain/preferences/subscription-preferences.ts'
import { subscriptionChoicesMax } from '../../../domain/preferences/subscription-preferences.ts'
import { invalidField } from '../../../domain/problem.ts'
import { briefWorkflow } from './preference-schemas.ts'

/** A rule has one member, named like its operator. */
export const condition = Type.Unsafe<Readonly<Record<string, unknown>> | null>({
  type: ['object', 'null'],
  additionalProperties: true,
  description:
    'JSON logic over `payload`, `subscriber`, `actor` and `context`, evaluated when an event goes to the topic. Of the actor it sees `subscriberId`, `firstName`, `lastName` and `avatar`. If given, `enabled` does not count.',
  examples: [{ '==': [{ var: 'payload.priority' }, 'high'] }],
})

const names = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: subscriptionChoicesMax })

/** One type list instead of a union, for short error messages. */
const givenPreference = Type.Unsafe<GivenPreference>({
  type: ['string', 'object'],
  minLength: 1,
  maxLength: 255,
  properties: {
    workflowId: Type.String({ minLength: 1, maxLength: 255, description: 'The workflow’s id or identifier.' }),
    filter: Type.Object(
      { workflowIds: Type.Optional(names), tags: Type.Optional(names) },
      { description: 'All workflows that are named or have one of the tags, as they are now.' },
    ),
    enabled: Type.Boolean({ description: 'Whether events of these workflows reach the subscriber through the topic.' }),
    condition,
  },
})

export const subscriptionPreferences = Type.Optional(
  Type.Array(givenPreference, {
    maxItems: subscriptionChoicesMax,
    description:
      'What the subscriber wants to hear of through this subscription: ids or identifiers of workflows, or objects with `workflowId` or `filter`. A workflow that is not named is wanted.',
    examples: [[{ workflowId: 'comment-added', enabled: false }]],
  }),
)

/** What the type list cannot say. */
export function readPreferences(given: readonly GivenPreference[] | undefined): readonly GivenPreference[] | undefined {
  for (const [place, one] of (given ?? []).entries()) {
    if (typeof one === 'string' || 'workflowId' in one !== 'filter' in one) continue
    throw invalidField(`preferences.${place}`, `preferences.${place} must have either workflowId or filter`)
  }
  return given
}

export const shownSubscriptionPreferences = Type.Optional(
  Type.Array(
    Type.Object(
      {
        subscriptionId: Type.String(),
        enabled: Type.Boolean(),
        condition: Type.Optional(
          Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
        ),
        workflow: briefWorkflow,
      },
      { title: 'SubscriptionPreference' },
    ),
    { description: 'Absent where there are none: everything that the topic is sent is wanted.' },
  ),
)
