// How much of everything a planned load holds.
import { mailsOwed, recipientsOf } from './owed.ts'
import { isMover, knownIds } from './people.ts'
import type { PlannedCall } from './plan.ts'
import { workflowOf } from './workflows.ts'

export function mixtureOf(calls: readonly PlannedCall[]): Record<string, number> {
  const events = calls.flatMap((call) => call.events)
  const given = events.flatMap(({ recipients }) => recipients).filter((recipient) => recipient.given !== undefined)
  const known = new Set(knownIds)
  const suppressed = events.flatMap((event) =>
    recipientsOf(event).filter(
      (recipient) => workflowOf(event.workflow).owed.mails.length > 0 && mailsOwed(event, recipient).length === 0,
    ),
  )
  return {
    calls: calls.length,
    'with a key': calls.filter(({ key }) => key !== undefined).length,
    'by a key alone': calls.filter(({ events: [first] }) => first?.transactionId === undefined).length,
    'sent by two at once': calls.filter(({ senders }) => senders === 2).length,
    'people given with fields': given.length,
    'of them new': given.filter(({ subscriberId }) => !known.has(subscriberId)).length,
    'with a new address': given.filter(({ subscriberId }) => isMover(subscriberId)).length,
    actors: events.filter(({ actor }) => actor !== undefined).length,
    tenants: events.filter(({ tenant }) => tenant !== undefined).length,
    contexts: events.filter(({ context }) => context !== undefined).length,
    'long texts': events.filter(({ textLength }) => textLength !== undefined).length,
    'e-mails suppressed': suppressed.length,
  }
}
