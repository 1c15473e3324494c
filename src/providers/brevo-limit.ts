// How long Brevo asks us to wait: in its own header, in seconds.
// https://developers.brevo.com/docs/limit-headers
import type { ProviderAnswer } from './provider-answer.ts'
import { retryAfterMsOf } from './provider-answer.ts'

export function brevoRetryAfterMsOf(answer: ProviderAnswer): number | undefined {
  const seconds = answer.headers.get('x-sib-ratelimit-reset')?.trim() ?? ''
  return retryAfterMsOf(answer) ?? (/^\d{1,5}$/.test(seconds) ? Number(seconds) * 1000 : undefined)
}
