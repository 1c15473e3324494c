// Of a chart: what it is given, the words beside a point, and all of its numbers as a table.
import { dayTime, zone } from './time.tsx'

/** The list that has what is counted. */
export interface Behind {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
}

export interface Series {
  readonly name: string
  /** The name of a colour token. */
  readonly colour: string
  /** Null where there is nothing to say. */
  readonly counts: readonly (number | null)[]
  /** Of this series alone; the time of a point is added to it. Without it the series leads nowhere. */
  readonly behind?: Behind
}

/** From its start up to the next one; of one series, or of all. */
export interface Point {
  readonly from: string
  readonly to: string
  readonly behind?: Behind
}

/** All of them added up; undefined where there is nothing to add. */
export const sumOfAll = (
  starts: readonly string[],
  series: readonly Series[],
  behind: Behind | undefined,
): Series | undefined =>
  series.length < 2
    ? undefined
    : {
        name: 'In all',
        colour: 'grey',
        counts: starts.map((_, place) => series.reduce((sum, { counts }) => sum + (counts[place] ?? 0), 0)),
        ...(behind === undefined ? {} : { behind }),
      }

export interface ChartProps {
  readonly label: string
  readonly starts: readonly string[]
  readonly series: readonly Series[]
  readonly unit: string
  /** Lines for what is not added up. */
  readonly kind?: 'bars' | 'lines'
  readonly format?: (value: number) => string
  /** Of all series together, where a list has as many. */
  readonly behindAll?: Behind
  /** Leads to what is behind a point. */
  readonly onPoint?: (point: Point) => void
}

/** Exact values beside the point that the pointer, or the keyboard, is at. */
export function Tip({
  from,
  to,
  unit,
  x,
  isRight,
  total,
  values,
}: {
  from: string
  to: string | undefined
  unit: string
  x: number
  /** In the right half of the chart the words stand at the left. */
  isRight: boolean
  total: string | undefined
  values: readonly { readonly name: string; readonly colour: string; readonly shown: string }[]
}) {
  return (
    <div
      role="status"
      style={{ left: x, transform: isRight ? 'translateX(calc(-100% - 12px))' : 'translateX(12px)' }}
      className="card pointer-events-none absolute top-1 z-10 max-w-56 px-3 py-2 text-xs shadow-lg"
    >
      <p className="font-medium whitespace-nowrap">
        {dayTime(from)} {to === undefined ? 'until now' : `– ${dayTime(to)}`}
      </p>
      <dl className="mt-1 grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-0.5">
        {values.map(({ name, colour, shown }) => (
          <div key={name} className="contents">
            <dt className="flex items-center gap-1.5 text-ink-2">
              <span className="size-2 shrink-0 rounded-sm" style={{ background: `var(--${colour})` }} />
              <span className="truncate">{name}</span>
            </dt>
            <dd className="text-right font-medium">{shown}</dd>
          </div>
        ))}
        {total !== undefined && values.length > 1 && (
          <div className="contents">
            <dt className="text-ink-2">In all</dt>
            <dd className="text-right font-medium">{total}</dd>
          </div>
        )}
      </dl>
      <p className="mt-1 text-ink-3">{unit}</p>
    </div>
  )
}

/** All of a series, which leads to the list of all of it. */
export function Total({ of: one, shown, lead }: { of: Series; shown: string; lead?: (one: Series) => void }) {
  const isLink = lead !== undefined && one.behind !== undefined && shown !== '' && shown !== '0'
  if (!isLink) return <strong className="font-semibold text-ink">{shown}</strong>
  return (
    <button
      type="button"
      aria-label={`${one.name}: ${shown}, open the list`}
      className="link min-h-6 min-w-6 text-left font-semibold"
      onClick={() => lead(one)}
    >
      {shown}
    </button>
  )
}

export function ChartTable({
  label,
  starts,
  series,
  format,
  all,
  onPoint,
}: {
  label: string
  starts: readonly string[]
  series: readonly Series[]
  format: (value: number) => string
  /** Their sum, where they are added up. */
  all: Series | undefined
  /** Of one series, or of all. */
  onPoint?: (place: number, one?: Series) => void
}) {
  const columns = all === undefined ? series : [...series, all]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
    <section tabIndex={0} aria-label={`${label}, as a table`} className="max-h-[220px] overflow-auto">
      <table className="w-full text-xs">
        <thead className="sticky top-0 bg-bg text-left text-ink-3">
          <tr>
            <th className="py-1 font-medium">From ({zone})</th>
            {columns.map(({ name }) => (
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
                  <button type="button" className="link" onClick={() => onPoint(index)}>
                    {dayTime(start)}
                  </button>
                )}
              </td>
              {columns.map((one) => (
                <td key={one.name} className="text-right">
                  <Value of={one} place={index} format={format} onPoint={onPoint} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** A number leads to what it counts; none of something leads nowhere. */
function Value({
  of: one,
  place,
  format,
  onPoint,
}: {
  of: Series
  place: number
  format: (value: number) => string
  onPoint: ((place: number, one?: Series) => void) | undefined
}) {
  const value = one.counts[place]
  if (value == null) return '–'
  if (value === 0 || onPoint === undefined || one.behind === undefined) return format(value)
  return (
    <button type="button" className="hover:underline" onClick={() => onPoint(place, one)}>
      {format(value)}
    </button>
  )
}
