// The command line of `npm run soak`.
import { parseArgs } from 'node:util'
import { newSeed } from './random.ts'

export interface SoakOptions {
  /** Empty: all of them. */
  readonly scenes: readonly string[]
  readonly kills: number | undefined
  readonly events: number | undefined
  readonly durationMs: number | undefined
  readonly intervalMs: readonly [number, number]
  /** Whether the interval runs from the start of the process, ready or not, or from its /ready. */
  readonly from: 'start' | 'ready'
  readonly nodes: number | undefined
  readonly seed: string
  readonly freezeMs: number
  readonly settleMs: number | undefined
  /** Where results are kept; nothing is written without it. */
  readonly results: string
  readonly report: boolean
  /** With `report`: also results of other builds. */
  readonly allBuilds: boolean
  readonly list: boolean
  readonly keep: boolean
}

export const usage = `npm run soak -- [options]

  --scene NAME      one scene, or several by commas; all without it
  --kills N         faults per scene (16)
  --events N        events per scene (2000)
  --duration S      go on for so many seconds instead of a number of faults
  --interval A-B    seconds from one fault to the next (2-4)
  --from WHAT       count the interval from the \`start\` of the killed process (default), or from its \`ready\`
  --nodes N         nodes, in scenes with several
  --freeze S        how long a frozen node stays frozen (120)
  --settle S        how long to wait at the end until nothing is unfinished
  --seed X          plan the same load and the same faults again
  --results DIR     where results are kept (soak/results)
  --keep            leave the logs, the ledger and the data where they are
  --list            name the scenes
  --report          only write docs/reliability.md, from the results of this build
  --all-builds      with --report: from the results of all builds`

const specification = {
  scene: { type: 'string' },
  kills: { type: 'string' },
  events: { type: 'string' },
  duration: { type: 'string' },
  interval: { type: 'string', default: '2-4' },
  from: { type: 'string', default: 'start' },
  nodes: { type: 'string' },
  freeze: { type: 'string', default: '120' },
  settle: { type: 'string' },
  seed: { type: 'string' },
  results: { type: 'string', default: 'soak/results' },
  keep: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
  'all-builds': { type: 'boolean', default: false },
} as const

export function readOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({ args: [...args], options: specification })
  return {
    scenes: values.scene === undefined ? [] : values.scene.split(','),
    kills: optionalNumber('kills', values.kills),
    events: optionalNumber('events', values.events),
    durationMs: inMs(optionalNumber('duration', values.duration)),
    intervalMs: rangeMs(values.interval),
    from: fromOf(values.from),
    nodes: optionalNumber('nodes', values.nodes),
    seed: values.seed ?? newSeed(),
    freezeMs: numberOf('freeze', values.freeze) * 1000,
    settleMs: inMs(optionalNumber('settle', values.settle)),
    results: values.results,
    report: values.report,
    allBuilds: values['all-builds'],
    list: values.list,
    keep: values.keep,
  }
}

export class UsageProblem extends Error {}

function numberOf(name: string, text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw new UsageProblem(`--${name} takes a number above 0, not ${text}`)
  return number
}

const optionalNumber = (name: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : numberOf(name, text)

const inMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1000)

function fromOf(text: string): 'start' | 'ready' {
  if (text === 'start' || text === 'ready') return text
  throw new UsageProblem(`--from takes start or ready, not ${text}`)
}

function rangeMs(text: string): readonly [number, number] {
  const found = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text)
  const [least, most] = [Number(found?.[1]) * 1000, Number(found?.[2]) * 1000]
  if (!(least <= most)) throw new UsageProblem(`--interval takes two numbers of seconds such as 2-4, not ${text}`)
  return [least, most]
}
