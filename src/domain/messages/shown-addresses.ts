// Messages for callers who may not see by what people are reached: device tokens, webhook addresses, links that unsubscribe.
import type { Answer } from '../answer.ts'
import type { Principal } from '../environment.ts'
import { mayUse } from '../environment.ts'
import { unsubscribePath } from '../preferences/unsubscribe-token.ts'
import { mapInTurns } from '../turn.ts'
import type { Message } from './message-views.ts'

export const struckOut = '[redacted]'

/** Each is a capability: to send to a person, or to unsubscribe them. They are shown to full keys only. */
export const seesAddresses = (principal: Principal): boolean => mayUse(principal, 'full')

/** The token of a link, also where it was cut off. */
const link = new RegExp(`(${unsubscribePath}/)[\\w-]{8,}`, 'g')

export function textWithoutLinks(text: string): string {
  // Hardly any text contains one, and searching for the word is fast.
  return text.includes('unsubscribe') ? text.replace(link, `$1${struckOut}`) : text
}

/** Any value as JSON holds it, with every text in it. */
function withoutLinks<Value>(value: Value): Value {
  if (typeof value === 'string') return textWithoutLinks(value) as Value
  if (Array.isArray(value)) return value.map(withoutLinks) as Value
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutLinks(member)])) as Value
}

/** A message, or an item of a feed. */
interface Said extends Pick<Message, 'overrides' | 'cta'> {
  readonly directWebhookUrl?: string | undefined
  readonly content?: unknown
  readonly subject?: string | null | undefined
  readonly title?: string | null | undefined
  readonly payload: Readonly<Record<string, unknown>>
  readonly data?: unknown
  readonly deviceTokens?: readonly string[] | null | undefined
}

export function messageWithoutAddresses<Shown extends Said>(message: Shown): Shown {
  const { content, subject, title, directWebhookUrl, deviceTokens, payload, overrides, cta, data } = message
  return {
    ...message,
    ...(content === undefined ? {} : { content: withoutLinks(content) }),
    ...(subject === undefined ? {} : { subject: withoutLinks(subject) }),
    ...(title === undefined ? {} : { title: withoutLinks(title) }),
    ...(directWebhookUrl === undefined ? {} : { directWebhookUrl: undefined }),
    ...(deviceTokens ? { deviceTokens: undefined } : {}),
    cta: withoutLinks(cta),
    ...(data === undefined ? {} : { data: withoutLinks(data) }),
    payload: payloadWithoutAddress(payload),
    overrides: overridesWithoutAddresses(overrides),
  }
}

/** What a change of messages, or of items of a feed, is answered with, for this principal. */
export async function marksAnsweredTo<Body extends object>(
  principal: Principal,
  answer: Answer<Body>,
): Promise<Answer<Body>> {
  if (seesAddresses(principal)) return answer
  const { body } = answer
  const shown = Array.isArray(body) ? await mapInTurns(body, itemWithoutAddresses) : itemWithoutAddresses(body)
  return { ...answer, body: shown as Body }
}

function itemWithoutAddresses(item: object): object {
  const { directWebhookUrl: _url, deviceTokens: _tokens, ...rest } = withoutLinks(item) as Partial<Said>
  const { payload, overrides } = rest
  return {
    ...rest,
    ...(payload === undefined ? {} : { payload: payloadWithoutAddress(payload) }),
    ...(overrides === undefined ? {} : { overrides: overridesWithoutAddresses(overrides) }),
  }
}

/** The one field by which a payload may choose the destination of chat messages. */
export function payloadWithoutAddress<Payload extends object>(payload: Payload): Payload {
  return Object.hasOwn(payload, 'webhookUrl') ? { ...payload, webhookUrl: struckOut } : payload
}

/** What an event may name in place of the stored value. */
const addressNames: ReadonlySet<string> = new Set(['webhookUrl', 'deviceTokens'])

/** By the overrides of an event: they are shown with each of its steps and messages, and searched once. */
const searchedOverrides = new WeakMap<object, object>()

/** By provider, by channel or by step: addresses are found however deep they lie. */
export function overridesWithoutAddresses<Overrides extends object>(overrides: Overrides): Overrides {
  const shown = searchedOverrides.get(overrides) ?? withoutAddresses(overrides)
  searchedOverrides.set(overrides, shown)
  return shown as Overrides
}

function withoutAddresses<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutAddresses) as Value
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      addressNames.has(name) ? struck(member) : withoutAddresses(member),
    ]),
  ) as Value
}

const struck = (value: unknown): unknown => (Array.isArray(value) ? value.map(() => struckOut) : struckOut)

interface Worked {
  readonly overrides: object
  readonly payload: object
  readonly digest?: undefined | { readonly events: readonly object[] }
}

/** A job of the activity. */
export function jobWithoutAddresses<Shown extends Worked>(job: Shown): Shown {
  const { overrides, payload, digest } = job
  return {
    ...job,
    overrides: overridesWithoutAddresses(overrides),
    payload: payloadWithoutAddress(payload),
    ...(digest === undefined ? {} : { digest: { ...digest, events: digest.events.map(payloadWithoutAddress) } }),
  }
}

/** What a provider would have received: for chat and push without the destination, for e-mail without its links. */
export function outboundWithoutAddresses<Outbound extends object>(message: Outbound): Outbound {
  const struckMembers = Object.keys(message).filter((name) => outboundNames.has(name))
  const { payload } = message as { payload?: unknown }
  return {
    ...withoutLinks(message),
    // That of the event, where a provider is given it.
    ...(typeof payload === 'object' && payload !== null
      ? { payload: payloadWithoutAddress(withoutLinks(payload)) }
      : {}),
    ...Object.fromEntries(struckMembers.map((name) => [name, struckOut])),
  }
}

const outboundNames: ReadonlySet<string> = new Set(['target', 'webhookUrl', 'channel', 'entry', 'passthrough'])
