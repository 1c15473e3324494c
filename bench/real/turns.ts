// Both sides of the realistic bench on one stage, taking turns: a machine that slows down slows both.
import { startProcess, withDataDirectory } from '../service.ts'
import { type Sink, startSink } from '../sink.ts'
import { scaled } from '../sizes.ts'
import type { Contender, ContenderName, Setting } from './contenders.ts'
import { startContender } from './contenders.ts'
import { compared, type Measure, type MeasuredRow } from './table.ts'

export interface Tools {
  readonly sink: Sink
  /** So many, at the scale of this run; fewer in the round that only warms up. */
  count(size: number): number
}

export interface Workload {
  /** Ids of the measures it returns. */
  readonly gives: readonly string[]
  /** Runs once, after all rounds. */
  readonly last?: true
  run(contender: Contender, tools: Tools): Promise<Readonly<Record<string, number>>>
}

export type Rounds = Map<ContenderName, Map<string, number[]>>

const warmUpShare = 0.25
const countMin = 100
export const roundsUsual = 3

/** Both services, freshly started, and a sink; all is stopped and removed afterwards, however the work ends. */
export async function withContenders<Result>(
  sides: readonly ContenderName[],
  setting: Omit<Setting, 'directory' | 'sinkPort'>,
  work: (contenders: readonly Contender[], sink: Sink) => Promise<Result>,
): Promise<Result> {
  return withDataDirectory(async (directory) => {
    const stopping: (() => Promise<void>)[] = []
    try {
      const sink = await startSink({
        startProgram: async (file) => {
          const one = await startProcess(['--import', 'tsx', file], {})
          stopping.push(() => one.stop())
          return one
        },
      })
      const contenders: Contender[] = []
      for (const side of sides) {
        const contender = await startContender(side, { ...setting, directory, sinkPort: sink.port })
        contenders.push(contender)
        stopping.push(() => contender.stop())
      }
      return await work(contenders, sink)
    } finally {
      for (const stop of stopping.reverse()) await stop()
    }
  })
}

export async function inTurns(
  workloads: readonly Workload[],
  contenders: readonly Contender[],
  sink: Sink,
  rounds: number,
): Promise<Rounds> {
  const results: Rounds = new Map(contenders.map(({ name }) => [name, new Map()]))
  const runOn = async (workload: Workload, contender: Contender, round: number): Promise<void> => {
    const share = round === 0 ? warmUpShare : 1
    const count = (size: number): number => Math.max(countMin, Math.round(scaled(size) * share))
    const numbers = await workload.run(contender, { sink, count })
    // The first round warms up the compilers and the plans.
    if (round === 0) return
    const kept = results.get(contender.name)
    for (const [id, value] of Object.entries(numbers)) kept?.set(id, [...(kept.get(id) ?? []), value])
    const parts = Object.entries(numbers).map(([id, value]) => `${id} ${value.toFixed(2)}`)
    process.stderr.write(`  round ${round}, ${contender.name}: ${parts.join(', ')}\n`)
  }
  const inRounds = workloads.filter(({ last }) => last !== true)
  for (let round = 0; round <= rounds; round += 1) {
    // Whoever went first goes second in the next round.
    const order = round % 2 === 0 ? contenders : contenders.toReversed()
    for (const workload of inRounds) for (const contender of order) await runOn(workload, contender, round)
  }
  for (const workload of workloads.filter(({ last }) => last === true)) {
    for (const contender of contenders) await runOn(workload, contender, rounds)
  }
  return results
}

/** The measures that were taken, both sides beside each other. */
export function rowsOf(measures: Readonly<Record<string, Measure>>, results: Rounds): MeasuredRow[] {
  return Object.entries(measures).flatMap(([id, measure]) => {
    const [handmade, posthorn] = [results.get('handmade')?.get(id), results.get('posthorn')?.get(id)]
    if (handmade === undefined && posthorn === undefined) return []
    return [{ id, measure, ...compared(handmade, posthorn) }]
  })
}
