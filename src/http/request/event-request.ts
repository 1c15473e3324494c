// An event as a caller sends it, read part by part: what is well-formed, and what to fix.
import { Type } from 'typebox'
import type { GivenEvent } from '../../accept/judge-events.ts'
import type { EventRequest, Recipient, TenantMention, TopicRecipient } from '../../domain/delivery/event.ts'
import { eventBytesMax, excludedPerTopicMax } from '../../domain/delivery/event.ts'
import type { SubscriberFields } from '../../domain/people/subscriber.ts'
import { isTopicKey, isTopicRecipient, topicKeyWords } from '../../domain/people/topic.ts'
import { bulkSubscriber, subscriberFields } from '../routes/people/subscriber-schemas.ts'
import { freeObject } from '../schemas.ts'
import { eventValuesMax } from './body-parser.ts'
import { readContext } from './context-request.ts'
import { readAttachments, withoutFiles } from './event-attachments.ts'
import { leastBytesOf, unfitValue } from './event-value.ts'
import { Mistakes } from './mistakes.ts'
import { overfull } from './parse-in-turns.ts'
import { elementCheck } from './validator.ts'

/** Up to here the size of an event is reported; beyond it is not worth counting. */
const farTooLargeBytes = 8 * eventBytesMax
const transactionIdLengthMax = 255
/** A recipient that is left out is named up to here; more are only counted. */
const namedRecipientsMax = 10

const eventMembers = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  payload: Type.Optional(freeObject()),
  overrides: Type.Optional(freeObject()),
  transactionId: Type.Optional(Type.String({ minLength: 1, maxLength: transactionIdLengthMax, pattern: '^\\P{Cc}+$' })),
  actor: Type.Optional(Type.Unsafe<unknown>({ type: ['string', 'object'] })),
  tenant: Type.Optional(Type.Unsafe<unknown>({ type: ['string', 'object'] })),
  context: Type.Optional(freeObject()),
}
const checkEvent = elementCheck(
  Type.Object({ ...eventMembers, to: Type.Unsafe<unknown>({ type: ['string', 'object', 'array'] }) }),
)
const checkBroadcast = elementCheck(Type.Object(eventMembers))
const allSubscribers: Recipients = { recipients: [], topics: [], warnings: [] }
const checkRecipient = elementCheck(bulkSubscriber)
const checkTenant = elementCheck(
  Type.Object({
    identifier: Type.String({ minLength: 1, maxLength: 255, pattern: '^\\P{Cc}+$' }),
    name: Type.Optional(Type.String({ maxLength: 255 })),
    data: Type.Optional(freeObject()),
  }),
)
const checkTopic = elementCheck(
  Type.Object({
    topicKey: Type.String({ minLength: 1 }),
    exclude: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: excludedPerTopicMax }),
    ),
  }),
)

interface RawEvent {
  readonly name: string
  readonly to: unknown
  readonly payload?: Record<string, unknown>
  readonly overrides?: Record<string, unknown>
  readonly transactionId?: string
  readonly actor?: unknown
  readonly tenant?: unknown
  readonly context?: Record<string, unknown>
}

/** What is known about the body that an event came in. */
export interface EventSource {
  /** Its size, or that of the largest event in it, if nothing in it needs judging (see plainBytesOf). */
  readonly plainBytes?: number | undefined
  /** It may hold more than should be looked at. */
  readonly isLarge?: boolean
}

export function readEvent(given: unknown, source: EventSource = {}, kind: 'named' | 'broadcast' = 'named'): GivenEvent {
  const { mistakes, bytes } = checkForm(given, source, kind === 'broadcast' ? checkBroadcast : checkEvent)
  if (mistakes.length > 0) return { mistakes, ...echoedTransactionId(given) }
  const raw = given as RawEvent
  const isBroadcast = kind === 'broadcast'
  const to = isBroadcast ? allSubscribers : Array.isArray(raw.to) ? readRecipients(raw.to) : readSingleRecipient(raw.to)
  const actor = raw.actor === undefined ? undefined : readRecipient(raw.actor)
  const tenant = raw.tenant === undefined ? undefined : readTenant(raw.tenant)
  const context = readContext(raw.context ?? {})
  const files = readAttachments(raw.payload ?? {})
  if (
    to instanceof Mistakes ||
    actor instanceof Mistakes ||
    tenant instanceof Mistakes ||
    context instanceof Mistakes ||
    files instanceof Mistakes
  ) {
    return { mistakes: errorsOf({ to, actor, tenant, context, payload: files }), ...echoedTransactionId(given) }
  }
  const request: EventRequest = {
    name: raw.name,
    payload: files.payload,
    attachments: files.attachments,
    isBroadcast,
    overrides: raw.overrides ?? {},
    recipients: to.recipients,
    topics: to.topics,
    context,
    ...(raw.transactionId === undefined ? {} : { transactionId: raw.transactionId }),
    ...(actor === undefined ? {} : { actor }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(source.isLarge === true && bytes !== undefined ? { bytes } : {}),
  }
  return { request, warnings: to.warnings }
}

/** Each mistake under the name of its part. */
function errorsOf(parts: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(parts).flatMap(([name, part]) =>
    part instanceof Mistakes ? part.messages.map((message) => `${name}: ${message}`) : [],
  )
}

interface Form {
  readonly mistakes: string[]
  /** Where it was worth counting. */
  readonly bytes?: number
}

const allowed = `at most ${eventBytesMax} are allowed`

const mistaken = (...mistakes: string[]): Form => ({ mistakes })

function checkForm(given: unknown, { plainBytes, isLarge }: EventSource, check: typeof checkEvent): Form {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return mistaken('The event must be an object')
  if (given === overfull) return mistaken(`The event contains more than ${eventValuesMax} objects, arrays and strings`)
  const isPlainAndFits = plainBytes !== undefined && plainBytes <= eventBytesMax
  // Before anything goes through all of it.
  if (
    !isPlainAndFits &&
    isLarge === true &&
    leastBytesOf(withoutFiles(given as RawEvent), farTooLargeBytes) > farTooLargeBytes
  ) {
    return mistaken(`The event is larger than ${farTooLargeBytes} bytes; ${allowed}`)
  }
  // First of all that may go as deep as the event does.
  const unfit = plainBytes === undefined ? unfitValue(given) : undefined
  if (unfit !== undefined) return mistaken(unfit)
  const errors = check(given)
  if (errors !== undefined) return mistaken(...messagesOf(errors))
  // The whole event, so that nothing in it can grow without a limit: payload, overrides, recipients. Attachments are
  // separate.
  if (isPlainAndFits) return isLarge === true ? { mistakes: [], bytes: leastBytesOf(given, eventBytesMax) } : mistaken()
  const bytes = Buffer.byteLength(JSON.stringify(withoutFiles(given as RawEvent)))
  return bytes <= eventBytesMax ? { mistakes: [], bytes } : mistaken(`The event is ${bytes} bytes; ${allowed}`)
}

function messagesOf(errors: Readonly<Record<string, { messages: readonly string[] }>>): string[] {
  return Object.values(errors).flatMap((error) => error.messages)
}

function echoedTransactionId(given: unknown): { transactionId?: string } {
  const transactionId = (given as { transactionId?: unknown } | null)?.transactionId
  const fits = typeof transactionId === 'string' && transactionId.length <= transactionIdLengthMax
  return fits && transactionId.isWellFormed() ? { transactionId } : {}
}

interface Recipients {
  readonly recipients: readonly Recipient[]
  readonly topics: readonly TopicRecipient[]
  readonly warnings: readonly string[]
}

/**
 * Valid recipients are notified; invalid ones are ignored with a warning. If none is valid, the event has no
 * recipients.
 */
function readRecipients(to: readonly unknown[]): Recipients {
  const recipients = new Map<string, Recipient>()
  const topics: TopicRecipient[] = []
  const leftOut: string[] = []
  for (const [index, element] of to.entries()) {
    const read = readRecipientOrTopic(element)
    if (read instanceof Mistakes) leftOut.push(`to.${index} was ignored: ${read.messages.join('; ')}`)
    else if ('topicKey' in read) topics.push(read)
    // One run a subscriber; of several definitions the last one counts.
    else recipients.set(read.subscriberId, read)
  }
  const unnamed = leftOut.length - namedRecipientsMax
  const warnings = leftOut.slice(0, namedRecipientsMax)
  if (unnamed > 0) warnings.push(`${unnamed} more recipients were ignored`)
  return { recipients: [...recipients.values()], topics, warnings }
}

/** A single recipient: there is no one else for whom the event could run without them. */
function readSingleRecipient(to: unknown): Recipients | Mistakes {
  const read = readRecipientOrTopic(to)
  if (read instanceof Mistakes) return read
  return 'topicKey' in read
    ? { recipients: [], topics: [read], warnings: [] }
    : { recipients: [read], topics: [], warnings: [] }
}

function readRecipientOrTopic(element: unknown): Recipient | TopicRecipient | Mistakes {
  return isTopic(element) ? readTopic(element) : readRecipient(element)
}

function isTopic(element: unknown): element is Record<string, unknown> {
  return typeof element === 'object' && element !== null && isTopicRecipient(element)
}

function readTopic(element: Record<string, unknown>): TopicRecipient | Mistakes {
  const errors = checkTopic(element)
  if (errors !== undefined) return new Mistakes(messagesOf(errors))
  const { topicKey, exclude = [] } = element as { topicKey: string; exclude?: string[] }
  if (!isTopicKey(topicKey)) return new Mistakes([`topicKey ${topicKeyWords}`])
  return { topicKey, exclude }
}

const fieldNames = Object.keys(subscriberFields) as (keyof SubscriberFields)[]

function readRecipient(element: unknown): Recipient | Mistakes {
  const given = typeof element === 'string' ? { subscriberId: element } : element
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return new Mistakes(['must be a subscriberId, a subscriber or a topic'])
  }
  const errors = checkRecipient(given)
  if (errors !== undefined) return new Mistakes(messagesOf(errors))
  const { subscriberId, channels, ...rest } = given as { subscriberId: string } & SubscriberFields &
    Partial<Pick<Recipient, 'channels'>>
  const fields = fieldNames.filter((name) => rest[name] !== undefined).map((name) => [name, rest[name]])
  return {
    subscriberId: subscriberId.trim(),
    fields: Object.fromEntries(fields) as SubscriberFields,
    channels: channels ?? [],
  }
}

function readTenant(given: unknown): TenantMention | Mistakes {
  const tenant = typeof given === 'string' ? { identifier: given } : (given as TenantMention)
  const errors = checkTenant(tenant)
  if (errors !== undefined) return new Mistakes(messagesOf(errors))
  const { identifier, name, data } = tenant
  return { identifier, ...(name === undefined ? {} : { name }), ...(data === undefined ? {} : { data }) }
}
