// Triggering events: /v1/events/trigger, one or many.
import { Type } from 'typebox'
import type { GivenEvent } from '../../../accept/judge-events.ts'
import type { Answer, Warning } from '../../../domain/answer.ts'
import { ok } from '../../../domain/answer.ts'
import type { TriggerResult } from '../../../domain/delivery/event.ts'
import { eventsPerCallMax, triggerStatuses, workflowNotFound } from '../../../domain/delivery/event.ts'
import { invalid } from '../../../domain/problem.ts'
import { Turn } from '../../../domain/turn.ts'
import type { UnknownMember } from '../../../domain/unknown-members.ts'
import { isLargeBody, plainBytesOf } from '../../request/body-parser.ts'
import type { EventSource } from '../../request/event-request.ts'
import { readEvent, readEventInTurns } from '../../request/event-request.ts'
import { route } from '../../route.ts'
import { freeObject, literals } from '../../schemas.ts'
import { refusalOf, unknownMemberWarning, unknownMemberWords } from '../../warnings.ts'
import { eventMemberSchemas, unknownInEvent } from './event-members.ts'
import { shownOverrides, shownPayload, shownRecipients } from './event-schemas.ts'

/** 18 MB of attachments are 24 MB in base64; the rest is for everything else. */
const bulkBodyLimitBytes = 26 * 1024 * 1024

export const triggerResult = Type.Object(
  {
    acknowledged: Type.Boolean({ description: 'Always true: the event was received, whatever its status.' }),
    status: literals(triggerStatuses, { description: '`processed`, or why the event does not run.' }),
    error: Type.Optional(Type.Array(Type.String(), { description: 'What is wrong.' })),
    transactionId: Type.Optional(Type.String({ description: 'Identifies the event in later requests.' })),
  },
  {
    title: 'TriggerResult',
    examples: [{ acknowledged: true, status: 'processed', transactionId: 'order-7-shipped' }],
  },
)

const example = {
  name: 'order-shipped',
  to: [{ subscriberId: 'user-1', email: 'ada@example.com' }],
  payload: { order: { id: 7 } },
  transactionId: 'order-7-shipped',
}

export const eventMembers = {
  name: Type.String({ description: 'The identifier of the workflow.' }),
  to: Type.Unsafe<unknown>({
    description:
      'A subscriberId, a subscriber (created or updated first; null clears a field), a topic `{"type": "Topic", "topicKey": "…", "exclude": ["…"]}`, or an array of these. Each person is notified once.',
  }),
  payload: Type.Optional(freeObject({ description: 'Data for conditions and templates.' })),
  overrides: Type.Optional(freeObject({ description: 'Settings of this event that override the workflow.' })),
  transactionId: Type.Optional(
    Type.String({ description: 'An id of your choice. An event with an id that was used before does not run again.' }),
  ),
  actor: Type.Optional(
    Type.Unsafe<unknown>({
      description: 'Who caused the event: a subscriberId or a subscriber. Not notified through topics.',
    }),
  ),
  tenant: Type.Optional(Type.Unsafe<unknown>({ description: 'The tenant: an identifier, or a tenant object.' })),
  context: Type.Optional(
    freeObject({ description: 'What the event is about: type to id, or type to `{"id", "data"}`; at most 5.' }),
  ),
}

/** What the document shows: everything that is understood. */
const shownMembers = {
  ...eventMembers,
  to: shownRecipients,
  payload: Type.Optional(shownPayload),
  overrides: Type.Optional(shownOverrides),
}

const shared = { tag: 'Events', category: 'trigger', scope: 'trigger', judgesText: 'event' } as const

const { to: _to, ...broadcast } = eventMembers
const { to: _recipients, ...broadcastExample } = example
const { to: _shown, ...shownBroadcast } = shownMembers
const shownEvent = Type.Object(shownMembers, { title: 'TriggerEvent', examples: [example] })

export const eventRoutes = [
  route({
    ...shared,
    method: 'POST',
    path: '/v1/events/trigger',
    operationId: 'triggerEvent',
    summary: 'Trigger an event',
    description: 'Responds as soon as the event is committed. `GET /v1/events/{transactionId}` reports its progress.',
    bodyLimitBytes: bulkBodyLimitBytes,
    body: Type.Unsafe<unknown>({
      type: 'object',
      properties: eventMembers,
      required: ['name', 'to'],
      title: 'TriggerEvent',
      examples: [example],
    }),
    shownBody: shownEvent,
    memberSchema: () => Type.Object(eventMemberSchemas()),
    replies: { 201: triggerResult },
    errors: [413],
    handle: async ({ triggers }, { principal, body, unknownMembers, idempotency, traceparent }) => {
      const event = withUnknown(await readOne(body), unknownMembers)
      return throwIfRejected(await triggers.single(principal.environment, { event, idempotency, traceparent }))
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/events/trigger/bulk',
    operationId: 'triggerEventsInBulk',
    summary: 'Trigger up to 100 events',
    description:
      'Each event is checked separately; an invalid one does not affect the others. Results are in the order of the events.',
    cost: 100,
    judgesText: 'events',
    bodyLimitBytes: bulkBodyLimitBytes,
    body: Type.Object(
      {
        events: Type.Array(
          // No more is asked of it here: one ill-formed event must not cost the call.
          Type.Unsafe<unknown>({ description: 'As for triggering one: `name` and `to` are required.' }),
          { minItems: 1, maxItems: eventsPerCallMax },
        ),
      },
      { title: 'TriggerEventsInBulk', examples: [{ events: [example] }] },
    ),
    // Each event is looked through by itself.
    memberSchema: () => Type.Object({ events: Type.Unsafe<unknown>({}) }),
    shownBody: Type.Object(
      { events: Type.Array(shownEvent, { minItems: 1, maxItems: eventsPerCallMax }) },
      { title: 'TriggerEventsInBulk', examples: [{ events: [example] }] },
    ),
    replies: { 201: Type.Array(triggerResult) },
    errors: [413],
    handle: async ({ triggers, unknownMembers }, { principal, body, idempotency, traceparent }) => {
      const source = sourceOf(body)
      const read = source.isLarge ? await readInTurns(body.events, source) : readAtOnce(body.events, source)
      const { events, warnings } = await lookThrough(body.events, read, unknownMembers)
      const answer = await triggers.bulk(principal.environment, { events, idempotency, traceparent })
      return warnings.length === 0 ? answer : { ...answer, warnings: [...warnings, ...(answer.warnings ?? [])] }
    },
  }),
  route({
    ...shared,
    method: 'POST',
    path: '/v1/events/trigger/broadcast',
    operationId: 'broadcastEvent',
    summary: 'Trigger an event for every subscriber',
    description:
      'Runs the workflow for every subscriber of the environment, in batches. `GET /v1/events/{transactionId}` reports its progress.',
    cost: 100,
    bodyLimitBytes: bulkBodyLimitBytes,
    body: Type.Unsafe<unknown>({
      type: 'object',
      properties: broadcast,
      required: ['name'],
      title: 'BroadcastEvent',
      examples: [broadcastExample],
    }),
    memberSchema: () => Type.Object(broadcastMembers()),
    shownBody: Type.Object(shownBroadcast, { title: 'BroadcastEvent', examples: [broadcastExample] }),
    replies: { 201: triggerResult },
    errors: [413],
    handle: async ({ triggers }, { principal, body, unknownMembers, idempotency, traceparent }) => {
      const event = withUnknown(await readOne(body, 'broadcast'), unknownMembers)
      return throwIfRejected(await triggers.single(principal.environment, { event, idempotency, traceparent }))
    },
  }),
  route({
    ...shared,
    method: 'DELETE',
    path: '/v1/events/trigger/{transactionId}',
    operationId: 'cancelEvent',
    summary: 'Cancel an event',
    description:
      'Cancels everything that has not started: waiting steps, digests, and recipients that are not yet resolved. Returns false if nothing was left to cancel.',
    params: Type.Object({
      transactionId: Type.String({ maxLength: 255, description: 'As given in the trigger, or returned by it.' }),
    }),
    replies: { 200: Type.Boolean() },
    handle: async ({ triggers }, { principal, params }) =>
      ok(await triggers.cancel(principal.environment, params.transactionId)),
  }),
]

const sourceOf = (body: unknown): EventSource => ({ plainBytes: plainBytesOf(body), isLarge: isLargeBody(body) })

/** A file that was decoded and one that is written are two turns. */
async function readOne(body: unknown, kind: 'named' | 'broadcast' = 'named'): Promise<GivenEvent> {
  const source = sourceOf(body)
  if (source.isLarge !== true) return readEvent(body, source, kind)
  const turn = new Turn()
  const event = await readEventInTurns(body, source, turn, kind)
  if (turn.isOver()) await turn.next()
  return event
}

const readAtOnce = (events: readonly unknown[], source: EventSource): GivenEvent[] =>
  events.map((given) => readEvent(given, source))

async function readInTurns(events: readonly unknown[], source: EventSource): Promise<GivenEvent[]> {
  const turn = new Turn()
  const read: GivenEvent[] = []
  for (const given of events) {
    read.push(await readEventInTurns(given, source, turn, 'named'))
    if (turn.isOver()) await turn.next()
  }
  return read
}

function broadcastMembers() {
  const { to: _to, ...members } = eventMemberSchemas()
  return members
}

/** What was not understood is stored with the event, so that the activity shows it. */
function withUnknown(event: GivenEvent, unknown: readonly UnknownMember[]): GivenEvent {
  if (unknown.length === 0 || !('request' in event)) return event
  return { ...event, warnings: [...unknown.map(unknownMemberWords), ...event.warnings] }
}

/** Refused or reported, each event for itself. */
async function lookThrough(
  given: readonly unknown[],
  read: readonly GivenEvent[],
  then: 'warn' | 'refuse',
): Promise<{ events: readonly GivenEvent[]; warnings: readonly Warning[] }> {
  const turn = new Turn()
  const unknown: UnknownMember[][] = []
  for (const [index, event] of given.entries()) {
    unknown.push(unknownInEvent(event, index))
    if (turn.isOver()) await turn.next()
  }
  if (unknown.every((members) => members.length === 0)) return { events: read, warnings: [] }
  const events = read.map((event, index): GivenEvent => {
    const members = unknown[index] ?? []
    if (then === 'warn' || members.length === 0) return withUnknown(event, members)
    const refusals = members.map(refusalOf)
    if ('mistakes' in event) return { ...event, mistakes: [...event.mistakes, ...refusals] }
    const { transactionId } = event.request
    return { mistakes: refusals, ...(transactionId === undefined ? {} : { transactionId }) }
  })
  return { events, warnings: unknown.flat().map(unknownMemberWarning) }
}

/** A single event that cannot run is a client error. */
export function throwIfRejected(answer: Answer<TriggerResult>): Answer<TriggerResult> {
  if (answer.body.status !== 'error') return answer
  const mistakes = answer.body.error ?? []
  // Clients compare this word; what it means stands beside it.
  const message = mistakes[0] === workflowNotFound ? workflowNotFound : mistakes.join('; ')
  throw invalid({ event: { messages: [...mistakes] } }, message)
}
