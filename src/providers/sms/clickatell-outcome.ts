// What Clickatell's answers mean, for one message of a request.
// https://docs.clickatell.com/channels/one-api/one-api-reference/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'
import { digitsOf } from './sms-text.ts'

const codes = codeTable({
  // The key, the account, its integration, our address, its balance.
  account: ['1', '2', '3', '7', '20'],
  busy: ['18', '19', '43'],
  'bad-recipient': ['6', '25'],
  'opted-out': ['26'],
  'bad-content': ['24'],
  sender: ['44', '45'],
  other: ['21', '22', '23'],
})

const paymentRequired = 402

export function clickatellOutcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  return outcomeAt(answer, 0, message)
}

/**
 * One per message, by its position; an entry for another number is ignored, since it is unknown which message it
 * belongs to.
 */
export function clickatellOutcomes(answer: ProviderAnswer, messages: readonly SmsMessage[]): readonly Outcome[] {
  return messages.map((message, index) => {
    const to = answer.id(`messages.${index}.to`)
    const isOther = to !== undefined && digitsOf(to) !== digitsOf(message.to)
    return isOther
      ? unsure(`Clickatell answered ${answer.status} for another number`)
      : outcomeAt(answer, index, message)
  })
}

function outcomeAt(answer: ProviderAnswer, index: number, message: SmsMessage): Outcome {
  const { status } = answer
  const item = `messages.${index}`
  const id = answer.id(`${item}.apiMessageId`)
  // 400 is also the status of a request of which only some messages are wrong.
  const isRead = (status >= 200 && status < 300) || status === 400
  if (isRead && answer.flag(`${item}.accepted`) === true && id !== undefined) return sent(id)
  const code = answer.id(`${item}.error.code`) ?? answer.id(`${item}.errorCode`) ?? answer.id('error.code')
  const words = wordsAt(answer, item, code)
  const knownOutcome = outcomeOfCode(codes, code, words, answer, message)
  if (knownOutcome !== undefined) return knownOutcome
  if (status === paymentRequired) return misconfigured(words)
  if (status >= 300) return outcomeOfStatus(answer, words)
  return answer.flag(`${item}.accepted`) === false || code !== undefined ? refused('other', words) : unsure(words)
}

function wordsAt(answer: ProviderAnswer, item: string, code: string | undefined): string {
  const said = wordsOf(
    'Clickatell',
    answer,
    `${item}.error.description`,
    `${item}.errorDescription`,
    `${item}.error`,
    'error.description',
    'errorDescription',
    'error',
  )
  return code === undefined ? said : `${said} (${code})`
}
