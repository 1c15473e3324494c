// What Mandrill's answers mean. The HTTP status says little: a bad key has long been answered with 500.
// https://mailchimp.com/developer/transactional/api/messages/send-new-message/
import type { Outcome, RefusalReason } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'

const accountNames: ReadonlySet<string> = new Set([
  'Invalid_Key',
  'PaymentRequired',
  'Unknown_Subaccount',
  'Unknown_Pool',
])
const refusedNames: ReadonlySet<string> = new Set(['ValidationError', 'Unknown_Template', 'Unknown_Message'])
const busyNames: ReadonlySet<string> = new Set(['GeneralError', 'ServiceUnavailable'])

const takenStates: ReadonlySet<string> = new Set(['sent', 'queued', 'scheduled'])
/** Why one recipient was rejected, where that is not the account's fault. */
const reasons: ReadonlyMap<string, RefusalReason> = new Map([
  ['hard-bounce', 'bad-recipient'],
  ['soft-bounce', 'bad-recipient'],
  ['invalid', 'bad-recipient'],
  ['spam', 'opted-out'],
  ['unsub', 'opted-out'],
])
const accountReasons: ReadonlySet<string> = new Set(['invalid-sender', 'unsigned', 'test-mode-limit'])

export function mandrillOutcome(answer: ProviderAnswer, { to }: Pick<EmailMessage, 'to'>): Outcome {
  if (answer.status !== 200 || answer.string('status') === 'error') return errorOutcome(answer)
  const people = answer.items('')
  const refusals = people.filter((person) => !takenStates.has(person.string('status') ?? ''))
  const taken = people.find((person) => takenStates.has(person.string('status') ?? ''))
  if (taken !== undefined) {
    const id = taken.id('_id')
    if (id === undefined) return unsure(mandrillWords(answer))
    // Whoever else got a copy, the main recipients did not.
    const meant = people.filter((person) => isAmong(to, person.string('email')))
    const [first] = meant
    if (first !== undefined && meant.every(isTurnedDown)) return rejection(first)
    return refusals.length === 0
      ? sent(id)
      : sent(id, `Mandrill rejected some recipients: ${refusals.map(rejectionText).join('; ')}`)
  }
  const [first] = refusals.filter(isTurnedDown)
  return first === undefined ? unsure(mandrillWords(answer)) : rejection(first)
}

const isTurnedDown = (person: Reading): boolean => /^(?:rejected|invalid)$/.test(person.string('status') ?? '')

const isAmong = (addresses: readonly string[], address = ''): boolean =>
  addresses.some((one) => one.toLowerCase() === address.toLowerCase())

function rejection(person: Reading): Outcome {
  const words = `Mandrill rejected it: ${rejectionText(person)}`
  const reason = person.string('reject_reason') ?? ''
  if (accountReasons.has(reason)) return misconfigured(words)
  return refused(person.string('status') === 'invalid' ? 'bad-recipient' : (reasons.get(reason) ?? 'other'), words)
}

const rejectionText = (person: Reading): string =>
  [person.string('email'), person.string('status'), person.string('reject_reason')].filter(Boolean).join(' ')

/** By the name of the error; without one, by the status. */
export function errorOutcome(answer: ProviderAnswer): Outcome {
  const name = answer.string('name') ?? ''
  const words = mandrillWords(answer)
  if (accountNames.has(name)) return misconfigured(words)
  if (refusedNames.has(name)) return refused('bad-content', words)
  if (busyNames.has(name)) return busy(words, retryAfterMsOf(answer))
  return answer.status === 200 ? unsure(words) : outcomeOfStatus(answer, words)
}

export function mandrillWords(answer: ProviderAnswer): string {
  const name = answer.string('name')
  const words = wordsOf('Mandrill', answer, 'message')
  return name === undefined ? words : `${words} (${name})`
}
