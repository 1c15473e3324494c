// How large the loads are. BENCH_SCALE=0.1 makes all of them smaller, to try a bench out; bars are for 1.

const scale = Number(process.env['BENCH_SCALE'] ?? 1)

/** At least one step's worth, and always whole steps. */
export function scaled(size: number, step = 1): number {
  return Math.max(1, Math.round((size * scale) / step)) * step
}
