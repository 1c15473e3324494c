// What Twilio's error codes mean: for the message, for the account, or temporarily.
// https://www.twilio.com/docs/api/errors
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'

const codes = codeTable({
  // Too much at once, a full queue, a problem at Twilio: nothing was sent.
  busy: ['14107', '20429', '20500', '20503', '21611', '30001', '30022'],
  // Its credentials, its state, the countries and numbers it may send to, its messaging service.
  account: [
    ...['20003', '20005', '20006', '20404', '21408', '21608'],
    ...['21703', '21704', '21705', '30002', '30034'],
  ],
  sender: ['21212', '21603', '21606', '21659', '21660', '21661'],
  'bad-recipient': ['21211', '21217', '21604', '21612', '21614', '21635', '30005', '30006'],
  'opted-out': ['21610'],
  'bad-content': ['21602', '21617', '21619', '21620', '21623', '30007'],
})

export function twilioOutcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  if (answer.status !== 201) return ofCode('code', answer, message) ?? outcomeOfStatus(answer, words(answer))
  const state = answer.string('status') ?? ''
  // Created and failed at once: the answer is a success, the message is not.
  if (answer.id('error_code') !== undefined || state === 'failed' || state === 'undelivered') {
    return ofCode('error_code', answer, message) ?? refused('other', words(answer))
  }
  const sid = answer.id('sid')
  return sid === undefined ? unsure('Twilio answered 201 without the id of a message') : sent(sid)
}

const ofCode = (path: string, answer: ProviderAnswer, message: SmsMessage): Outcome | undefined =>
  outcomeOfCode(codes, answer.id(path), words(answer), answer, message)

function words(answer: ProviderAnswer): string {
  const code = answer.id('code') ?? answer.id('error_code')
  const said = wordsOf('Twilio', answer, 'message', 'error_message')
  return code === undefined ? said : `${said} (${code})`
}
