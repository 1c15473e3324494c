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
  list(path: string): readonly unknown[]
}

/** More of a body that is no JSON is not repeated to anyone. */
const shownBodyMax = 200

export function answerOf(answer: OutboundAnswer): ProviderAnswer {
  const json = parsed(answer.body)
  const at = (path: string): unknown => path.split('.').reduce(memberOf, json)
  return {
    ...answer,
    string: (path) => {
      const value = at(path)
      return typeof value === 'string' ? value : undefined
    },
    number: (path) => {
      const value = at(path)
      return typeof value === 'number' ? value : undefined
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

function parsed(body: string): unknown {
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
