// Checks an account of a vendor without a harmless endpoint: with an empty message, which it rejects.
import type { CredentialKey } from '../domain/delivery/integration.ts'
import type { CheckResult } from './provider.ts'
import { bad, good } from './provider.ts'
import type { ProviderAnswer } from './provider-answer.ts'
import { wordsOf } from './provider-answer.ts'

/** A vendor that rejects the message has accepted the account. Nothing is sent. */
export function letIn(vendor: string, field: CredentialKey, ...words: readonly string[]) {
  return (answer: ProviderAnswer): CheckResult => {
    if (answer.status === 400 || answer.status === 422) return good
    const isUnauthorized = answer.status === 401 || answer.status === 403
    return bad(wordsOf(vendor, answer, ...words), isUnauthorized ? field : undefined)
  }
}
