// The results of a whole run as files: JSON to compare with, Markdown to read. Pure.
import type { MeasuredRow } from './table.ts'
import { barText, isMet, shown } from './table.ts'

export interface ResultRow {
  readonly id: string
  readonly title: string
  readonly unit: string
  readonly better: 'higher' | 'lower'
  readonly bar?: number
  readonly handmade: number | null
  readonly posthorn: number | null
  readonly ratio: number | null
}

/** The table of the realistic bench, or one row of the sweep with its measures. */
export interface ResultGroup {
  readonly id: string
  readonly title: string
  readonly rows: readonly ResultRow[]
}

export interface Results {
  readonly measuredAt: string
  readonly machine: string
  readonly versions: Readonly<Record<string, string>>
  /** 1 unless the loads were made smaller. */
  readonly scale: number
  readonly real: ResultGroup | null
  readonly sweep: readonly ResultGroup[]
}

export const resultRowOf = ({ id, measure, handmade, posthorn, ratio }: MeasuredRow): ResultRow => ({
  id,
  ...measure,
  handmade: rounded(handmade),
  posthorn: rounded(posthorn),
  ratio: rounded(ratio),
})

const rounded = (value: number | undefined): number | null =>
  value === undefined || !Number.isFinite(value) ? null : Number(value.toPrecision(4))

/** A ratio that got worse by more than this share of what is stored fails the check. */
const toleratedShare = 0.2

/**
 * One sentence for each stored ratio that got worse. What was left out this time is not judged; but a group that was measured
 * has all its ratios, or it cannot be said that they held.
 */
export function regressions(stored: Results, fresh: Results): string[] {
  const freshRows = new Map(allRows(fresh))
  const measured = new Set(groupsOf(fresh).map(({ id }) => id))
  const judged = groupsOf(stored).filter(({ id }) => measured.has(id))
  return judged.flatMap((group) =>
    namedRows(group).flatMap(([name, { ratio: before, better }]) => {
      if (before === null) return []
      const now = freshRows.get(name)?.ratio ?? null
      if (now !== null && !isWorse(better, before, now)) return []
      const says = now === null ? 'there is no ratio' : `the ratio is ${shown(now)}`
      return [`${name}: ${says}, stored is ${shown(before)} (${better} is better)`]
    }),
  )
}

const isWorse = (better: ResultRow['better'], before: number, now: number): boolean =>
  better === 'higher' ? now < before * (1 - toleratedShare) : now > before * (1 + toleratedShare)

const groupsOf = ({ real, sweep }: Results): readonly ResultGroup[] => (real === null ? sweep : [real, ...sweep])

const namedRows = ({ id, rows }: ResultGroup): [name: string, ResultRow][] =>
  rows.map((row): [string, ResultRow] => [`${id}, ${row.id}`, row])

const allRows = (results: Results): [name: string, ResultRow][] => groupsOf(results).flatMap(namedRows)

export function markdownOf(results: Results): string {
  const { measuredAt, machine, versions, scale, real, sweep } = results
  const facts = [
    `Measured ${measuredAt.slice(0, 10)} on ${machine}.`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    ...(scale === 1 ? [] : [`At scale ${scale}: smaller loads than the bars are for.`]),
  ]
  const parts = [
    '# Results of the bench\n\nWritten by `npm run bench`; [bench/README.md](../README.md) says what is measured and what is left out.\n',
    `${facts.join('  \n')}\n`,
    '![Posthorn against the hand-made service](latest.svg)\n',
    ...(real === null ? [] : [`## ${real.title}\n\n${realTable(real)}`]),
    ...(sweep.length === 0 ? [] : [`## One factor at a time\n\n${sweepTable(sweep)}`]),
    ...sweep.flatMap(moreOf),
  ]
  return parts.join('\n')
}

function realTable({ rows }: ResultGroup): string {
  const lines = rows.map((row) => {
    const { ratio } = row
    const verdict = row.bar === undefined || ratio === null ? '' : isMet(row, ratio) ? 'met' : 'missed'
    return `| ${row.title} | ${cellOfSide(row, 'handmade')} | ${cellOfSide(row, 'posthorn')} | ${shownOr(ratio)} | ${barText(row)} | ${verdict} |`
  })
  return `| measure | hand-made | Posthorn | ratio | bar | |\n|---|---|---|---|---|---|\n${lines.join('\n')}\n`
}

const cellOfSide = (row: ResultRow, side: 'handmade' | 'posthorn'): string =>
  row[side] === null ? '–' : `${shownOr(row[side])}${row.unit === '/s' ? '' : ' '}${row.unit}`

const shownOr = (value: number | null): string => shown(value ?? undefined)

/** What every row of the sweep has. */
const sweepColumns = ['accepted', 'rate', 'p50', 'p99', 'cpu', 'wal', 'memory'] as const

function sweepTable(groups: readonly ResultGroup[]): string {
  const titles = sweepColumns.map((id) => {
    const found = groups.flatMap(({ rows }) => rows).find((row) => row.id === id)
    return found === undefined ? id : `${found.title}, ${found.unit}`
  })
  const cellOf = (group: ResultGroup, id: string): string => {
    const row = group.rows.find((one) => one.id === id)
    if (row === undefined) return ''
    return `${shownOr(row.posthorn)} / ${shownOr(row.handmade)} = **${shownOr(row.ratio)}**`
  }
  const lines = groups.map((group) => `| ${group.title} | ${sweepColumns.map((id) => cellOf(group, id)).join(' | ')} |`)
  const head = `| Posthorn / hand-made = ratio | ${titles.join(' | ')} |\n|${'---|'.repeat(titles.length + 1)}`
  return `${head}\n${lines.join('\n')}\n`
}

/** Measures that only this row of the sweep has. */
function moreOf({ title, rows }: ResultGroup): string[] {
  const more = rows.filter(({ id }) => !sweepColumns.some((column) => column === id))
  if (more.length === 0) return []
  const lines = more.map(
    (row) =>
      `| ${row.title} | ${cellOfSide(row, 'handmade')} | ${cellOfSide(row, 'posthorn')} | ${shownOr(row.ratio)} |`,
  )
  return [`### ${title}\n\n| measure | hand-made | Posthorn | ratio |\n|---|---|---|---|\n${lines.join('\n')}\n`]
}
