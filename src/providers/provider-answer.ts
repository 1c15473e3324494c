// A vendor's answer, read without trust: any member may be missing or of another type.
import type { OutboundAnswer } from '../world/world.ts'
import type { Reading } from './reading.ts'
import { readingOfExactJson, readingOfJson } from './reading.ts'

export interface ProviderAnswer extends Reading {
  readonly status: number
  readonly headers: Headers
  /** The body as it came. */
  readonly body: string
  /** When it arrived; omitted if not needed. */
  readonly receivedAt?: Date
}

/** The most that is repeated of a body that is not JSON. */
const shownBodyMax = 200

/** Field by field: it is created for every call, and spreads cost as much as all the rest of it. */
export function answerOf({ status, headers, body }: OutboundAnswer, receivedAt?: Date): ProviderAnswer {
  const reading = readingOfJson(body)
  const { string, number, flag, list, items, value } = reading
  // Computed once per response, and only if a vendor uses larger numbers than JSON.parse supports.
  const id = (path: string): string | undefined => (/\d{16}/.test(body) ? readingOfExactJson(body) : reading).id(path)
  const answer = { status, headers, body, string, number, flag, list, items, value, id }
  return receivedAt === undefined ? answer : Object.assign(answer, { receivedAt })
}

/** The vendor's words at one of the paths, else the beginning of its body, preceded by the status. */
export function wordsOf(vendor: string, answer: ProviderAnswer, ...paths: readonly string[]): string {
  const said = paths.map((path) => answer.string(path)).find((words) => words !== undefined && words !== '')
  const words = said ?? cut(answer.body).trim()
  return `${vendor} answered ${answer.status}${words === '' ? '' : `: ${words}`}`
}

/** What was cut off is marked: a secret may have been cut in two. */
const cut = (body: string): string => (body.length <= shownBodyMax ? body : `${body.slice(0, shownBodyMax)}…`)

/** No message waits for a vendor longer than this; the retry policy gives up sooner. */
const retryAfterMsMax = 86_400_000

/** How long the vendor asks us to wait: `Retry-After` in seconds or as a date. */
export function retryAfterMsOf(answer: ProviderAnswer): number | undefined {
  const given = answer.headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}(\.\d{1,9})?$/.test(given)) return bounded(Number(given) * 1000)
  // Only with the name of a day first: Date.parse makes a date of almost anything.
  const at = /^[A-Z][a-z]{2,8},? /.test(given) ? Date.parse(given) : Number.NaN
  return Number.isNaN(at) || answer.receivedAt === undefined ? undefined : bounded(at - answer.receivedAt.getTime())
}

/** The same for a vendor that gives a timestamp, in seconds since 1970. */
export function resetMsOf(answer: ProviderAnswer, header: string): number | undefined {
  const given = answer.headers.get(header)?.trim() ?? ''
  if (!/^\d{9,11}$/.test(given) || answer.receivedAt === undefined) return undefined
  return bounded(Number(given) * 1000 - answer.receivedAt.getTime())
}

const bounded = (ms: number): number => Math.ceil(Math.min(Math.max(ms, 0), retryAfterMsMax))
