// Interleaved rounds of two sides: a machine that slows down slows both, and the median round reports the ratio.
import type { Measured } from './statistics.ts'
import { median } from './statistics.ts'

/** One round; returns how many a second. */
export type Side = () => Promise<number>

export interface Comparison {
  readonly ours: number
  readonly theirs: number
  readonly ratio: number
}

export async function compareSides(ours: Side, theirs: Side, rounds: number): Promise<Comparison> {
  const results = { ours: [] as number[], theirs: [] as number[] }
  for (let round = 0; round <= rounds; round += 1) {
    const theirRate = await theirs()
    const ourRate = await ours()
    // The first round warms up the compilers and the plans.
    if (round === 0) continue
    results.theirs.push(theirRate)
    results.ours.push(ourRate)
  }
  const ratios = results.ours.map((rate, index) => rate / (results.theirs[index] ?? Number.NaN))
  return { ours: median(results.ours), theirs: median(results.theirs), ratio: median(ratios) }
}

export function comparisonRows(
  { ours, theirs, ratio }: Comparison,
  { ourName, theirName, unit, bar }: { ourName: string; theirName: string; unit: string; bar: number },
): Measured[] {
  return [
    { what: theirName, value: `${theirs.toFixed(0)} ${unit}/s` },
    { what: ourName, value: `${ours.toFixed(0)} ${unit}/s` },
    { what: 'ratio, median of rounds', value: ratio.toFixed(2), bar: `≥ ${bar}`, met: ratio >= bar },
  ]
}
