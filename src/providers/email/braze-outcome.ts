// What Braze's responses mean: whether a user was found, and whether the message was accepted.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, certainlyNotSent, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { resetMsOf, retryAfterMsOf, wordsOf } from '../provider-answer.ts'

/** How Braze identifies a user; one without a customer id may still have an alias. */
export type BrazeUser =
  | { readonly externalId: string }
  | { readonly alias: { readonly alias_name: string; readonly alias_label: string } }

/** Those with an id first: several profiles may share an address. */
export function usersIn(answer: ProviderAnswer): readonly BrazeUser[] {
  const users = answer.list('users').map((_user, index): BrazeUser | undefined => {
    const externalId = answer.id(`users.${index}.external_id`)
    if (externalId !== undefined) return { externalId }
    const name = answer.string(`users.${index}.user_aliases.0.alias_name`)
    const label = answer.string(`users.${index}.user_aliases.0.alias_label`)
    return name === undefined || label === undefined ? undefined : { alias: { alias_name: name, alias_label: label } }
  })
  const known = users.filter((user) => user !== undefined)
  return [...known.filter((user) => 'externalId' in user), ...known.filter((user) => 'alias' in user)]
}

/** Undefined if the lookup worked. A lookup sends nothing, so its outcome is never unsure. */
export function outcomeOfLookup(answer: ProviderAnswer): Outcome | undefined {
  const words = wordsOf('Braze', answer, 'message', 'errors.0')
  if (answer.status === 200 || answer.status === 201) {
    return Array.isArray(answer.value('users')) ? undefined : busy(`${words} (no list of users)`)
  }
  return certainlyNotSent(failureOf(answer, words))
}

/** `unknown`: how many of the addresses belong to no user. */
export function brazeOutcome(answer: ProviderAnswer, unknown: number): Outcome {
  const words = wordsOf('Braze', answer, 'message', 'errors.0')
  if (answer.status !== 200 && answer.status !== 201) return failureOf(answer, words)
  const id = answer.id('dispatch_id')
  if (id === undefined) return unsure(words)
  const complaints = answer.list('errors').filter((one) => typeof one === 'string')
  const complaintText = [
    ...(unknown === 0 ? [] : [`${unknown} of the addresses do not belong to a user`]),
    ...complaints,
  ].join('; ')
  return complaintText === '' ? sent(id) : sent(id, `Braze accepted it, but: ${complaintText}`)
}

function failureOf(answer: ProviderAnswer, words: string): Outcome {
  switch (answer.status) {
    case 400:
    case 413:
    case 415:
      return refused('bad-content', words)
    case 404:
      // The address belongs to another instance, or to none.
      return misconfigured(words)
    case 429:
      return busy(words, retryAfterMsOf(answer) ?? resetMsOf(answer, 'x-ratelimit-reset'))
    default:
      return outcomeOfStatus(answer, words)
  }
}
