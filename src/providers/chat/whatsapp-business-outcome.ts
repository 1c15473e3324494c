// What the Graph API's answers mean for a WhatsApp message: the error's code decides, not the status.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'

/** One number may write to the same person about once in six seconds. */
const pairWaitMs = 6_000

type Meaning = (words: string, answer: ProviderAnswer) => Outcome

const account: Meaning = (words) => misconfigured(words)
const notNow: Meaning = (words, answer) => busy(words, retryAfterMsOf(answer))
const pairLimited: Meaning = (words, answer) => busy(words, retryAfterMsOf(answer) ?? pairWaitMs)
const badContent: Meaning = (words) => refused('bad-content', words)
const noRecipient: Meaning = (words) => refused('bad-recipient', words)
const optedOut: Meaning = (words) => refused('opted-out', words)
const other: Meaning = (words) => refused('other', words)

/** https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes */
const meanings: ReadonlyMap<number, Meaning> = new Map<number, Meaning>([
  [0, account], // no token
  [190, account], // token expired
  [3, account], // app lacks the capability
  [10, account], // permission denied
  [33, account], // number deleted
  [368, account], // blocked for breach of policy
  [131031, account], // account locked
  [131037, account], // display name not approved
  [131042, account], // payment
  [131045, account], // certificate
  [131048, account], // too many messages were marked as spam: the number is paused until a person reviews it
  [133010, account], // number not registered
  [1, notNow],
  [2, notNow],
  [131000, notNow],
  [131016, notNow],
  [133004, notNow],
  [4, notNow], // the app's calls
  [80007, notNow], // the account's
  [130429, notNow], // the number's
  [131056, pairLimited],
  [100, badContent],
  [131008, badContent],
  [131009, badContent],
  [131047, badContent], // beyond the service window only templates are taken
  [131051, badContent],
  [131052, badContent],
  [131053, badContent],
  [132000, badContent],
  [132001, badContent],
  [132005, badContent],
  [132007, badContent],
  [132012, badContent],
  [132015, badContent],
  [132016, badContent],
  [132068, badContent],
  [132069, badContent],
  [131021, noRecipient], // the sender itself
  [131026, noRecipient], // not on WhatsApp
  [131050, optedOut],
  [131030, other], // a test account writes to a list of numbers only
  [131049, other], // enough marketing for this person
  [130472, other], // the person is in an experiment
  [135000, other],
])

/** All of them concern permissions. */
const isPermission = (code: number): boolean => code >= 200 && code <= 299

export const whatsappWords = (answer: ProviderAnswer): string => {
  const details = answer.string('error.error_data.details')
  return `${wordsOf('WhatsApp', answer, 'error.message')}${details === undefined ? '' : ` (${details})`}`
}

/** A wrong id is reported as a bad parameter; only the inner code shows that it is the address. */
export function isUnknownNumberId(answer: ProviderAnswer): boolean {
  const code = answer.number('error.code')
  return code === 33 || (code === 100 && answer.number('error.error_subcode') === 33)
}

export function isUnknownToken(answer: ProviderAnswer): boolean {
  const code = answer.number('error.code')
  return answer.status === 401 || code === 0 || code === 190
}

export function whatsappOutcome(answer: ProviderAnswer): Outcome {
  const words = whatsappWords(answer)
  if (answer.status !== 200) return failure(answer, words)
  const id = answer.id('messages.0.id')
  if (id === undefined) return unsure(words)
  const state = answer.string('messages.0.message_status')
  return state === undefined || state === 'accepted'
    ? sent(id)
    : sent(id, `WhatsApp accepted it with the status: ${state}`)
}

function failure(answer: ProviderAnswer, words: string): Outcome {
  const code = answer.number('error.code')
  if (code === undefined || answer.status < 300) return outcomeOfStatus(answer, words)
  if (isUnknownNumberId(answer) || isPermission(code)) return misconfigured(words)
  return meanings.get(code)?.(words, answer) ?? outcomeOfStatus(answer, words)
}
