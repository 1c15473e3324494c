// A vendor's answer, read without trust: any member may be missing or of another type.
import type { OutboundAnswer } from '../world/world.ts'

export interface ProviderAnswer {
  readonly status: number
  readonly headers: Headers
  /** The body as it came. */
  readonly body: string
  /** The text at a path such as `errors.0.message`. */
  string(path: string): string | undefined
  number(path: string): number | undefined
  flag(path: string): boolean | undefined
  list(path: string): readonly unknown[]
  /** When it came; left out where nobody asks. */
  readonly receivedAt?: Date
}

/** More of a body that is no JSON is not repeated to anyone. */
const shownBodyMax = 200

export function answerOf(answer: OutboundAnswer, receivedAt?: Date): ProviderAnswer {
  const json = parsed(answer.body)
  const at = (path: string): unknown => path.split('.').reduce(memberOf, json)
  return {
    ...answer,
    ...(receivedAt === undefined ? {} : { receivedAt }),
    string: (path) => {
      const value = at(path)
      return typeof value === 'string' ? value : undefined
    },
    number: (path) => {
      const value = at(path)
      return typeof value === 'number' ? value : undefined
    },
    flag: (path) => {
      const value = at(path)
      return typeof value === 'boolean' ? value : undefined
    },
    list: (path) => {
      const value = at(path)
      return Array.isArray(value) ? value : []
    },
  }
}

/** The vendor's words at one of the paths, else the beginning of its body, with the status before them. */
export function wordsOf(vendor: string, answer: ProviderAnswer, ...paths: readonly string[]): string {
  const said = paths.map((path) => answer.string(path)).find((words) => words !== undefined && words !== '')
  const words = said ?? answer.body.slice(0, shownBodyMax).trim()
  return `${vendor} answered ${answer.status}${words === '' ? '' : `: ${words}`}`
}

/** No message waits for a vendor longer than this; the retry policy gives up sooner. */
const retryAfterMsMax = 86_400_000

/** How long the vendor wants to be left alone: `Retry-After` in seconds or as a date. */
export function retryAfterMsOf(answer: ProviderAnswer): number | undefined {
  const given = answer.headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}(\.\d{1,9})?$/.test(given)) return bounded(Number(given) * 1000)
  // A day's name first, or Date.parse would make a date of almost anything.
  const at = /^[A-Z][a-z]{2,8},? /.test(given) ? Date.parse(given) : Number.NaN
  return Number.isNaN(at) || answer.receivedAt === undefined ? undefined : bounded(at - answer.receivedAt.getTime())
}

/** The same for a vendor that names the moment, in seconds of the Unix clock. */
export function resetMsOf(answer: ProviderAnswer, header: string): number | undefined {
  const given = answer.headers.get(header)?.trim() ?? ''
  if (!/^\d{9,11}$/.test(given) || answer.receivedAt === undefined) return undefined
  return bounded(Number(given) * 1000 - answer.receivedAt.getTime())
}

const bounded = (ms: number): number => Math.ceil(Math.min(Math.max(ms, 0), retryAfterMsMax))

function parsed(body: string): unknown {
  // Most answers that matter are short or empty, and an exception costs more than a look.
  if (body === '') return undefined
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}
