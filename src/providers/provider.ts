// A provider: code that knows one vendor's protocol.
import type { Channel, CredentialKey, Credentials } from '../domain/delivery/integration.ts'
import type { Outcome } from '../domain/delivery/outcome.ts'
import { unsure } from '../domain/delivery/outcome.ts'
import type { MessageByChannel, OutboundMessage, SendingChannel } from '../domain/messages/outbound-message.ts'
import { OutboundError } from '../world/outbound/outbound-error.ts'
import type { World } from '../world/world.ts'
import type { CredentialForm, CredentialsOf } from './form.ts'
import { withoutSecrets } from './form.ts'
import type { Polling, ReceiptReader, ReplyReader } from './inbound/receipt.ts'
import type { Limits } from './limits.ts'
import { beyondLimits } from './limits.ts'
import { detailBytesMax, providerMessageIdBytesMax, storable } from './words.ts'

/** Whether an account is valid; in the provider's own words if it is not. */
export type CheckResult =
  | { readonly kind: 'good' }
  | {
      readonly kind: 'bad'
      readonly words: string /** The field to fix, if the response says so. */
      readonly field?: CredentialKey
    }

/** Below the 20 s that a call may take in total, so that the provider itself reports how a slow one ended. */
export const sendTimeoutMs = 19_000

/** What a provider of this channel is given to send. */
export type MessageOf<Kind extends Channel> = Kind extends SendingChannel ? MessageByChannel[Kind] : OutboundMessage

/** What a vendor can do beyond the plain message, as docs/providers.md lists it. */
export type Feature =
  | 'several recipients'
  | 'cc and bcc'
  | 'reply-to'
  | 'attachments'
  | 'inline images'
  | 'headers'
  | 'tags'
  | 'metadata'
  | 'IP pool'
  | 'sender per message'
  | 'Unicode'
  | 'media'
  | 'templates'
  | 'title'
  | 'data'
  | 'badge'
  | 'sound'
  | 'image'
  | 'blocks'
  | 'cards'

/** Where our knowledge of the protocol comes from: the vendor's own pages, partly those, others' code, or ourselves. */
export interface Evidence {
  readonly source: 'vendor' | 'partly' | 'others' | 'ours'
  /** What remains uncertain, as a sentence. */
  readonly unsure?: string
}

/** One request for many messages. */
export interface Batching<Form extends CredentialForm, Kind extends Channel> {
  /** The maximum number of messages per request. */
  readonly max: number
  /** Messages with the same key may share a request; without one a message goes alone. */
  key(message: MessageOf<Kind>, credentials: CredentialsOf<Form>): string | undefined
}

export interface ProviderDefinition<Form extends CredentialForm, Kind extends Channel = Channel> {
  readonly id: string
  readonly channel: Kind
  readonly name: string
  readonly docsUrl: string
  readonly form: Form
  readonly evidence: Evidence
  readonly features?: readonly Feature[]
  /** A message beyond them is rejected before the vendor is called. */
  readonly limits?: Limits
  /** A repeat with the same message id cannot send twice: the vendor recognises it by a key. */
  readonly idempotent?: true
  /**
   * `world.mayLeave` is called at most once per message, when its content is about to leave, and may take long: what
   * marks the message as being sent can be written then. Other providers ask before every request that could send.
   */
  readonly marksItself?: true
  /** How many calls of one account may be in flight, on all nodes together. Omitted: the vendor states no low limit. */
  concurrency?(credentials: CredentialsOf<Form>): number | undefined
  /** Closes idle connections of the account above this number, so that other processes may open theirs. */
  keepConnections?(credentials: CredentialsOf<Form>, max: number): void
  /**
   * Fields of the request body that determine the recipient, as paths (`message.token`): the message determines them,
   * so a passthrough may not. `http-provider.ts` knows those of our own messages, which webhooks receive.
   */
  readonly recipientMembers?: readonly string[]
  /** Asks the vendor whether the account is valid, without sending. Omitted if there is no one to ask. */
  check?(world: World, credentials: CredentialsOf<Form>): Promise<CheckResult>
  /** Sends one message, once, within `sendTimeoutMs`. As the registry holds it, it never throws. */
  send?(world: World, message: MessageOf<Kind>, credentials: CredentialsOf<Form>): Promise<Outcome>
  readonly batching?: Batching<Form, Kind>
  /** Sends messages of one key, at most `batching.max`, within `sendTimeoutMs`; the outcomes are in their order. */
  sendMany?(
    world: World,
    messages: readonly MessageOf<Kind>[],
    credentials: CredentialsOf<Form>,
  ): Promise<readonly Outcome[]>
  /** What the vendor reports about messages after accepting them. */
  readonly receipts?: ReceiptReader<CredentialsOf<Form>>
  /** Asks for the results of messages, for a vendor that does not report by itself. */
  readonly polling?: Polling<CredentialsOf<Form>>
  /** How the vendor forwards replies to e-mails. */
  readonly replies?: ReplyReader<CredentialsOf<Form>>
}

/** A provider whose form is no longer known to the compiler, as the registry holds it. */
export type Provider = ProviderDefinition<CredentialForm>

/**
 * Checks a definition against its own form; the result is what the registry accepts. Empty fields count as absent, and
 * the outcome of sending is reported without secrets, in text that can be stored.
 */
export function provider<const Form extends CredentialForm, const Kind extends Channel>(
  definition: ProviderDefinition<Form, Kind>,
): Provider {
  const own = definition as unknown as Provider
  const { batching, check, concurrency, keepConnections, send, sendMany } = own
  const made: Provider = { ...own, ...(batching === undefined ? {} : { batching: filledBatching(batching) }) }
  if (concurrency !== undefined) made.concurrency = (credentials) => concurrency(filledIn(credentials))
  if (keepConnections !== undefined) {
    made.keepConnections = (credentials, max) => keepConnections(filledIn(credentials), max)
  }
  if (check !== undefined) made.check = (world, credentials) => check(world, filledIn(credentials as Credentials))
  if (send !== undefined) made.send = (world, message, credentials) => sendOne(own, send, world, message, credentials)
  if (sendMany !== undefined) {
    made.sendMany = (world, messages, credentials) => sendTogether(own, sendMany, world, messages, credentials)
  }
  return made
}

function filledBatching({ max, key }: NonNullable<Provider['batching']>): NonNullable<Provider['batching']> {
  return { max, key: (message, credentials) => key(message, filledIn(credentials)) }
}

async function sendOne(
  definition: Provider,
  send: NonNullable<Provider['send']>,
  world: World,
  message: OutboundMessage,
  credentials: object,
): Promise<Outcome> {
  const account = filledIn(credentials)
  const beyond = definition.limits && beyondLimits(definition.name, definition.limits, message)
  if (beyond !== undefined) return beyond
  try {
    return withSafeWords(definition.form, account, await send(world, message, account), message.id)
  } catch (error) {
    return broken(definition, world, account, error, message.id)
  }
}

/** Those that are rejected at once are left out of the call; an outcome that is missing afterwards is unsure. */
async function sendTogether(
  definition: Provider,
  sendMany: NonNullable<Provider['sendMany']>,
  world: World,
  messages: readonly OutboundMessage[],
  credentials: object,
): Promise<readonly Outcome[]> {
  const account = filledIn(credentials)
  const { limits, name, form } = definition
  const beyond = messages.map((message) => limits && beyondLimits(name, limits, message))
  const within = messages.filter((_message, index) => beyond[index] === undefined)
  const asked = within.length === 0 ? [] : await tried()
  const remaining = asked.values()
  return beyond.map(
    (refusal) => refusal ?? remaining.next().value ?? unsure(`${name} did not report a result for the message`),
  )

  async function tried(): Promise<readonly Outcome[]> {
    try {
      const outcomes = await sendMany(world, within, account)
      return outcomes.map((outcome, index) => withSafeWords(form, account, outcome, within[index]?.id ?? ''))
    } catch (error) {
      const outcome = broken(definition, world, account, error, within[0]?.id ?? '')
      return within.map(() => outcome)
    }
  }
}

function broken(
  { id, name, form }: Provider,
  world: World,
  account: Credentials,
  error: unknown,
  messageId: string,
): Outcome {
  const { stack, message: words } = error as Error
  world.log.error(
    { providerId: id, messageId, stack: withoutSecrets(form, account, `${stack}`) },
    'A provider failed without returning an outcome',
  )
  return withSafeWords(form, account, unsure(`${name} failed unexpectedly while sending: ${words}`), messageId)
}

/** An integration's account is read once and sends many messages; its connections are pooled by that object. */
const filledAccounts = new WeakMap<object, Credentials>()

function filledIn(credentials: object): Credentials {
  const known = filledAccounts.get(credentials)
  if (known !== undefined) return known
  const filled: Credentials = Object.fromEntries(Object.entries(credentials).filter(([, value]) => value !== ''))
  filledAccounts.set(credentials, filled)
  return filled
}

/** An id that cannot be stored is ignored: ours is used. */
function withSafeWords(form: CredentialForm, account: Credentials, outcome: Outcome, ownId: string): Outcome {
  const safe = (words: string): string => storable(withoutSecrets(form, account, words), detailBytesMax)
  if (outcome.kind !== 'sent') return { ...outcome, detail: safe(outcome.detail) }
  const providerMessageId = storable(outcome.providerMessageId, providerMessageIdBytesMax) || ownId
  return outcome.detail === undefined
    ? { ...outcome, providerMessageId }
    : { ...outcome, providerMessageId, detail: safe(outcome.detail) }
}

export const good: CheckResult = { kind: 'good' }

export const bad = (words: string, field?: CredentialKey): CheckResult =>
  field === undefined ? { kind: 'bad', words } : { kind: 'bad', words, field }

/** A vendor that did not respond, as a message; anything else is a bug and is rethrown. */
export function unreachable(error: unknown): CheckResult {
  if (error instanceof OutboundError) return bad(error.message)
  throw error
}
