// What Firebase's answers mean.
// https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'

const fcmErrorType = 'type.googleapis.com/google.firebase.fcm.v1.FcmError'
const badRequestType = 'type.googleapis.com/google.rpc.BadRequest'
/** What Firebase recommends if it states no wait. */
const quotaWaitMs = 60_000
const unavailableWaitMs = 10_000

export function fcmOutcome(answer: ProviderAnswer): Outcome {
  const { status } = answer
  if (status === 200) {
    const name = answer.string('name')
    return name === undefined || name === ''
      ? unsure('Firebase answered 200 without the name of a message')
      : sent(name)
  }
  const code = fcmCode(answer)
  const words = `${wordsOf('Firebase', answer, 'error.message')}${code === undefined ? '' : ` (${code})`}`
  if (code === 'UNREGISTERED') return refused('dead-token', words)
  // A token of another project, valid there. With a wrong account every token looks like this, so none is removed.
  if (code === 'SENDER_ID_MISMATCH') return refused('bad-recipient', words)
  if (code === 'THIRD_PARTY_AUTH_ERROR' || code === 'APNS_AUTH_ERROR') return misconfigured(words)
  if (code === 'QUOTA_EXCEEDED' || status === 429) return busy(words, retryAfterMsOf(answer) ?? quotaWaitMs)
  if (code === 'UNAVAILABLE' || status === 503) return busy(words, retryAfterMsOf(answer) ?? unavailableWaitMs)
  if (status === 400) return refused(isAboutToken(answer) ? 'dead-token' : 'bad-content', words)
  // Without a code of Firebase's own, it is the project that was not found.
  if (status === 404) return misconfigured(words)
  return outcomeOfStatus(answer, words)
}

/** Whether it is our access token that was refused, and not a key that the project holds for Apple or the web. */
export function isStaleToken(answer: ProviderAnswer): boolean {
  return answer.status === 401 && fcmCode(answer) === undefined
}

function fcmCode(answer: ProviderAnswer): string | undefined {
  const index = detailIndex(answer, fcmErrorType)
  return index === undefined ? undefined : answer.string(`error.details.${index}.errorCode`)
}

function detailIndex(answer: ProviderAnswer, type: string): number | undefined {
  const index = answer
    .list('error.details')
    .findIndex((_detail, at) => answer.string(`error.details.${at}.@type`) === type)
  return index < 0 ? undefined : index
}

/** An invalid token, as opposed to a malformed message. */
function isAboutToken(answer: ProviderAnswer): boolean {
  const badRequest = detailIndex(answer, badRequestType)
  if (badRequest === undefined) {
    return fcmCode(answer) === 'INVALID_ARGUMENT' && /registration token/i.test(answer.string('error.message') ?? '')
  }
  const path = `error.details.${badRequest}.fieldViolations`
  return answer.list(path).some((_violation, at) => answer.string(`${path}.${at}.field`) === 'message.token')
}
