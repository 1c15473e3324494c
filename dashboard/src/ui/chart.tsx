// Counts over time: stacked bars with labelled axes, exact values under the pointer, and the same as a table.
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { Button } from './controls.tsx'
import { dayTime, zone } from './time.tsx'

export interface Series {
  readonly name: string
  /** The name of a colour token. */
  readonly colour: string
  /** Null where there is nothing to say. */
  readonly counts: readonly (number | null)[]
}

const height = 220
const token = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()

const dayName = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const hourName = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const daySeconds = 86_400

/** Days where the ticks are days apart; else hours, with the day at midnight. */
const tickOf = (splits: readonly number[]) => {
  const apart = (splits[1] ?? 0) - (splits[0] ?? 0)
  return (seconds: number): string => {
    const at = new Date(seconds * 1_000)
    const isMidnight = at.getHours() === 0 && at.getMinutes() === 0
    return (isMidnight || apart >= daySeconds ? dayName : hourName).format(at)
  }
}

/** Bars on top of each other: each series drawn from the sum of those below it. */
function stacked(series: readonly Series[]): number[][] {
  const sums: number[][] = []
  for (const { counts } of series) sums.push(counts.map((count, index) => (count ?? 0) + (sums.at(-1)?.[index] ?? 0)))
  return sums
}

const counted = (value: number): string => value.toLocaleString('en')

export function Chart({
  label,
  starts,
  series,
  unit,
  kind = 'bars',
  format = counted,
  onPoint,
}: {
  label: string
  starts: readonly string[]
  series: readonly Series[]
  unit: string
  /** Lines for what is not added up. */
  kind?: 'bars' | 'lines'
  format?: (value: number) => string
  /** Leads to what is behind a point: from its start up to the next one. */
  onPoint?: (from: string, to: string) => void
}) {
  const box = useRef<HTMLDivElement>(null)
  const [asTable, setAsTable] = useState(false)
  const [at, setAt] = useState<number>()
  const leadTo = useRef(onPoint)
  leadTo.current = onPoint
  const [theme, setTheme] = useState(document.documentElement.dataset.theme)
  useEffect(() => {
    const watch = new MutationObserver(() => setTheme(document.documentElement.dataset.theme))
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    return () => watch.disconnect()
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn again in the colours of the other theme
  useEffect(() => {
    const parent = box.current
    if (parent === null || asTable) return
    const isLines = kind === 'lines'
    const values = isLines ? series.map(({ counts }) => [...counts]) : stacked(series)
    const bars = uPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 })
    const axis = {
      stroke: token('ink-3'),
      grid: { stroke: token('line'), width: 1 },
      ticks: { show: false },
      font: '11px system-ui',
    }
    const plot = new uPlot(
      {
        width: parent.clientWidth,
        height,
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(4, Math.ceil(max * 1.1))] } },
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: 28,
            space: 64,
            values: (_plot, splits) => splits.map(tickOf(splits)),
          },
          {
            ...axis,
            size: isLines ? 56 : 40,
            ...(isLines ? { values: (_plot, splits) => splits.map(format) } : {}),
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000, 500_000, 1_000_000],
          },
        ],
        hooks: { setCursor: [(one) => setAt(one.cursor.idx ?? undefined)] },
        series: [
          {},
          ...series.toReversed().map(({ name, colour }) => ({
            label: name,
            stroke: token(colour),
            ...(isLines
              ? { width: 2, points: { show: true, size: 5 } }
              : {
                  width: 0,
                  fill: token(colour),
                  ...(bars === undefined ? {} : { paths: bars }),
                  points: { show: false },
                }),
          })),
        ],
      },
      [starts.map((start) => new Date(start).getTime() / 1_000), ...values.toReversed()],
      parent,
    )
    const open = () => {
      const place = plot.cursor.idx
      const from = place == null ? undefined : starts[place]
      if (place == null || from === undefined) return
      leadTo.current?.(from, starts[place + 1] ?? new Date().toISOString())
    }
    if (leadTo.current !== undefined) plot.over.style.cursor = 'pointer'
    plot.over.addEventListener('click', open)
    const sized = new ResizeObserver(() => plot.setSize({ width: parent.clientWidth, height }))
    sized.observe(parent)
    return () => {
      sized.disconnect()
      plot.destroy()
    }
  }, [starts, series, asTable, theme, kind, format])
  const shownAt = (counts: Series['counts'], place: number | undefined): string => {
    if (place !== undefined) return counts[place] == null ? '–' : format(counts[place])
    return kind === 'bars' ? format(counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)) : ''
  }
  return (
    <figure aria-label={label} className="flex flex-col gap-2">
      <figcaption className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-2">
        {series.map(({ name, colour, counts }) => (
          <span key={name} className="flex items-center gap-1.5">
            <span className="size-2.5 rounded-sm" style={{ background: `var(--${colour})` }} />
            {name} <strong className="font-semibold text-ink">{shownAt(counts, at)}</strong>
          </span>
        ))}
        <span className="text-ink-3">
          {at === undefined || starts[at] === undefined
            ? `${kind === 'bars' ? 'in all' : unit}, times in ${zone}`
            : `${unit}, ${dayTime(starts[at])}`}
        </span>
        <Button look="quiet" className="ml-auto h-7! px-2! text-xs!" onClick={() => setAsTable(!asTable)}>
          {asTable ? 'As a chart' : 'As a table'}
        </Button>
      </figcaption>
      {asTable ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
        <section tabIndex={0} aria-label={`${label}, as a table`} className="max-h-[220px] overflow-auto">
          <table className="w-full text-xs">
            <thead className="sticky top-0 bg-bg text-left text-ink-3">
              <tr>
                <th className="py-1 font-medium">From ({zone})</th>
                {series.map(({ name }) => (
                  <th key={name} className="text-right font-medium">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {starts.map((start, index) => (
                <tr key={start} className="border-t border-line">
                  <td className="py-1">
                    {onPoint === undefined ? (
                      dayTime(start)
                    ) : (
                      <button
                        type="button"
                        className="link"
                        onClick={() => onPoint(start, starts[index + 1] ?? new Date().toISOString())}
                      >
                        {dayTime(start)}
                      </button>
                    )}
                  </td>
                  {series.map(({ name, counts }) => (
                    <td key={name} className="text-right">
                      {counts[index] == null ? '–' : format(counts[index])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : (
        <div ref={box} className="min-h-[220px] w-full" />
      )}
    </figure>
  )
}
