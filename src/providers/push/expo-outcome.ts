// What Expo's answers mean: one ticket per message, or an error for the whole request.
// https://docs.expo.dev/push-notifications/sending-notifications/#errors
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { isFields } from '../../domain/merged.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import type { Reading } from '../reading.ts'
import { readingOf } from '../reading.ts'

export const expoWords = (answer: ProviderAnswer): string => wordsOf('Expo', answer, 'errors.0.message')

/** One per message, in their order. */
export function expoOutcomes(answer: ProviderAnswer, count: number): Outcome[] {
  if (answer.status !== 200 || answer.list('errors').length > 0) return Array(count).fill(troubleOf(answer))
  const tickets = answer.items('data')
  // With one too few or too many, it is unknown which belongs to which message.
  if (tickets.length !== count) return Array(count).fill(unsure('Expo answered 200 without a ticket for each message'))
  return tickets.map(outcomeOfTicket)
}

function outcomeOfTicket(ticket: Reading): Outcome {
  const id = ticket.string('id') ?? ''
  const status = ticket.string('status')
  if (status === 'ok' && id !== '') return sent(id)
  if (status !== 'error') return unsure('Expo answered with a ticket that says neither ok nor error')
  return outcomeOfError(ticket)
}

/** Tickets and receipts use the same codes. */
function outcomeOfError(ticket: Reading): Outcome {
  const code = ticket.string('details.error')
  const words = errorWords(ticket)
  switch (code) {
    case 'DeviceNotRegistered':
      return refused('dead-token', words)
    case 'MessageTooBig':
      return refused('bad-content', words)
    case 'MismatchSenderId':
    case 'InvalidCredentials':
      return misconfigured(words)
    case 'MessageRateExceeded':
    case 'ExpoError':
    case 'ProviderError':
      return busy(words)
    default:
      return refused(/is not a valid Expo push token/i.test(words) ? 'dead-token' : 'other', words)
  }
}

export function errorWords(ticket: Reading): string {
  const code = ticket.string('details.error')
  const said = ticket.string('message') ?? 'no reason given'
  return `Expo could not send: ${said}${code === undefined ? '' : ` (${code})`}`
}

function troubleOf(answer: ProviderAnswer): Outcome {
  const code = answer.string('errors.0.code') ?? ''
  const words = `${expoWords(answer)}${code === '' ? '' : ` (${code})`}`
  if (code === 'UNAUTHORIZED') return misconfigured(words)
  if (code === 'TOO_MANY_REQUESTS') return busy(words, retryAfterMsOf(answer))
  if (code === 'VALIDATION_ERROR') return refused('bad-content', words)
  if (answer.status !== 200) return outcomeOfStatus(answer, words)
  return code === '' ? unsure(words) : refused('other', words)
}

/** The devices of each project, where Expo sent nothing because they are of several. */
export function projectsIn(answer: ProviderAnswer): readonly ReadonlySet<string>[] {
  if (answer.string('errors.0.code') !== 'PUSH_TOO_MANY_EXPERIENCE_IDS') return []
  const details = answer.value('errors.0.details')
  if (!isFields(details)) return []
  return Object.values(details).map(
    (tokens) =>
      new Set(
        readingOf(tokens)
          .items('')
          .flatMap((one) => one.string('') ?? []),
      ),
  )
}
