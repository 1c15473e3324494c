// How large the loads are. --scale 0.1 (or BENCH_SCALE) makes all of them smaller, to try a bench out; bars are for 1.
import { readOptions } from './options.ts'

const { scale } = readOptions(process.argv.slice(2))

/** At least one step's worth, and always whole steps. */
export function scaled(size: number, step = 1): number {
  return Math.max(1, Math.round((size * scale) / step)) * step
}
