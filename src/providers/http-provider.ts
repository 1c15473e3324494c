// A provider that is one request and the reading of its answer.
import type { Channel, CredentialKey } from '../domain/delivery/integration.ts'
import type { Outcome } from '../domain/delivery/outcome.ts'
import {
  busy,
  misconfigured,
  ofDownProvider,
  ofRecipient,
  refused,
  uncalled,
  unsure,
  withheld,
} from '../domain/delivery/outcome.ts'
import type { OutboundMessage } from '../domain/messages/outbound-message.ts'
import { OutboundError } from '../world/outbound/outbound-error.ts'
import type { OutboundOptions, OutboundRequest, World } from '../world/world.ts'
import type { CredentialForm, CredentialsOf } from './form.ts'
import type { Limits } from './limits.ts'
import type { FormPart } from './multipart.ts'
import { withFormPassthrough, withPassthrough } from './passthrough.ts'
import type { CheckResult, MessageOf, Provider, ProviderDefinition } from './provider.ts'
import { bad, good, provider, sendTimeoutMs, unreachable } from './provider.ts'
import type { ProviderAnswer } from './provider-answer.ts'
import { answerOf, retryAfterMsOf, wordsOf } from './provider-answer.ts'
import { withoutRecipient } from './recipient-words.ts'

/** A person may be waiting for the check. */
const checkTimeoutMs = 10_000

/** A request whose body is a form with files; it is written when a passthrough has added to it. */
export interface FormRequest extends Omit<OutboundRequest, 'body'> {
  readonly parts: readonly FormPart[]
}

export interface HttpProviderDefinition<Form extends CredentialForm, Kind extends Channel>
  extends Omit<ProviderDefinition<Form, Kind>, 'send' | 'sendMany' | 'batching'> {
  /** The request, or an Outcome if none is needed: a message that cannot be sent. `now` is for signatures. */
  request(
    message: MessageOf<Kind>,
    credentials: CredentialsOf<Form>,
    now: Date,
  ): OutboundRequest | FormRequest | Outcome
  /** Adds the authentication, once the rest of the request is final. */
  sign?(request: OutboundRequest, credentials: CredentialsOf<Form>, now: Date): OutboundRequest
  /** What the response means; `outcomeOfStatus` handles what is not vendor-specific. */
  outcome(answer: ProviderAnswer, message: MessageOf<Kind>, credentials: CredentialsOf<Form>): Outcome
  /** Omitted: `operator` if the account has its own base address, else `guarded`. */
  reach?(credentials: CredentialsOf<Form>, message: MessageOf<Kind>): NonNullable<OutboundOptions['reach']>
  /** Whether the address is the recipient's own: one that is never called is then a bad recipient, not a bad account. */
  callsRecipient?(message: MessageOf<Kind>, credentials: CredentialsOf<Form>): boolean
  /** The vendor supports HTTP/2: many messages at once over one connection. */
  readonly http2?: true
  readonly batch?: Batch<Form, Kind>
  readonly probe?: Probe<Form>
}

/** A request that holds many messages. */
export interface Batch<Form extends CredentialForm, Kind extends Channel> {
  readonly max: number
  /** Messages with the same key may share a request. Omitted: all those without a passthrough and files may. */
  key?(message: MessageOf<Kind>, credentials: CredentialsOf<Form>): string | undefined
  /** What a message is within the request, or why it cannot be sent. */
  item(message: MessageOf<Kind>, credentials: CredentialsOf<Form>): object | Outcome
  request(items: readonly object[], credentials: CredentialsOf<Form>, now: Date): OutboundRequest
  /** One per message, in their order. */
  outcomes(
    answer: ProviderAnswer,
    messages: readonly MessageOf<Kind>[],
    credentials: CredentialsOf<Form>,
  ): readonly Outcome[]
}

/** A call that shows whether the account is valid, and sends nothing. */
export interface Probe<Form extends CredentialForm> {
  request(credentials: CredentialsOf<Form>, now: Date): OutboundRequest
  /** Omitted: a success means valid, anything else does not. */
  result?(answer: ProviderAnswer, credentials: CredentialsOf<Form>): CheckResult
  /** The field to fix if the vendor rejects the account. */
  readonly field?: CredentialKey
  /** Where the vendor says what is wrong, as paths of its response. */
  readonly words?: readonly string[]
}

/** As our own messages name them, for providers that do not say how their vendor names them. */
const ownRecipientMembers: Readonly<Record<Channel, readonly string[]>> = {
  email: ['to', 'cc', 'bcc'],
  sms: ['to'],
  chat: ['channel', 'phoneNumber', 'webhookUrl', 'subscriberId'],
  push: ['target', 'subscriberId'],
  in_app: [],
}

export function httpProvider<const Form extends CredentialForm, const Kind extends Channel>(
  definition: HttpProviderDefinition<Form, Kind>,
): Provider {
  const { request: _request, sign: _sign, outcome: _outcome, reach: _reach, batch, probe, ...rest } = definition
  const { callsRecipient: _calls, http2: _http2, ...plain } = rest
  return provider<Form, Kind>({
    ...plain,
    ...(probe === undefined ? {} : { check: (world, credentials) => probed(definition, probe, world, credentials) }),
    ...(batch === undefined ? {} : batched(definition, batch)),
    async send(world, message, credentials) {
      const request = settledRequest(definition, message, credentials, world.now())
      if ('kind' in request) return request
      const answer = await called(definition, world, request, credentials, message)
      const outcome = 'kind' in answer ? answer : ofAnswer(answer, definition.outcome(answer, message, credentials))
      const isTheirs = definition.callsRecipient?.(message, credentials) === true
      return withoutRecipient(isTheirs ? ofRecipient(outcome) : outcome, message as OutboundMessage)
    },
  })
}

/** The response; or an Outcome, if there was none. */
async function called<Form extends CredentialForm, Kind extends Channel>(
  { form, reach, callsRecipient, http2 }: HttpProviderDefinition<Form, Kind>,
  world: World,
  request: OutboundRequest,
  credentials: CredentialsOf<Form>,
  message: MessageOf<Kind>,
): Promise<ProviderAnswer | Outcome> {
  try {
    const answer = await world.fetch(request, {
      reach: reach?.(credentials, message) ?? reachOf(form, credentials),
      ...(callsRecipient?.(message, credentials) === true ? { isTheirs: true } : {}),
      timeoutMs: sendTimeoutMs,
      account: credentials,
      ...(http2 === true ? { http2 } : {}),
    })
    return answerOf(answer, world.now())
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const isTheirs = error.kind === 'refused-address' && callsRecipient?.(message, credentials) === true
    return isTheirs ? refused('bad-recipient', error.message) : outcomeOfFailure(error)
  }
}

/**
 * A base address was configured by the operator: it may be private. An account may hold one that its form does not ask
 * for and the request does not use; that opens nothing.
 */
const reachOf = (form: CredentialForm, credentials: { readonly baseUrl?: unknown }): 'operator' | 'guarded' =>
  form.baseUrl === undefined || credentials.baseUrl === undefined ? 'guarded' : 'operator'

/** The provider's request, with what the caller adds, signed: in this order, so that the signature is of what is sent. */
function settledRequest<Form extends CredentialForm, Kind extends Channel>(
  definition: HttpProviderDefinition<Form, Kind>,
  message: MessageOf<Kind>,
  credentials: CredentialsOf<Form>,
  now: Date,
): OutboundRequest | Outcome {
  try {
    const made = definition.request(message, credentials, now)
    if ('kind' in made) return made
    const { id, passthrough } = message as OutboundMessage
    const { channel, recipientMembers = ownRecipientMembers[channel] } = definition
    const request =
      'parts' in made
        ? withFormPassthrough(made, passthrough, recipientMembers, id)
        : withPassthrough(made, passthrough, recipientMembers)
    if ('kind' in request) return request
    return beyondRequest(definition, request) ?? definition.sign?.(request, credentials, now) ?? request
  } catch (error) {
    return misconfigured(`The request to ${definition.name} could not be built: ${(error as Error).message}`)
  }
}

function beyondRequest(
  { name, limits }: { name: string; limits?: Limits },
  { body = '' }: OutboundRequest,
): Outcome | undefined {
  const max = limits?.requestBytesMax
  if (max === undefined || Buffer.byteLength(body) <= max) return undefined
  return refused(
    'bad-content',
    `The request would have ${Buffer.byteLength(body)} bytes; ${name} accepts at most ${max}`,
  )
}

function batched<Form extends CredentialForm, Kind extends Channel>(
  definition: HttpProviderDefinition<Form, Kind>,
  batch: Batch<Form, Kind>,
): Pick<ProviderDefinition<Form, Kind>, 'batching' | 'sendMany'> {
  return {
    batching: { max: batch.max, key: batch.key ?? plainKey },
    async sendMany(world, messages, credentials) {
      const items = messages.map((message) => batch.item(message, credentials))
      const good = messages.filter((_message, index) => !isOutcome(items[index]))
      const outcomes = good.length === 0 ? [] : await askedTogether()
      const remaining = outcomes.values()
      return items.map((item) =>
        isOutcome(item)
          ? item
          : (remaining.next().value ?? unsure(`${definition.name} did not report a result for the message`)),
      )

      async function askedTogether(): Promise<readonly Outcome[]> {
        const made = batch.request(
          items.filter((item) => !isOutcome(item)),
          credentials,
          world.now(),
        )
        const request = definition.sign?.(made, credentials, world.now()) ?? made
        const answer = await called(definition, world, request, credentials, good[0] as MessageOf<Kind>)
        if ('kind' in answer) return good.map(() => answer)
        return batch
          .outcomes(answer, good, credentials)
          .map((outcome, index) => withoutRecipient(ofAnswer(answer, outcome), good[index] as OutboundMessage))
      }
    },
  }
}

/** An item may have a member `kind` of its own; only an Outcome has these. */
const isOutcome = (item: object | undefined): item is Outcome =>
  item !== undefined && 'kind' in item && ('detail' in item || 'providerMessageId' in item)

/** What is added to a request is added to all of it, and files are better sent one message at a time. */
function plainKey(message: object): string | undefined {
  const { passthrough, attachments = [] } = message as { passthrough?: object; attachments?: readonly unknown[] }
  return passthrough === undefined && attachments.length === 0 ? '' : undefined
}

async function probed<Form extends CredentialForm, Kind extends Channel>(
  { name, form, sign, http2 }: HttpProviderDefinition<Form, Kind>,
  probe: Probe<Form>,
  world: World,
  credentials: CredentialsOf<Form>,
): Promise<CheckResult> {
  try {
    const made = probe.request(credentials, world.now())
    const request = sign?.(made, credentials, world.now()) ?? made
    const reach = reachOf(form, credentials)
    const options: OutboundOptions = { reach, timeoutMs: checkTimeoutMs, ...(http2 === true ? { http2 } : {}) }
    const answer = answerOf(await world.fetch(request, options), world.now())
    if (probe.result !== undefined) return probe.result(answer, credentials)
    if (answer.status >= 200 && answer.status < 300) return good
    const words = wordsOf(name, answer, ...(probe.words ?? []))
    const { kind } = outcomeOfStatus(answer, words)
    return bad(words, kind === 'misconfigured' ? probe.field : undefined)
  } catch (error) {
    return unreachable(error)
  }
}

/** A call that gave no answer. */
export function outcomeOfFailure(error: OutboundError): Outcome {
  switch (error.kind) {
    case 'refused-address':
      return misconfigured(error.message)
    case 'not-sent':
      return error.isOurs ? uncalled(error.message) : ofDownProvider(busy(error.message))
    case 'withheld':
      return withheld(error.message)
    case 'unsure':
      return error.isOurs ? unsure(error.message) : ofDownProvider(unsure(error.message))
  }
}

/**
 * A provider's reading of a response; one that reports the vendor's own problems counts against the vendor as a whole.
 */
export const ofAnswer = ({ status }: ProviderAnswer, outcome: Outcome): Outcome =>
  status >= 500 ? ofDownProvider(outcome) : outcome

/** Certainly not sent. 521 to 523: a proxy did not reach the vendor; 529: the vendor is overloaded. */
const busyStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 521, 522, 523, 529])

/** What a status means wherever the vendor does not say otherwise. A success belongs to the vendor's own reading. */
export function outcomeOfStatus(answer: ProviderAnswer, words = wordsOf('The provider', answer)): Outcome {
  const { status } = answer
  if (busyStatuses.has(status)) return ofAnswer(answer, busy(words, retryAfterMsOf(answer)))
  if (status === 401 || status === 403) return misconfigured(words)
  // Redirects are not followed; one means that the account has a wrong address.
  if (status >= 300 && status < 400) return misconfigured(words)
  if (status >= 400 && status < 500) return refused('other', words)
  return ofAnswer(answer, unsure(words))
}
