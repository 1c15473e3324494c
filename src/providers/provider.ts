// A provider: code that knows one vendor's wire.
import type { Channel, CredentialKey, Credentials } from '../domain/integration.ts'
import type { MessageByChannel, OutboundMessage, SendingChannel } from '../domain/outbound-message.ts'
import type { Outcome } from '../domain/outcome.ts'
import { unsure } from '../domain/outcome.ts'
import { OutboundError } from '../world/outbound-error.ts'
import type { World } from '../world/world.ts'
import type { CredentialForm, CredentialsOf } from './form.ts'
import { withoutSecrets } from './form.ts'
import { detailBytesMax, providerMessageIdBytesMax, storable } from './words.ts'

/** Whether an account is good, in the provider's own words when it is not. */
export type CheckResult =
  | { readonly kind: 'good' }
  | {
      readonly kind: 'bad'
      readonly words: string /** The field to mend, where the answer tells. */
      readonly field?: CredentialKey
    }

/** Below the 20 s that a call may take in all, so that it is the provider who tells how a slow one ended. */
export const sendTimeoutMs = 19_000

/** What a provider of this channel is given to send. */
export type MessageOf<Kind extends Channel> = Kind extends SendingChannel ? MessageByChannel[Kind] : OutboundMessage

export interface ProviderDefinition<Form extends CredentialForm, Kind extends Channel = Channel> {
  readonly id: string
  readonly channel: Kind
  readonly name: string
  readonly docsUrl: string
  readonly form: Form
  /** A repeat with the same message id cannot send twice: the vendor has a key to tell it by. */
  readonly idempotent?: true
  /**
   * Members of the request's body that say where the message goes, as paths (`message.token`): the message decides them,
   * so a passthrough may not. `http-provider.ts` knows those of our own messages, which webhooks are sent.
   */
  readonly recipientMembers?: readonly string[]
  /** Asks the vendor whether the account is good, without sending. Left out where there is nobody to ask. */
  check?(world: World, credentials: CredentialsOf<Form>): Promise<CheckResult>
  /** Sends one message, once, within `sendTimeoutMs`. As the registry holds it, it never throws. */
  send?(world: World, message: MessageOf<Kind>, credentials: CredentialsOf<Form>): Promise<Outcome>
}

/** A provider whose form is no longer known to the compiler, as the registry holds it. */
export type Provider = ProviderDefinition<CredentialForm>

/**
 * Checks a definition against its own form; the result is what the registry takes. Fields left empty are as good as
 * absent, and whatever sending comes to is told without secrets, in words that can be stored.
 */
export function provider<const Form extends CredentialForm, const Kind extends Channel>(
  definition: ProviderDefinition<Form, Kind>,
): Provider {
  const { check, send } = definition as unknown as Provider
  const made: Provider = { ...(definition as unknown as Provider) }
  if (check !== undefined) made.check = (world, credentials) => check(world, filledIn(credentials as Credentials))
  if (send !== undefined) {
    made.send = async (world, message, credentials) => {
      const account = filledIn(credentials as Credentials)
      const told = (outcome: Outcome): Outcome => withSafeWords(definition.form, account, outcome)
      try {
        return told(await send(world, message, account))
      } catch (error) {
        const { stack, message: words } = error as Error
        world.log.error(
          {
            providerId: definition.id,
            messageId: message.id,
            stack: withoutSecrets(definition.form, account, `${stack}`),
          },
          'A provider broke instead of telling how sending went',
        )
        return told(unsure(`${definition.name} broke while sending: ${words}`))
      }
    }
  }
  return made
}

function filledIn(credentials: Credentials): Credentials {
  return Object.fromEntries(Object.entries(credentials).filter(([, value]) => value !== ''))
}

function withSafeWords(form: CredentialForm, account: Credentials, outcome: Outcome): Outcome {
  const safe = (words: string): string => storable(withoutSecrets(form, account, words), detailBytesMax)
  if (outcome.kind !== 'sent') return { ...outcome, detail: safe(outcome.detail) }
  const providerMessageId = storable(outcome.providerMessageId, providerMessageIdBytesMax)
  return outcome.detail === undefined
    ? { ...outcome, providerMessageId }
    : { ...outcome, providerMessageId, detail: safe(outcome.detail) }
}

export const good: CheckResult = { kind: 'good' }

export const bad = (words: string, field?: CredentialKey): CheckResult =>
  field === undefined ? { kind: 'bad', words } : { kind: 'bad', words, field }

/** A vendor that gave no answer, told in words; anything else is a bug and goes on. */
export function unreachable(error: unknown): CheckResult {
  if (error instanceof OutboundError) return bad(error.message)
  throw error
}
