// Counts over time: stacked bars or lines with labelled axes, exact values at the pointer, the same as a table; every point
// leads to the list that it counts.
import type { KeyboardEvent } from 'react'
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { ChartProps, Point, Series } from './chart-parts.tsx'
import { ChartTable, sumOfAll, Tip, Total } from './chart-parts.tsx'
import { Button } from './controls.tsx'
import { zone } from './time.tsx'

export type { Behind, Series } from './chart-parts.tsx'

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

/** Which bar of the pile, or which line, lies under the pointer; none above them all. */
function seriesUnder(plot: uPlot, series: readonly Series[], place: number, isLines: boolean): Series | undefined {
  const value = plot.posToVal(plot.cursor.top ?? -1, 'y')
  if (!isLines) {
    const sums = stacked(series)
    return value < 0 ? undefined : series.find((_, index) => value <= (sums[index]?.[place] ?? 0))
  }
  const away = (one: Series) => Math.abs((one.counts[place] ?? Number.POSITIVE_INFINITY) - value)
  return series.toSorted((one, other) => away(one) - away(other))[0]
}

interface Pointed {
  readonly place: number
  /** Where in the plot, for the words beside it. */
  readonly x: number
  readonly isRight: boolean
}

/** The same object while it has the same data: pages make another one each time they are drawn. */
function useSame<Data>(data: Data): Data {
  const kept = useRef(data)
  if (JSON.stringify(kept.current) !== JSON.stringify(data)) kept.current = data
  return kept.current
}

export function Chart({ label, unit, kind = 'bars', format = counted, behindAll, onPoint, ...given }: ChartProps) {
  const { starts, series } = useSame({ starts: given.starts, series: given.series })
  const box = useRef<HTMLDivElement>(null)
  const drawn = useRef<uPlot | undefined>(undefined)
  /** Where the pointer was when it was drawn last: it is still there when new numbers come. */
  const pointer = useRef({ left: -10, top: -10 })
  const [asTable, setAsTable] = useState(false)
  const [at, setAt] = useState<Pointed>()
  const leadTo = useRef(onPoint)
  leadTo.current = onPoint
  const [theme, setTheme] = useState(document.documentElement.dataset.theme)
  const isLines = kind === 'lines'
  useEffect(() => {
    const watch = new MutationObserver(() => setTheme(document.documentElement.dataset.theme))
    watch.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    return () => watch.disconnect()
  }, [])
  const pointOf = (place: number, one?: Series): Point | undefined => {
    const from = starts[place]
    if (from === undefined) return undefined
    const to = starts[place + 1] ?? new Date().toISOString()
    const behind = one === undefined ? behindAll : one.behind
    return { from, to, ...(behind === undefined ? {} : { behind }) }
  }
  const lead = (place: number, one?: Series) => {
    const point = pointOf(place, one)
    if (point !== undefined) leadTo.current?.(point)
  }
  const leadToAll = (one: Series) => {
    const last = pointOf(starts.length - 1, one)
    if (last !== undefined) leadTo.current?.({ ...last, from: starts[0] ?? last.from })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn again in the colours of the other theme
  useEffect(() => {
    const parent = box.current
    if (parent === null || asTable) return
    const values = isLines ? series.map(({ counts }) => [...counts]) : stacked(series)
    const bars = uPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 })
    const axis = {
      stroke: token('ink-3'),
      grid: { stroke: token('line'), width: 1 },
      ticks: { show: false },
      font: '11px system-ui',
    }
    const point = (one: uPlot) => {
      const place = one.cursor.idx
      if (place == null || (one.cursor.left ?? -1) < 0) return setAt(undefined)
      const left = one.valToPos(one.data[0][place] ?? 0, 'x')
      const x = left + one.over.offsetLeft
      setAt({ place, x, isRight: left > one.over.clientWidth / 2 })
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
        hooks: { setCursor: [point], ready: [(one) => one.setCursor(pointer.current)] },
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
    drawn.current = plot
    const open = () => {
      const place = plot.cursor.idx
      if (place == null) return
      const one = seriesUnder(plot, series, place, isLines)
      if (one === undefined || one.behind !== undefined) lead(place, one)
    }
    if (leadTo.current !== undefined) plot.over.style.cursor = 'pointer'
    plot.over.addEventListener('click', open)
    const sized = new ResizeObserver(() => plot.setSize({ width: parent.clientWidth, height }))
    sized.observe(parent)
    return () => {
      sized.disconnect()
      pointer.current = { left: plot.cursor.left ?? -10, top: plot.cursor.top ?? -10 }
      plot.destroy()
      drawn.current = undefined
    }
  }, [starts, series, asTable, theme, kind, format])
  const change = () => {
    drawn.current?.setCursor({ left: -10, top: -10 })
    setAsTable(!asTable)
  }
  /** The arrows walk from point to point, Enter opens its list. */
  const walk = (event: KeyboardEvent<HTMLElement>) => {
    const plot = drawn.current
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (plot === undefined) return
    if (by !== undefined) {
      const first = by > 0 ? 0 : starts.length - 1
      const place = Math.min(Math.max(at === undefined ? first : at.place + by, 0), starts.length - 1)
      plot.setCursor({ left: plot.valToPos(plot.data[0][place] ?? 0, 'x'), top: 0 })
    } else if (event.key === 'Enter' && at !== undefined) lead(at.place)
    else if (event.key === 'Escape') plot.setCursor({ left: -10, top: -10 })
    else return
    event.preventDefault()
  }
  const total = (counts: Series['counts']): string =>
    isLines ? '' : format(counts.reduce<number>((sum, count) => sum + (count ?? 0), 0))
  return (
    <figure aria-label={label} className="flex flex-col gap-2">
      <figcaption className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-2">
        {series.map((one) => (
          <span key={one.name} className="flex items-center gap-1.5">
            <span className="size-2.5 rounded-sm" style={{ background: `var(--${one.colour})` }} />
            {one.name}{' '}
            <Total of={one} shown={total(one.counts)} {...(onPoint === undefined ? {} : { lead: leadToAll })} />
          </span>
        ))}
        <span className="text-ink-3">{`${isLines ? unit : 'in all'}, times in ${zone}`}</span>
        <Button look="quiet" className="ml-auto h-7! px-2! text-xs!" onClick={change}>
          {asTable ? 'As a chart' : 'As a table'}
        </Button>
      </figcaption>
      {asTable ? (
        <ChartTable
          label={label}
          starts={starts}
          series={series}
          format={format}
          all={isLines ? undefined : sumOfAll(starts, series, behindAll)}
          {...(onPoint === undefined ? {} : { onPoint: lead })}
        />
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in
        <div
          role="group"
          aria-label={`${label}: the left and right arrows walk through it${onPoint === undefined ? '' : ', Enter opens the list'}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: its points are reached by the arrow keys
          tabIndex={0}
          onKeyDown={walk}
          onBlur={() => drawn.current?.setCursor({ left: -10, top: -10 })}
          className="relative min-h-[220px] w-full"
        >
          <div ref={box} />
          {at !== undefined && starts[at.place] !== undefined && (
            <Tip
              from={starts[at.place] ?? ''}
              to={starts[at.place + 1]}
              unit={unit}
              x={at.x}
              isRight={at.isRight}
              total={isLines ? undefined : format(series.reduce((sum, { counts }) => sum + (counts[at.place] ?? 0), 0))}
              values={series.map(({ name, colour, counts }) => {
                const value = counts[at.place]
                return { name, colour, shown: value == null ? '–' : format(value) }
              })}
            />
          )}
        </div>
      )}
    </figure>
  )
}
