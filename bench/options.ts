// The command line of the benches: names, and what narrows or widens a run.
import { parseArgs } from 'node:util'

export const sides = ['handmade', 'posthorn'] as const
export type SideName = (typeof sides)[number]

export interface Options {
  readonly names: readonly string[]
  /** Measures or workloads by id; none means all. */
  readonly only: readonly string[]
  readonly sides: readonly SideName[]
  readonly scale: number
  readonly rounds: number | undefined
  /** POSTHORN_PROCESSES; undefined leaves the default. */
  readonly processes: string | undefined
  /** How long the provider takes, where a measure does not say so itself. */
  readonly latencyMs: number | undefined
  readonly check: boolean
}

const form = {
  only: { type: 'string', multiple: true },
  side: { type: 'string' },
  scale: { type: 'string' },
  rounds: { type: 'string' },
  processes: { type: 'string' },
  latency: { type: 'string' },
  check: { type: 'boolean' },
} as const

export function readOptions(args: readonly string[], environment: NodeJS.ProcessEnv = process.env): Options {
  const { values, positionals } = parseArgs({ args: [...args], options: form, allowPositionals: true })
  if (values.check === true && values.side !== undefined) {
    throw new Error('--check compares ratios, which one side alone has none of: leave --side out')
  }
  if (values.check === true && positionals.length > 0) {
    throw new Error('--check compares the whole report, or rows of it (--only): leave the names out')
  }
  return {
    names: positionals,
    only: (values.only ?? []).flatMap((list) => list.split(',')),
    sides: sidesOf(values.side),
    scale: numberOf('--scale', values.scale ?? environment['BENCH_SCALE']) ?? 1,
    rounds: numberOf('--rounds', values.rounds),
    processes: values.processes,
    latencyMs: numberOf('--latency', values.latency),
    check: values.check ?? false,
  }
}

function sidesOf(asked: string | undefined): readonly SideName[] {
  const found = sides.filter((side) => asked === undefined || side === asked)
  if (found.length === 0) throw new Error(`--side must be one of ${sides.join(', ')}`)
  return found
}

function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isFinite(value) || value < 0) throw new Error(`${name} must be a number`)
  return value
}
