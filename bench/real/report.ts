// npm run bench: the realistic table and the sweep as one report, written to bench/results, or compared with what is there.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Options } from '../options.ts'
import { printTable } from '../statistics.ts'
import { chartOf } from './chart.ts'
import { machineText, versionsUsed } from './machine.ts'
import { measureReal } from './real.ts'
import { markdownOf, type ResultGroup, type Results, regressions, resultRowOf } from './results.ts'
import { measureSweepRow, type SweepRow, sweepRows } from './sweep.ts'
import { isMet, type MeasuredRow, printed } from './table.ts'

const folder = join('bench', 'results')
const storedPath = join(folder, 'latest.json')
export const realTitle = 'The realistic middle'

/** Measures, prints and, when it was the whole report, writes it. Returns how many bars were missed or ratios got worse. */
export async function report(options: Options): Promise<number> {
  // Read first: a check without anything to compare with must not take an hour to say so.
  const stored = options.check ? readStored() : undefined
  const wantsReal = options.only.length === 0 || options.only.includes('real')
  const rows = sweepRowsFor(
    options.only.filter((id) => id !== 'real'),
    wantsReal && options.only.length > 0,
  )
  const real = wantsReal ? await groupOf('real', realTitle, () => measureReal({ ...options, only: [] })) : null
  const sweep: ResultGroup[] = []
  for (const row of rows) sweep.push(await groupOf(row.id, row.title, () => measureSweepRow(row, options)))
  const results: Results = {
    measuredAt: new Date().toISOString(),
    machine: machineText(),
    versions: versionsUsed(),
    scale: options.scale,
    real,
    sweep,
  }
  if (stored !== undefined) return check(stored, results)
  if (options.only.length === 0 && options.sides.length === 2) write(results)
  return missedBars(results)
}

const missedBars = ({ real }: Results): number =>
  (real?.rows ?? []).filter((row) => row.ratio !== null && !isMet(row, row.ratio)).length

function sweepRowsFor(ids: readonly string[], onlyReal: boolean): readonly SweepRow[] {
  if (ids.length === 0) return onlyReal ? [] : sweepRows
  const unknown = ids.filter((id) => !sweepRows.some((row) => row.id === id))
  if (unknown.length > 0) {
    const known = ['real', ...sweepRows.map((row) => row.id)]
    throw new Error(`The sweep has no row ${unknown.join(', ')}; it has ${known.join(', ')}`)
  }
  return sweepRows.filter((row) => ids.includes(row.id))
}

async function groupOf(id: string, title: string, measure: () => Promise<MeasuredRow[]>): Promise<ResultGroup> {
  const startedAt = performance.now()
  const rows = await measure()
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  printTable(`${title}: hand-made, Posthorn (${id}, ${seconds} s)`, rows.map(printed))
  return { id, title, rows: rows.map(resultRowOf) }
}

function readStored(): Results {
  try {
    return JSON.parse(readFileSync(storedPath, 'utf8')) as Results
  } catch {
    throw new Error(`--check compares with ${storedPath}, which is missing: npm run bench writes it`)
  }
}

function check(stored: Results, fresh: Results): number {
  if (stored.scale !== fresh.scale) {
    process.stderr.write(
      `Stored at scale ${stored.scale}, measured at ${fresh.scale}: the ratios differ for that too\n`,
    )
  }
  const worse = regressions(stored, fresh)
  const says = worse.length === 0 ? ['No stored ratio got worse by more than a fifth.'] : worse
  process.stdout.write(`\n${says.join('\n')}\n`)
  return worse.length
}

function write(results: Results): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(storedPath, `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(join(folder, 'latest.md'), markdownOf(results))
  writeFileSync(join(folder, 'latest.svg'), chartOf(results))
  process.stdout.write(`\nWritten: ${storedPath}, latest.md and latest.svg beside it\n`)
}
