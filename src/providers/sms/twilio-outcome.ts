// What Twilio's error codes mean: for the message, for the account, or for the moment.
// https://www.twilio.com/docs/api/errors
import type { SmsMessage } from '../../domain/outbound-message.ts'
import type { Outcome, RefusalReason } from '../../domain/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/outcome.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'

/** Too much at once, a full queue, trouble of Twilio's own: nothing was sent. */
const busyCodes: ReadonlySet<number> = new Set([14107, 20429, 20500, 20503, 21611, 30001, 30022])

/** The account: its credentials, its state, the countries and numbers it may send to, its messaging service. */
const accountCodes: ReadonlySet<number> = new Set([
  20003, 20005, 20006, 20404, 21408, 21608, 21703, 21704, 21705, 30002, 30034,
])

/** The sender: the account's, unless the message named it. */
const senderCodes: ReadonlySet<number> = new Set([21212, 21603, 21606, 21659, 21660, 21661])

const reasons: ReadonlyMap<number, RefusalReason> = new Map([
  [21211, 'bad-recipient'],
  [21217, 'bad-recipient'],
  [21604, 'bad-recipient'],
  [21612, 'bad-recipient'],
  [21614, 'bad-recipient'],
  [21635, 'bad-recipient'],
  [30005, 'bad-recipient'],
  [30006, 'bad-recipient'],
  [21610, 'opted-out'],
  [21602, 'bad-content'],
  [21617, 'bad-content'],
  [21619, 'bad-content'],
  [21620, 'bad-content'],
  [21623, 'bad-content'],
  [30007, 'bad-content'],
])

export function twilioOutcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  if (answer.status !== 201)
    return ofCode(answer.number('code'), answer, message) ?? outcomeOfStatus(answer, words(answer))
  const sid = answer.string('sid')
  const code = answer.number('error_code')
  const state = answer.string('status') ?? ''
  // Made and failed at once: the answer is a success, the message is not.
  if (code !== undefined || state === 'failed' || state === 'undelivered') {
    return ofCode(code, answer, message) ?? refused('other', words(answer))
  }
  return sid === undefined || sid === '' ? unsure(`Twilio answered 201 without the id of a message`) : sent(sid)
}

function ofCode(code: number | undefined, answer: ProviderAnswer, message: SmsMessage): Outcome | undefined {
  if (code === undefined) return undefined
  if (busyCodes.has(code)) return busy(words(answer), retryAfterMsOf(answer))
  if (accountCodes.has(code)) return misconfigured(words(answer))
  if (senderCodes.has(code)) {
    return message.from === undefined ? misconfigured(words(answer)) : refused('bad-content', words(answer))
  }
  const reason = reasons.get(code)
  return reason === undefined ? undefined : refused(reason, words(answer))
}

function words(answer: ProviderAnswer): string {
  const code = answer.number('code') ?? answer.number('error_code')
  const said = wordsOf('Twilio', answer, 'message', 'error_message')
  return code === undefined ? said : `${said} (${code})`
}
