// How long Brevo wants to be left alone: it says so in a header of its own, in seconds.
// https://developers.brevo.com/docs/limit-headers
import type { ProviderAnswer } from './provider-answer.ts'
import { retryAfterMsOf } from './provider-answer.ts'

export function brevoRetryAfterMsOf(answer: ProviderAnswer): number | undefined {
  const seconds = answer.headers.get('x-sib-ratelimit-reset')?.trim() ?? ''
  return retryAfterMsOf(answer) ?? (/^\d{1,5}$/.test(seconds) ? Number(seconds) * 1000 : undefined)
}
