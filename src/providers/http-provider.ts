// A provider that is one request and the reading of its answer.
import type { Channel } from '../domain/integration.ts'
import type { OutboundMessage } from '../domain/outbound-message.ts'
import type { Outcome } from '../domain/outcome.ts'
import { busy, misconfigured, refused, unsure } from '../domain/outcome.ts'
import { OutboundError } from '../world/outbound-error.ts'
import type { OutboundAnswer, OutboundOptions, OutboundRequest } from '../world/world.ts'
import type { CredentialForm, CredentialsOf } from './form.ts'
import { withPassthrough } from './passthrough.ts'
import type { MessageOf, Provider, ProviderDefinition } from './provider.ts'
import { provider, sendTimeoutMs } from './provider.ts'
import type { ProviderAnswer } from './provider-answer.ts'
import { answerOf, retryAfterMsOf, wordsOf } from './provider-answer.ts'
import { withoutRecipient } from './recipient-words.ts'

export interface HttpProviderDefinition<Form extends CredentialForm, Kind extends Channel>
  extends Omit<ProviderDefinition<Form, Kind>, 'send'> {
  /** What to ask, or an Outcome when there is no need to: a message that cannot be sent. `now` is for signatures. */
  request(message: MessageOf<Kind>, credentials: CredentialsOf<Form>, now: Date): OutboundRequest | Outcome
  /** Adds what proves who sends it, when the rest of the request is settled. */
  sign?(request: OutboundRequest, credentials: CredentialsOf<Form>, now: Date): OutboundRequest
  /** What the answer means; `outcomeOfStatus` reads what is not the vendor's own. */
  outcome(answer: ProviderAnswer, message: MessageOf<Kind>, credentials: CredentialsOf<Form>): Outcome
  /** `operator` where the account names the address; `guarded` unless told otherwise. */
  reach?(credentials: CredentialsOf<Form>, message: MessageOf<Kind>): NonNullable<OutboundOptions['reach']>
  /** Whether the address is the recipient's own: one that is never called is then a bad recipient, not a bad account. */
  callsRecipient?(message: MessageOf<Kind>, credentials: CredentialsOf<Form>): boolean
}

/** As our own messages call them, for providers that do not say how their vendor does. */
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
  const { request: _request, sign: _sign, outcome, reach, callsRecipient, ...rest } = definition
  return provider<Form, Kind>({
    ...rest,
    async send(world, message, credentials) {
      const request = settledRequest(definition, message, credentials, world.now())
      if ('kind' in request) return request
      let answer: OutboundAnswer
      try {
        answer = await world.fetch(request, {
          reach: reach?.(credentials, message) ?? 'guarded',
          timeoutMs: sendTimeoutMs,
        })
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error
        const isTheirs = error.kind === 'refused-address' && callsRecipient?.(message, credentials) === true
        return isTheirs ? refused('bad-recipient', error.message) : outcomeOfFailure(error)
      }
      return withoutRecipient(outcome(answerOf(answer, world.now()), message, credentials), message as OutboundMessage)
    },
  })
}

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
    const { channel, recipientMembers = ownRecipientMembers[channel] } = definition
    const request = withPassthrough(made, (message as OutboundMessage).passthrough, recipientMembers)
    if ('kind' in request) return request
    return definition.sign?.(request, credentials, now) ?? request
  } catch (error) {
    return misconfigured(`The request to ${definition.name} could not be made: ${(error as Error).message}`)
  }
}

/** A call that gave no answer. */
export function outcomeOfFailure(error: OutboundError): Outcome {
  switch (error.kind) {
    case 'refused-address':
      return misconfigured(error.message)
    case 'not-sent':
      return busy(error.message)
    case 'unsure':
      return unsure(error.message)
  }
}

/** Certainly not sent. 521 to 523 are a proxy's word that it did not reach the vendor, 529 that the vendor has too much to do. */
const busyStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 521, 522, 523, 529])

/** What a status means wherever the vendor does not say otherwise. A success belongs to the vendor's own reading. */
export function outcomeOfStatus(answer: ProviderAnswer, words = wordsOf('The provider', answer)): Outcome {
  const { status } = answer
  if (busyStatuses.has(status)) return busy(words, retryAfterMsOf(answer))
  if (status === 401 || status === 403) return misconfigured(words)
  // Redirects are not followed, so a wrong address of the account is what leads to one.
  if (status >= 300 && status < 400) return misconfigured(words)
  if (status >= 400 && status < 500) return refused('other', words)
  return unsure(words)
}
