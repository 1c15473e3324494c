// A provider: code that knows one vendor's wire.
import type { Channel, CredentialKey } from '../domain/integration.ts'
import { OutboundError } from '../world/outbound-error.ts'
import type { World } from '../world/world.ts'
import type { CredentialForm, CredentialsOf } from './form.ts'

/** Whether an account is good, in the provider's own words when it is not. */
export type CheckResult =
  | { readonly kind: 'good' }
  | {
      readonly kind: 'bad'
      readonly words: string /** The field to mend, where the answer tells. */
      readonly field?: CredentialKey
    }

export interface ProviderDefinition<Form extends CredentialForm> {
  readonly id: string
  readonly channel: Channel
  readonly name: string
  readonly docsUrl: string
  readonly form: Form
  /** Asks the vendor whether the account is good, without sending. Left out where there is nobody to ask. */
  check?(world: World, credentials: CredentialsOf<Form>): Promise<CheckResult>
}

/** A provider whose form is no longer known to the compiler, as the registry holds it. */
export type Provider = ProviderDefinition<CredentialForm>

/** Checks a definition against its own form; the result is what the registry takes. */
export function provider<const Form extends CredentialForm>(definition: ProviderDefinition<Form>): Provider {
  return definition as unknown as Provider
}

export const good: CheckResult = { kind: 'good' }

export const bad = (words: string, field?: CredentialKey): CheckResult =>
  field === undefined ? { kind: 'bad', words } : { kind: 'bad', words, field }

/** A vendor that gave no answer, told in words; anything else is a bug and goes on. */
export function unreachable(error: unknown): CheckResult {
  if (error instanceof OutboundError) return bad(error.message)
  throw error
}
