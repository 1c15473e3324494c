// An event as a caller sends it, read part by part: what is well-formed, and what to fix.
import { Type } from 'typebox'
import type { GivenEvent } from '../../accept/judge-events.ts'
import type { EventRequest, Recipient, TenantMention, TopicRecipient } from '../../domain/delivery/event.ts'
import { eventBytesMax, excludedPerTopicMax } from '../../domain/delivery/event.ts'
import { overfull } from '../../domain/parse-in-turns.ts'
import type { SubscriberFields } from '../../domain/people/subscriber.ts'
import { isTopicKey, isTopicRecipient, topicKeyWords } from '../../domain/people/topic.ts'
import type { Turn } from '../../domain/turn.ts'
import { bulkSubscriber, subscriberFields } from '../routes/people/subscriber-schemas.ts'
import { freeObject } from '../schemas.ts'
import { eventValuesMax, fieldsPerObjectMax } from './body-parser.ts'
import { readContext } from './context-request.ts'
import { readAttachments, withoutFiles } from './event-attachments.ts'
import { leastBytesOf, unfitValue } from './event-value.ts'
import { Mistakes } from './mistakes.ts'
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

type Kind = 'named' | 'broadcast'

export function readEvent(given: unknown, source: EventSource = {}, kind: Kind = 'named'): GivenEvent {
  const form = checkForm(given, source, kind)
  return form.mistakes.length > 0 ? refusedEvent(given, form.mistakes) : readParts(given as RawEvent, form, kind)
}

/** The same for one of a large body: it may name a hundred thousand recipients, and each of them is checked. */
export async function readEventInTurns(
  given: unknown,
  source: EventSource,
  turn: Turn,
  kind: Kind,
): Promise<GivenEvent> {
  const form = checkForm(given, source, kind)
  if (turn.isOver()) await turn.next()
  if (form.mistakes.length > 0) return refusedEvent(given, form.mistakes)
  const raw = given as RawEvent
  if (kind === 'broadcast' || !Array.isArray(raw.to)) return readParts(raw, form, kind)
  const named = new NamedRecipients()
  for (const [index, element] of raw.to.entries()) {
    named.add(element, index)
    if (index % recipientsPerLook === 0 && turn.isOver()) await turn.next()
  }
  return readParts(raw, form, kind, named.all())
}

const refusedEvent = (given: unknown, mistakes: readonly string[]): GivenEvent => ({
  mistakes,
  ...echoedTransactionId(given),
})

function readParts(raw: RawEvent, { bytes }: Form, kind: Kind, given?: Recipients): GivenEvent {
  const isBroadcast = kind === 'broadcast'
  const to = given ?? (isBroadcast ? allSubscribers : recipientsOf(raw.to))
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
    return refusedEvent(raw, errorsOf({ to, actor, tenant, context, payload: files }))
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
    ...(bytes === undefined ? {} : { bytes }),
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
  /** Of an event in a large body. */
  readonly bytes?: number
}

const allowed = `at most ${eventBytesMax} are allowed`

const overfullWords =
  `The event contains more than ${eventValuesMax} objects, arrays and strings, ` +
  `or an object with more than ${fieldsPerObjectMax} fields`

const mistaken = (...mistakes: string[]): Form => ({ mistakes })

function checkForm(given: unknown, { plainBytes, isLarge = false }: EventSource, kind: Kind): Form {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return mistaken('The event must be an object')
  if (given === overfull) return mistaken(overfullWords)
  const isPlainAndFits = plainBytes !== undefined && plainBytes <= eventBytesMax
  // Before anything goes through all of it.
  if (
    !isPlainAndFits &&
    isLarge &&
    leastBytesOf(withoutFiles(given as RawEvent), farTooLargeBytes) > farTooLargeBytes
  ) {
    return mistaken(`The event is larger than ${farTooLargeBytes} bytes; ${allowed}`)
  }
  // First of all that may go as deep as the event does.
  const unfit = plainBytes === undefined ? unfitValue(given) : undefined
  if (unfit !== undefined) return mistaken(unfit)
  const errors = kind === 'broadcast' ? checkBroadcast(given) : checkEvent(given)
  if (errors !== undefined) return mistaken(...messagesOf(errors))
  // The whole event, so that nothing in it can grow without a limit: payload, overrides, recipients. Attachments are
  // separate.
  if (isPlainAndFits) return isLarge ? { mistakes: [], bytes: leastBytesOf(given, eventBytesMax) } : mistaken()
  const bytes = Buffer.byteLength(JSON.stringify(withoutFiles(given as RawEvent)))
  if (bytes > eventBytesMax) return mistaken(`The event is ${bytes} bytes; ${allowed}`)
  return isLarge ? { mistakes: [], bytes } : mistaken()
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

/** Between two looks at the clock. */
const recipientsPerLook = 100

/**
 * Valid recipients are notified; invalid ones are ignored with a warning. If none is valid, the event has no
 * recipients.
 */
class NamedRecipients {
  readonly #recipients = new Map<string, Recipient>()
  readonly #topics: TopicRecipient[] = []
  readonly #leftOut: string[] = []
  #unnamed = 0

  add(element: unknown, index: number): void {
    const read = readRecipientOrTopic(element)
    if (read instanceof Mistakes) {
      if (this.#leftOut.length === namedRecipientsMax) this.#unnamed += 1
      else this.#leftOut.push(`to.${index} was ignored: ${read.messages.join('; ')}`)
    } else if ('topicKey' in read) this.#topics.push(read)
    // One run a subscriber; of several definitions the last one counts.
    else this.#recipients.set(read.subscriberId, read)
  }

  all(): Recipients {
    const unnamed = this.#unnamed === 0 ? [] : [`${this.#unnamed} more recipients were ignored`]
    const warnings = [...this.#leftOut, ...unnamed]
    return { recipients: [...this.#recipients.values()], topics: this.#topics, warnings }
  }
}

function recipientsOf(to: unknown): Recipients | Mistakes {
  if (!Array.isArray(to)) return readSingleRecipient(to)
  const named = new NamedRecipients()
  for (const [index, element] of to.entries()) named.add(element, index)
  return named.all()
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
  const one = given as { subscriberId: string } & SubscriberFields & Partial<Pick<Recipient, 'channels'>>
  const fields = fieldNames.filter((name) => one[name] !== undefined).map((name) => [name, one[name]])
  return {
    subscriberId: one.subscriberId.trim(),
    fields: Object.fromEntries(fields) as SubscriberFields,
    channels: one.channels ?? [],
  }
}

function readTenant(given: unknown): TenantMention | Mistakes {
  const tenant = typeof given === 'string' ? { identifier: given } : (given as TenantMention)
  const errors = checkTenant(tenant)
  if (errors !== undefined) return new Mistakes(messagesOf(errors))
  const { identifier, name, data } = tenant
  return { identifier, ...(name === undefined ? {} : { name }), ...(data === undefined ? {} : { data }) }
}
