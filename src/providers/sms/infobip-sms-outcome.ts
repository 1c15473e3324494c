// What Infobip's answers mean: for one message, and for each of many.
// https://www.infobip.com/docs/essentials/api-essentials/response-status-and-error-codes
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import type { CodeMeaning } from './code-meaning.ts'
import { codeTable, outcomeOfCode } from './code-meaning.ts'

/** Groups of states: those in which a message is in transit, and those in which it never will be. */
const takenGroups: ReadonlySet<number> = new Set([1, 3])
const failedGroups: ReadonlySet<number> = new Set([2, 4, 5])

const names = codeTable({
  account: [
    'REJECTED_NETWORK',
    'REJECTED_NOT_ENOUGH_CREDITS',
    'REJECTED_PREPAID_PACKAGE_EXPIRED',
    'REJECTED_DESTINATION_NOT_REGISTERED',
    'REJECTED_ROUTE_NOT_AVAILABLE',
  ],
  sender: ['REJECTED_SOURCE', 'REJECTED_SENDER'],
  'bad-recipient': ['REJECTED_PREFIX_MISSING', 'REJECTED_DESTINATION', 'MISSING_TO'],
  'opted-out': ['REJECTED_DESTINATION_BLOCKLISTED'],
  // A register that blocks this route; the person did not opt out of our messages.
  other: ['REJECTED_DND'],
  'bad-content': ['REJECTED_MESSAGE_TOO_LONG', 'REJECTED_INVALID_UDH'],
  busy: ['REJECTED_SYSTEM_ERROR'],
})

/** Infobip has a message under this id: the one that we sent before without receiving the answer. */
const alreadyTaken = 'REJECTED_DUPLICATE_MESSAGE_ID'

export function infobipOutcome(answer: ProviderAnswer, message: SmsMessage): Outcome {
  return answer.status === 200 ? outcomeAt(answer, 0, message) : outcomeOfFault(answer, message)
}

/** By our own id, which each entry repeats. */
export function infobipOutcomes(answer: ProviderAnswer, messages: readonly SmsMessage[]): readonly Outcome[] {
  if (answer.status !== 200) return outcomesOfFault(answer, messages)
  const places = new Map(answer.items('messages').map((item, place) => [item.id('messageId'), place]))
  return messages.map((message) => {
    const place = places.get(message.id)
    return place === undefined
      ? unsure('Infobip did not report a result for the message')
      : outcomeAt(answer, place, message)
  })
}

function outcomeAt(answer: ProviderAnswer, place: number, message: SmsMessage): Outcome {
  const item = `messages.${place}`
  const id = answer.id(`${item}.messageId`)
  const group = answer.number(`${item}.status.groupId`) ?? -1
  const name = answer.string(`${item}.status.name`) ?? ''
  const said = wordsOf('Infobip', answer, `${item}.status.description`)
  const words = name === '' ? said : `${said} (${name})`
  if (takenGroups.has(group) && id !== undefined) return sent(id)
  if (!failedGroups.has(group)) return unsure(words)
  if (name === alreadyTaken) return sent(message.id, words)
  return outcomeOfCode(names, name, words, answer, message) ?? refused('other', words)
}

/** A request with an error is not sent at all: the valid messages may be sent without the others. */
function outcomesOfFault(answer: ProviderAnswer, messages: readonly SmsMessage[]): readonly Outcome[] {
  const guilty = new Set(answer.items('violations').flatMap((one) => placeOf(one.string('property')) ?? []))
  if (answer.status !== 400 || guilty.size === 0) return messages.map((message) => outcomeOfFault(answer, message))
  return messages.map((message, place) =>
    guilty.has(place)
      ? outcomeOfFault(answer, message, place)
      : busy('Infobip rejected the request because of another message in it'),
  )
}

function outcomeOfFault(answer: ProviderAnswer, message: SmsMessage, place = 0): Outcome {
  const violations = answer.items('violations').map((one) => ({
    property: one.string('property') ?? '',
    words: one.string('violation') ?? '',
  }))
  const said = wordsOf('Infobip', answer, 'description', 'requestError.serviceException.text')
  const words = [said, ...violations.map((one) => `${one.property}: ${one.words}`)].join('; ')
  if (answer.status !== 400) return outcomeOfStatus(answer, words)
  const { property = '' } = violations.find((one) => placeOf(one.property) === place) ?? violations[0] ?? {}
  return outcomeOfCode(memberMeanings, memberOf(property), words, answer, message) ?? refused('other', words)
}

const placeOf = (property = ''): number | undefined => {
  const [, place] = /^messages\[(\d{1,4})\]/.exec(property) ?? []
  return place === undefined ? undefined : Number(place)
}

/** Which field of a message an error is about. */
const memberOf = (property: string): string => /^messages\[\d{1,4}\]\.(\w{1,40})/.exec(property)?.[1] ?? ''

const memberMeanings: ReadonlyMap<string, CodeMeaning> = new Map([
  ['destinations', 'bad-recipient'],
  ['sender', 'sender'],
  ['content', 'bad-content'],
])
