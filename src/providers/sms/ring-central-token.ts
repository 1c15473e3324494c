// RingCentral's access tokens: one per account, shared by all that send with it, and renewed before it expires.
// https://developers.ringcentral.com/guide/authentication/jwt-flow
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy } from '../../domain/delivery/outcome.ts'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import type { World } from '../../world/world.ts'
import { baseAddress } from '../form.ts'
import type { HeldToken } from '../held-token.ts'
import { createHeldTokens, outcomeWithoutToken } from '../held-token.ts'
import { outcomeOfFailure, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf, wordsOf } from '../provider-answer.ts'
import { basicAuth } from '../signing/signing.ts'

export interface RingCentralAccount {
  readonly clientId: string
  readonly secretKey: string
  readonly token: string
  readonly secure?: boolean | undefined
  readonly baseUrl?: string | undefined
}

const renewBeforeMs = 60_000
/** RingCentral's default. */
const lifetimeSeconds = 3_600
/** Leaves the send that waits for it as much time again. */
export const askTimeoutMs = 8_000

const tokens = createHeldTokens()

export function hostOf({ baseUrl, secure }: RingCentralAccount): string {
  if (baseUrl !== undefined) return baseAddress(baseUrl)
  return secure === true ? 'https://platform.devtest.ringcentral.com' : 'https://platform.ringcentral.com'
}

export const reachOf = ({ baseUrl }: RingCentralAccount): 'operator' | 'guarded' =>
  baseUrl === undefined ? 'guarded' : 'operator'

/** A token that is valid for this send, or why there is none; then certainly nothing was sent. */
export const accessTokenOf = (world: World, account: RingCentralAccount): Promise<HeldToken | Outcome> =>
  tokens.tokenOf(world, keyOf(account), () => asked(world, account))

/** Forgets a rejected token, unless another replaced it in the meantime. */
export const forgetAccessToken = (world: World, account: RingCentralAccount, token: HeldToken): void =>
  tokens.forget(world, keyOf(account), token)

const keyOf = (account: RingCentralAccount): string =>
  JSON.stringify([hostOf(account), account.clientId, account.secretKey, account.token])

async function asked(world: World, account: RingCentralAccount): Promise<HeldToken | Outcome> {
  const askedAt = world.now()
  let answer: ProviderAnswer
  try {
    answer = await askAccessToken(world, account, askTimeoutMs)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return outcomeWithoutToken(outcomeOfFailure(error))
  }
  const value = answer.string('access_token')
  if (answer.status !== 200 || value === undefined || value === '') return refusalOf(answer)
  const lastsMs = (answer.number('expires_in') ?? lifetimeSeconds) * 1000
  return { value, endsAt: new Date(askedAt.getTime() + lastsMs - renewBeforeMs) }
}

export async function askAccessToken(
  world: World,
  account: RingCentralAccount,
  timeoutMs: number,
): Promise<ProviderAnswer> {
  const { clientId, secretKey, token } = account
  const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: token })
  const request = {
    url: `${hostOf(account)}/restapi/oauth/token`,
    method: 'POST',
    headers: {
      authorization: basicAuth(clientId, secretKey),
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: body.toString(),
  }
  const options = { timeoutMs, account, reach: reachOf(account), sendsNothing: true } as const
  return answerOf(await world.fetch(request, options), world.now())
}

export function wordsOfRefusal(answer: ProviderAnswer): string {
  // Not the body of a success: there may be a token in it.
  if (answer.status === 200) return 'RingCentral answered 200 without an access token'
  return wordsOf('RingCentral', answer, 'error_description', 'message', 'error')
}

function refusalOf(answer: ProviderAnswer): Outcome {
  const words = wordsOfRefusal(answer)
  return answer.status === 200 ? busy(words) : outcomeWithoutToken(outcomeOfStatus(answer, words))
}
