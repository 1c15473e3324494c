// npm run bench -- floor: a bare server under the loads of the realistic table, beside the hand-made service. Its rows say what a bar
// asks for in this run, and whether a program that does next to nothing has it.
import type { Options } from '../options.ts'
import type { Measured } from '../statistics.ts'
import { median } from '../statistics.ts'
import { measures, workloadsFor } from './real.ts'
import { barText, isMet, type Measure, shown } from './table.ts'
import { inTurns, type Rounds, roundsUsual, withContenders } from './turns.ts'

/** It has no pages. */
const loads = ['burst', 'burst-200', 'single', 'steady', 'memory']

export async function benchFloor({ rounds = roundsUsual, latencyMs = 0 }: Pick<Options, 'rounds' | 'latencyMs'>) {
  const workloads = workloadsFor({ eventsPerCall: 1, template: 'rich', recipients: 'inline', latencyMs })
  const chosen = loads.flatMap((name) => workloads[name] ?? [])
  const setting = { processes: undefined, manyPerCall: false, history: 0 }
  const results = await withContenders(['handmade', 'bare'], setting, (contenders, sink) =>
    inTurns(chosen, contenders, sink, rounds),
  )
  return floorRows(results)
}

export function floorRows(results: Rounds): Measured[] {
  return Object.entries(measures).flatMap(([id, measure]) => {
    const handmade = results.get('handmade')?.get(id)
    const bare = results.get('bare')?.get(id)
    return measure.bar === undefined || handmade === undefined || bare === undefined
      ? []
      : [floorRow(measure, measure.bar, median(handmade), median(bare))]
  })
}

function floorRow(measure: Measure, bar: number, handmade: number, bare: number): Measured {
  const numbers = [handmade, bare, handmade * bar].map((number) => shown(number).padStart(8)).join(' ')
  const value = `${numbers} ${measure.unit.padEnd(5)}`
  return { what: measure.title, value, bar: barText(measure), met: isMet(measure, bare / handmade) }
}
