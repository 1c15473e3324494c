// Access tokens of service accounts: one per account, shared by all that send with it, and renewed before it expires.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, certainlyNotSent, misconfigured } from '../../domain/delivery/outcome.ts'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import type { World } from '../../world/world.ts'
import { outcomeOfFailure, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { heldByWorld } from './held-by-world.ts'
import type { ServiceAccount } from './service-account.ts'
import { askAccessToken, readServiceAccount } from './service-account.ts'

export interface AccessToken {
  readonly value: string
  readonly endsAt: Date
}

interface HeldAccount {
  readonly account: ServiceAccount
  token: AccessToken | undefined
  /** Those who need a token while one is being requested wait for the same answer. */
  asking: Promise<AccessToken | Outcome> | undefined
}

/** Long enough for the slowest send that still uses the old one. */
const renewBeforeMs = 300_000
/** Google's default. */
const lifetimeSeconds = 3_600
/** Leaves the send that waits for it the ten seconds that Firebase asks for. */
const askTimeoutMs = 8_000

const held = heldByWorld<HeldAccount>()

export function heldAccount(world: World, file: string): HeldAccount | { readonly mistake: string } {
  return held<{ readonly mistake: string }>(world, file, () => {
    const account = readServiceAccount(file)
    return 'mistake' in account ? account : { account, token: undefined, asking: undefined }
  })
}

/** A token that is valid for this send, or why there is none; then certainly nothing was sent. */
export async function accessTokenOf(world: World, held: HeldAccount): Promise<AccessToken | Outcome> {
  const { token } = held
  const leftMs = (token?.endsAt.getTime() ?? 0) - world.now().getTime()
  if (token !== undefined && leftMs > renewBeforeMs) return token
  held.asking ??= asked(world, held).finally(() => {
    held.asking = undefined
  })
  const granted = await held.asking
  // A failure at Google does not matter while the old one is valid.
  return 'kind' in granted && token !== undefined && leftMs > 0 && granted.kind === 'busy' ? token : granted
}

/** Forgets a rejected token, unless another replaced it in the meantime. */
export function forgetAccessToken(held: HeldAccount, token: AccessToken): void {
  if (held.token === token) held.token = undefined
}

async function asked(world: World, held: HeldAccount): Promise<AccessToken | Outcome> {
  const askedAt = world.now()
  let answer: ProviderAnswer
  try {
    answer = await askAccessToken(world, held.account, askTimeoutMs)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const outcome = outcomeOfFailure(error)
    // Perhaps a token was granted, but no message was sent.
    return certainlyNotSent(outcome)
  }
  const value = answer.string('access_token')
  if (answer.status !== 200 || value === undefined || value === '') return refusalOf(answer)
  const lastsMs = (answer.number('expires_in') ?? lifetimeSeconds) * 1000
  held.token = { value, endsAt: new Date(askedAt.getTime() + lastsMs) }
  return held.token
}

function refusalOf(answer: ProviderAnswer): Outcome {
  // Not the body of a success: there may be a token in it.
  if (answer.status === 200) return busy('Google answered 200 without an access token')
  const outcome = outcomeOfStatus(answer, wordsOf('Google', answer, 'error_description', 'error'))
  if (outcome.kind === 'refused') return misconfigured(outcome.detail)
  return certainlyNotSent(outcome)
}
