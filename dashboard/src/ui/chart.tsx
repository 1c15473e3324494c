// Counts over time: stacked bars with labelled axes, exact values under the pointer, and the same as a table.
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { Button } from './controls.tsx'
import { dayTime } from './time.tsx'

export interface Series {
  readonly name: string
  /** The name of a colour token. */
  readonly colour: string
  readonly counts: readonly number[]
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
  for (const { counts } of series) sums.push(counts.map((count, index) => count + (sums.at(-1)?.[index] ?? 0)))
  return sums
}

export function Chart({
  label,
  starts,
  series,
  unit,
}: {
  label: string
  starts: readonly string[]
  series: readonly Series[]
  unit: string
}) {
  const box = useRef<HTMLDivElement>(null)
  const [asTable, setAsTable] = useState(false)
  const [at, setAt] = useState<number>()
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
    const sums = stacked(series)
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
            size: 40,
            incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000, 500_000, 1_000_000],
          },
        ],
        hooks: { setCursor: [(one) => setAt(one.cursor.idx ?? undefined)] },
        series: [
          {},
          ...series.toReversed().map(({ name, colour }) => ({
            label: name,
            stroke: token(colour),
            width: 0,
            fill: token(colour),
            ...(bars === undefined ? {} : { paths: bars }),
            points: { show: false },
          })),
        ],
      },
      [starts.map((start) => new Date(start).getTime() / 1_000), ...sums.toReversed()],
      parent,
    )
    const sized = new ResizeObserver(() => plot.setSize({ width: parent.clientWidth, height }))
    sized.observe(parent)
    return () => {
      sized.disconnect()
      plot.destroy()
    }
  }, [starts, series, asTable, theme])
  return (
    <figure aria-label={label} className="flex flex-col gap-2">
      <figcaption className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-2">
        {series.map(({ name, colour, counts }) => (
          <span key={name} className="flex items-center gap-1.5">
            <span className="size-2.5 rounded-sm" style={{ background: `var(--${colour})` }} />
            {name}{' '}
            <strong className="font-semibold text-ink">
              {(at === undefined ? counts.reduce((sum, count) => sum + count, 0) : (counts[at] ?? 0)).toLocaleString(
                'en',
              )}
            </strong>
          </span>
        ))}
        <span className="text-ink-3">
          {at === undefined || starts[at] === undefined ? 'in all' : `${unit}, ${dayTime(starts[at])}`}
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
                <th className="py-1 font-medium">From</th>
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
                  <td className="py-1">{dayTime(start)}</td>
                  {series.map(({ name, counts }) => (
                    <td key={name} className="text-right">
                      {counts[index]?.toLocaleString('en')}
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
