// A provider that is one request and the reading of its answer.
import type { OutboundMessage } from '../domain/outbound-message.ts'
import type { Outcome } from '../domain/outcome.ts'
import { busy, misconfigured, refused, unsure } from '../domain/outcome.ts'
import { OutboundError } from '../world/outbound-error.ts'
import type { OutboundAnswer, OutboundOptions, OutboundRequest } from '../world/world.ts'
import type { CredentialForm, CredentialsOf } from './form.ts'
import type { Provider, ProviderDefinition } from './provider.ts'
import { provider, sendTimeoutMs } from './provider.ts'
import type { ProviderAnswer } from './provider-answer.ts'
import { answerOf, retryAfterMsOf, wordsOf } from './provider-answer.ts'

export interface HttpProviderDefinition<Form extends CredentialForm> extends Omit<ProviderDefinition<Form>, 'send'> {
  /** What to ask, or an Outcome when there is no need to: a message that cannot be sent. `now` is for signatures. */
  request(message: OutboundMessage, credentials: CredentialsOf<Form>, now: Date): OutboundRequest | Outcome
  /** What the answer means; `outcomeOfStatus` reads what is not the vendor's own. */
  outcome(answer: ProviderAnswer, message: OutboundMessage, credentials: CredentialsOf<Form>): Outcome
  /** `operator` where the account names the address; `guarded` unless told otherwise. */
  reach?(credentials: CredentialsOf<Form>): NonNullable<OutboundOptions['reach']>
}

export function httpProvider<const Form extends CredentialForm>(definition: HttpProviderDefinition<Form>): Provider {
  const { request: requestOf, outcome, reach, ...rest } = definition
  return provider<Form>({
    ...rest,
    async send(world, message, credentials) {
      let request: OutboundRequest | Outcome
      try {
        request = requestOf(message, credentials, world.now())
      } catch (error) {
        return misconfigured(`The request to ${definition.name} could not be made: ${(error as Error).message}`)
      }
      if ('kind' in request) return request
      let answer: OutboundAnswer
      try {
        answer = await world.fetch(request, {
          reach: reach?.(credentials) ?? 'guarded',
          timeoutMs: sendTimeoutMs,
        })
      } catch (error) {
        if (error instanceof OutboundError) return outcomeOfFailure(error)
        throw error
      }
      return outcome(answerOf(answer, world.now()), message, credentials)
    },
  })
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
