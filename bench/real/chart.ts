// The results as a picture: how many times better than the hand-made service, one bar per measure, on a logarithmic scale. Pure.
import type { ResultRow, Results } from './results.ts'

interface Bar {
  readonly label: string
  /** Above 1 Posthorn is better, whichever way the measure counts. */
  readonly times: number
}

interface Section {
  readonly title: string
  readonly bars: readonly Bar[]
}

const size = { width: 860, labels: 360, plot: 420, row: 22, head: 34, top: 64, bottom: 20 }
/** Both ends of the scale; what lies beyond is cut off there. */
const scale = { from: 1 / 8, to: 16 }
const ticks = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16]

export const timesBetter = ({ better, ratio }: Pick<ResultRow, 'better' | 'ratio'>): number | undefined =>
  ratio === null || ratio <= 0 ? undefined : better === 'higher' ? ratio : 1 / ratio

function sectionsOf({ real, sweep }: Results): Section[] {
  const barOf = (label: string, row: ResultRow | undefined): Bar[] => {
    const times = row === undefined ? undefined : timesBetter(row)
    return times === undefined ? [] : [{ label, times }]
  }
  const inReal = (real?.rows ?? []).flatMap((row) => barOf(row.title, row))
  const inSweep = sweep.flatMap((group) =>
    barOf(
      group.title,
      group.rows.find(({ id }) => id === 'rate'),
    ),
  )
  const sections = [
    { title: real?.title ?? '', bars: inReal },
    { title: 'End to end, one factor at a time', bars: inSweep },
  ]
  return sections.filter(({ bars }) => bars.length > 0)
}

/** Where on the plot so many times better lies. */
export function placeOf(times: number): number {
  const held = Math.min(scale.to, Math.max(scale.from, times))
  return size.labels + (Math.log2(held / scale.from) / Math.log2(scale.to / scale.from)) * size.plot
}

export function chartOf(results: Results): string {
  const sections = sectionsOf(results)
  let y = size.top
  const drawn = sections.map(({ title, bars }) => {
    const head = text(12, y + 20, title, 'class="head"')
    y += size.head
    const rows = bars.map((bar) => {
      const row = barAt(y, bar)
      y += size.row
      return row
    })
    return [head, ...rows].join('\n')
  })
  const height = y + size.bottom
  const date = results.measuredAt.slice(0, 10)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${height}" viewBox="0 0 ${size.width} ${height}" role="img" aria-label="Posthorn against a hand-made service">
<style>text{font:13px sans-serif;fill:#222}.head{font-weight:bold}.tick{fill:#666;text-anchor:middle}.grid{stroke:#ddd}.one{stroke:#444}.better{fill:#2f855a}.worse{fill:#c05621}</style>
<rect width="100%" height="100%" fill="#fff"/>
${text(12, 24, `Times better than the hand-made service (Fastify + BullMQ + Redis + PostgreSQL), ${date}`, 'class="head"')}
${ticks.map((tick) => tickAt(tick, height)).join('\n')}
${drawn.join('\n')}
</svg>
`
}

function tickAt(times: number, height: number): string {
  const x = place(times)
  const label = times < 1 ? `1/${1 / times}` : `${times}×`
  const line = `<line class="${times === 1 ? 'one' : 'grid'}" x1="${x}" x2="${x}" y1="${size.top - 10}" y2="${height - size.bottom}"/>`
  return `${line}${text(x, size.top - 16, label, 'class="tick"')}`
}

function barAt(y: number, { label, times }: Bar): string {
  const [from, to] = [placeOf(Math.min(1, times)), placeOf(Math.max(1, times))]
  const bar = `<rect class="${times >= 1 ? 'better' : 'worse'}" x="${from.toFixed(1)}" y="${y + 4}" width="${Math.max(1, to - from).toFixed(1)}" height="14"/>`
  const value = times >= 10 ? times.toFixed(0) : times.toFixed(2)
  return `${text(12, y + 16, label)}${bar}${text((to + 5).toFixed(1), y + 16, `${value}×`)}`
}

const place = (times: number): string => placeOf(times).toFixed(1)

const text = (x: number | string, y: number, words: string, attributes = ''): string =>
  `<text x="${x}" y="${y}" ${attributes}>${escaped(words)}</text>`

const escaped = (words: string): string =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
