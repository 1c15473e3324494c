// Preferences of a single subscription to a topic, as calls name them.
import { Type } from 'typebox'
import { invalidField } from '../../../domain/problem.ts'

/** Read only to be rejected: accepted silently they would do nothing. */
export const subscriptionPreferences = Type.Optional(
  Type.Array(Type.Unknown(), {
    description: 'Preferences of a single subscription are not supported yet: leave it empty.',
  }),
)

export function refusePreferences(given: readonly unknown[] | undefined): void {
  if (given === undefined || given.length === 0) return
  throw invalidField('preferences', 'preferences of a subscription are not supported; use /v1/inbox/preferences')
}
