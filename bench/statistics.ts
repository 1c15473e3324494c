// Medians and percentiles of samples, and the table the bench prints.

export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5)

/** One measurement: what it is, the number, and the bar it is held to. */
export interface Measured {
  readonly what: string
  readonly value: string
  readonly bar?: string
  readonly met?: boolean
}

export function printTable(title: string, rows: readonly Measured[]): void {
  const width = Math.max(...rows.map((row) => row.what.length))
  const valueWidth = Math.max(...rows.map((row) => row.value.length))
  process.stdout.write(`\n${title}\n`)
  for (const row of rows) {
    const bar = row.bar === undefined ? '' : `  bar ${row.bar}  ${row.met === true ? 'met' : 'MISSED'}`
    process.stdout.write(`  ${row.what.padEnd(width)}  ${row.value.padStart(valueWidth)}${bar}\n`)
  }
}
