// What `npm run fuzz` is asked to do.
import { parseArgs } from 'node:util'

export interface Options {
  readonly requests: number
  readonly seed: number
  /** After so long no more requests are sent, however many are left. */
  readonly seconds: number
  readonly connections: number
  /** Requests that one connection sends before their answers come. */
  readonly pipelining: number
  /** Only operations whose method and path contain this. */
  readonly only: string | undefined
  /** Whether five bodies of 26 MiB are sent at once, after the rest. */
  readonly bodies: boolean
  /** Writes docs/security-report.md from the results, and does nothing else. */
  readonly report: boolean
  /** Where the results go; nowhere unless given. */
  readonly results: string | undefined
}

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      requests: { type: 'string', default: '200000' },
      seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
      seconds: { type: 'string', default: '86400' },
      connections: { type: 'string', default: '6' },
      pipelining: { type: 'string', default: '4' },
      only: { type: 'string' },
      bodies: { type: 'boolean', default: false },
      report: { type: 'boolean', default: false },
      results: { type: 'string' },
    },
  })
  return {
    requests: wholeNumber('requests', values.requests),
    seed: wholeNumber('seed', values.seed),
    seconds: wholeNumber('seconds', values.seconds),
    connections: wholeNumber('connections', values.connections),
    pipelining: wholeNumber('pipelining', values.pipelining),
    only: values.only,
    bodies: values.bodies,
    report: values.report,
    results: values.results,
  }
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`--${name} must be a whole number, not ${text}`)
  return value
}
