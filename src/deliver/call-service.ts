// Calls a customer's own service for a custom step: once, signed, guarded; the result is reported without secrets.
import type { CustomResult } from '../domain/delivery/custom-call.ts'
import { callResultOf } from '../domain/delivery/custom-call.ts'
import type { CallOut } from '../domain/delivery/decision.ts'
import type { CallKey } from '../domain/operate/signing-keys.ts'
import { answerOf, retryAfterMsOf } from '../providers/provider-answer.ts'
import { signedCall } from '../providers/signing/call-signature.ts'
import { storable } from '../providers/words.ts'
import { OutboundError } from '../world/outbound/outbound-error.ts'
import type { OutboundAnswer, World } from '../world/world.ts'

export type CallOutcome =
  | { readonly kind: 'answered'; readonly facts: CallFacts; readonly result: CustomResult }
  /** It may have done something or not: it is called again with the same key, by which it recognises a repeat. */
  | { readonly kind: 'busy'; readonly facts: CallFacts; readonly retryAfterMs?: number }
  | { readonly kind: 'failed'; readonly facts: CallFacts }

/** What the activity shows about a response, or its absence. */
export interface CallFacts {
  readonly status?: number
  readonly answer?: string
  readonly message?: string
}

/** What is requested from whom. */
export type Asked = Pick<CallOut, 'url' | 'method' | 'headers' | 'body' | 'timeoutMs'>

export interface ServiceCall {
  readonly call: Asked
  /** The same for every repeat. */
  readonly idempotencyKey: string
  readonly keys: readonly CallKey[]
}

export async function callService(world: World, { call, idempotencyKey, keys }: ServiceCall): Promise<CallOutcome> {
  const { url, method, body, timeoutMs } = call
  const headers = { ...call.headers, 'content-type': 'application/json', 'idempotency-key': idempotencyKey }
  const request = signedCall({ url, method, headers, body }, idempotencyKey, keys, world.now())
  try {
    return outcomeOf(await world.fetch(request, { reach: 'guarded', timeoutMs }), call, world.now())
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const facts = { message: error.message }
    return error.kind === 'refused-address' ? { kind: 'failed', facts } : { kind: 'busy', facts }
  }
}

/** Statuses after which the same call may well be answered: the service was too slow, too busy or not there. */
const busyStatuses: ReadonlySet<number> = new Set([408, 425, 429])

function outcomeOf(answer: OutboundAnswer, call: Asked, now: Date): CallOutcome {
  const { status } = answer
  const facts = { status, answer: shownAnswer(answer.body, call) }
  if (status >= 200 && status < 300) {
    const result = callResultOf(answer.body)
    if (result !== undefined) return { kind: 'answered', facts, result }
    const message = 'The response was not a JSON object that can be stored: later steps see an empty result'
    return { kind: 'answered', facts: answer.body === '' ? { status } : { ...facts, message }, result: {} }
  }
  if (status >= 500 || busyStatuses.has(status)) {
    const retryAfterMs = retryAfterMsOf(answerOf(answer, now))
    return { kind: 'busy', facts, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
  }
  if (status >= 300 && status < 400)
    return { kind: 'failed', facts: { ...facts, message: 'Redirects are not followed' } }
  return { kind: 'failed', facts }
}

/** Enough to see what went wrong. */
const shownBytesMax = 4_000
/** Shorter values stand in many a text by chance. */
const secretLengthMin = 6

/** Services that echo what they were sent must not carry a header's secret, or that of a query, into the activity. */
function shownAnswer(body: string, call: Asked): string {
  const shown = secretsOf(call).reduce((text, secret) => text.replaceAll(secret, '…'), body)
  return storable(shown, shownBytesMax)
}

/** The longest first: replacing a part must not leave the rest of a longer one. */
function secretsOf({ url, headers }: Asked): string[] {
  const sent = Object.values(headers).flatMap((value) => [value, value.split(' ').at(-1) ?? ''])
  const all = [...sent, ...querySecrets(url)].flatMap(spellings)
  return [...new Set(all)].filter((one) => one.length >= secretLengthMin).sort((a, b) => b.length - a.length)
}

/** An address without a query is shown anyway. */
function querySecrets(address: string): string[] {
  const { href, pathname, search, searchParams } = new URL(address)
  if (search === '') return []
  const asSent = search.slice(1).split('&')
  const values = asSent.map((piece) => piece.slice(piece.indexOf('=') + 1))
  return [address, href, `${pathname}${search}`, search, search.slice(1), ...values, ...searchParams.values()]
}

/** As it is, and as it appears in JSON, where some escape slashes. */
function spellings(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1)
  return [secret, inJson, inJson.replaceAll('/', '\\/')]
}
