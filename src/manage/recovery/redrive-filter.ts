// The filter of a redrive: whether it can mean anything, and the same in our own ids.
import type { Sql } from '../../db/sql.ts'
import type { RedriveBounds, RedriveFilter } from '../../domain/delivery/redrive.ts'
import { firstIdAt } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { invalid } from '../../domain/problem.ts'
import { parameterTime, timestampMistake } from '../../domain/time/timestamp-parameter.ts'
import { nearestProvider, providerOf } from '../../providers/registry.ts'
import { findEventIds } from '../../store/events/events.ts'
import { findSubscriberIds } from '../../store/people/subscribers.ts'
import { findWorkflowsByIdentifier } from '../../store/workflows/workflows.ts'

/**
 * Throws 422 with every field that cannot be meant: a filter that matches nothing because of a typo must not look like
 * success.
 */
export async function boundsOf(db: Sql, environment: Environment, filter: RedriveFilter): Promise<RedriveBounds> {
  const errors: FieldErrors = {}
  const refuse = (field: string, message: string, value: unknown): void => {
    errors[field] = { messages: [message], value }
  }
  if (Object.values(filter).every((value) => value === undefined)) {
    refuse('filter', 'filter must have at least one field: redriving every failure at once is not supported', filter)
  }
  const { workflow, channel, providerId, reason, errorContains, subscriberId, transactionId } = filter
  const from = timestampIn('filter.from', filter.from, refuse)
  const to = timestampIn('filter.to', filter.to, refuse)
  if (from !== undefined && to !== undefined && from >= to) {
    refuse('filter.to', 'filter.to must be after filter.from', filter.to)
  }
  const provider = providerId === undefined ? undefined : providerOf(providerId)
  if (providerId !== undefined && provider === undefined) {
    const near = nearestProvider(providerId, channel)
    const meant = near === undefined ? '' : `; did you mean ${near.id}?`
    refuse('filter.providerId', `Unknown provider ${providerId}${meant}`, providerId)
  }
  if (provider !== undefined && channel !== undefined && provider.channel !== channel) {
    refuse('filter.channel', `${provider.id} is a provider for ${provider.channel}, not for ${channel}`, channel)
  }
  const found = workflow === undefined ? [] : await findWorkflowsByIdentifier(db, environment, [workflow])
  if (workflow !== undefined && found.length === 0) {
    refuse('filter.workflow', `No workflow has the identifier ${workflow}`, workflow)
  }
  const people = subscriberId === undefined ? undefined : await findSubscriberIds(db, environment, [subscriberId])
  const personId = subscriberId === undefined ? undefined : people?.get(subscriberId)
  if (subscriberId !== undefined && personId === undefined) {
    refuse('filter.subscriberId', `Subscriber ${subscriberId} was not found`, subscriberId)
  }
  const events = transactionId === undefined ? undefined : await findEventIds(db, environment, [transactionId])
  const eventId = transactionId === undefined ? undefined : events?.get(transactionId)
  if (transactionId !== undefined && eventId === undefined) {
    refuse('filter.transactionId', `No event has the transactionId ${transactionId}`, transactionId)
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
  return withoutAbsent({
    channel,
    providerId,
    reason,
    errorContains,
    workflowId: found[0]?.id,
    subscriberId: personId,
    eventId,
    fromId: from && firstIdAt(from),
    beforeId: to && firstIdAt(to),
  })
}

function timestampIn(
  field: string,
  text: string | undefined,
  refuse: (field: string, message: string, value: unknown) => void,
): Date | undefined {
  if (text === undefined) return undefined
  const at = parameterTime(text)
  if (at === undefined) refuse(field, timestampMistake(field), text)
  return at
}

type Given<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> }

export function withoutAbsent<Members extends object>(members: Members): Given<Members> {
  const given = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as Given<Members>
}
