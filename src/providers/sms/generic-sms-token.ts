// The token that some receivers of the SMS webhook want: obtained with the account's keys, and sent as a header.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured } from '../../domain/delivery/outcome.ts'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import type { World } from '../../world/world.ts'
import { ofVisibleAscii } from '../form.ts'
import type { HeldToken } from '../held-token.ts'
import { createHeldTokens, outcomeWithoutToken } from '../held-token.ts'
import { outcomeOfFailure, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf, wordsOf } from '../provider-answer.ts'

/** Where a token comes from, and its name in the response and as a header. */
export interface TokenSource {
  readonly url: string
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
}

/** The lifetime is not reported: short enough for any token worth caching. */
const lifetimeMs = 300_000
/** Leaves the send that waits for it as much time again. */
export const askTimeoutMs = 8_000

const tokens = createHeldTokens()

/** A token that is valid for this send, or why there is none; then certainly nothing was sent. */
export const tokenOf = (world: World, source: TokenSource): Promise<HeldToken | Outcome> =>
  tokens.tokenOf(world, keyOf(source), () => askToken(world, source))

export const forgetToken = (world: World, source: TokenSource, token: HeldToken): void =>
  tokens.forget(world, keyOf(source), token)

const keyOf = ({ url, name, headers }: TokenSource): string => JSON.stringify([url, name, headers])

export async function askToken(world: World, { url, name, headers }: TokenSource): Promise<HeldToken | Outcome> {
  const askedAt = world.now()
  let answer: ProviderAnswer
  try {
    const options = { timeoutMs: askTimeoutMs, sendsNothing: true } as const
    answer = answerOf(await world.fetch({ url, method: 'POST', headers }, options), askedAt)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return outcomeWithoutToken(outcomeOfFailure(error))
  }
  if (answer.status < 200 || answer.status >= 300) {
    const words = wordsOf('The token URL', answer, 'message', 'error.message', 'error')
    return outcomeWithoutToken(outcomeOfStatus(answer, words))
  }
  const value = answer.string(`data.${name}`) ?? answer.string(name) ?? ''
  if (ofVisibleAscii(value) !== undefined) {
    // Not its body: there may be a token in it.
    return misconfigured(`The token URL responded ${answer.status} without a token of the given name`)
  }
  return { value, endsAt: new Date(askedAt.getTime() + lifetimeMs) }
}
