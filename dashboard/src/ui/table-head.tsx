// The head of a table: it stays in sight, and the edges of its columns can be moved by the mouse and by the arrow keys.
import type { CSSProperties, KeyboardEvent, PointerEvent, ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'
import type { Column } from './column-widths.ts'
import { clampedWidth, widthMax, widthMin } from './column-widths.ts'

export const hiddenBelow = { sm: 'max-sm:hidden', md: 'max-md:hidden', lg: 'max-lg:hidden', xl: 'max-xl:hidden' }
/** One press of an arrow key. */
const stepPx = 16
/** What a column has at the least that shares the room which is left. */
const sharedMin = 96

interface Widths {
  readonly widths: Readonly<Record<string, number>>
  set(head: string, width: number): void
  reset(head: string): void
}

/** On a phone the columns are as the page has them: a width that was chosen elsewhere would leave no room for the others. */
export function widthStyle(width: string | undefined, chosen: number | undefined): CSSProperties {
  const own = width ?? 'auto'
  return { '--own': own, '--wide': chosen === undefined ? own : `${chosen}px` } as CSSProperties
}

export const widthClass = 'w-(--own) md:w-(--wide)'

/** From here on a table with columns that were made wider scrolls sideways. Undefined where none was. */
export function leastWidth<Row>(columns: readonly Column<Row>[], { widths }: Widths, extra: number) {
  if (columns.every(({ head }) => widths[head] === undefined)) return undefined
  const shown = columns.filter(({ from }) => from !== 'lg' && from !== 'xl')
  const pixels = shown.map(
    ({ head, width }) => widths[head] ?? (width?.endsWith('px') ? Number.parseInt(width, 10) : sharedMin),
  )
  return pixels.reduce((sum, one) => sum + one, extra)
}

export function TableHead<Row>({
  columns,
  sizes,
  before,
  hasFiller,
}: {
  columns: readonly Column<Row>[]
  sizes: Widths
  /** In front of the first column. */
  before: ReactNode
  hasFiller: boolean
}) {
  /** One stop of the keyboard for the whole head; up and down lead from edge to edge. */
  const [stop, setStop] = useState(columns[0]?.head)
  const row = useRef<HTMLTableRowElement>(null)
  const heads = columns.map(({ head }) => head).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: other columns have other edges
  useEffect(() => {
    if (row.current === null) return
    // A narrower page hides columns, and the stop must not be hidden with one.
    const sized = new ResizeObserver(() => {
      const seen = seenEdges(row.current)
      const [first] = seen
      if (first !== undefined && seen.every(({ tabIndex }) => tabIndex !== 0)) setStop(first.dataset.head)
    })
    sized.observe(row.current)
    return () => sized.disconnect()
  }, [heads])
  return (
    <thead className="sticky top-0 z-10 bg-bg">
      <tr ref={row}>
        {before}
        {columns.map(({ head, from, width, right }, place) => (
          <th
            key={head}
            scope="col"
            style={widthStyle(width, sizes.widths[head])}
            className={`group/head relative h-9 border-b border-line px-3 text-xs font-medium whitespace-nowrap text-ink-3 first:pl-4 last:pr-4 ${widthClass} ${from === undefined ? '' : hiddenBelow[from]} ${right === true ? 'text-right' : ''}`}
          >
            {head}
            {(hasFiller || place < columns.length - 1) && (
              <Edge head={head} width={width} sizes={sizes} isStop={head === stop} onStop={() => setStop(head)} />
            )}
          </th>
        ))}
        {hasFiller && <td className="border-b border-line p-0" />}
      </tr>
    </thead>
  )
}

const seenEdges = (row: HTMLElement | null): HTMLElement[] =>
  [...(row?.querySelectorAll<HTMLElement>('[role=separator]') ?? [])].filter((one) => one.offsetParent !== null)

function Edge({
  head,
  width,
  sizes,
  isStop,
  onStop,
}: {
  head: string
  width: string | undefined
  sizes: Widths
  isStop: boolean
  onStop: () => void
}) {
  const drag = useRef<{ readonly x: number; readonly from: number } | undefined>(undefined)
  const [isMoved, setMoved] = useState(false)
  const chosen = sizes.widths[head]
  const measured = (edge: HTMLElement): number => edge.parentElement?.getBoundingClientRect().width ?? widthMin
  /** In a text that runs from right to left, the edge of a column is at its left. */
  const sign = (edge: HTMLElement): number => (getComputedStyle(edge).direction === 'rtl' ? -1 : 1)
  const move = (event: PointerEvent<HTMLElement>) => {
    if (drag.current === undefined) return
    sizes.set(head, drag.current.from + sign(event.currentTarget) * (event.clientX - drag.current.x))
  }
  const end = () => {
    drag.current = undefined
    setMoved(false)
  }
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const edge = event.currentTarget
    const by = { ArrowLeft: -stepPx, ArrowRight: stepPx }[event.key]
    if (by !== undefined) sizes.set(head, measured(edge) + sign(edge) * by)
    else if (event.key === 'Enter' || event.key === 'Delete') sizes.reset(head)
    else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      const seen = seenEdges(edge.closest('tr'))
      seen[seen.indexOf(edge) + (event.key === 'ArrowUp' ? -1 : 1)]?.focus()
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a line between paragraphs cannot be moved
    <span
      role="separator"
      data-head={head}
      aria-orientation="vertical"
      aria-label={`Width of ${head}`}
      aria-valuenow={clampedWidth(chosen ?? Number.parseInt(width ?? '160', 10))}
      aria-valuemin={widthMin}
      aria-valuemax={widthMax}
      aria-valuetext={chosen === undefined ? 'As wide as there is room' : `${chosen} pixels`}
      title="Drag, or press the left and right arrows, to change the width. Double-click or Enter resets it."
      tabIndex={isStop ? 0 : -1}
      onFocus={onStop}
      onPointerDown={(event) => {
        if (event.button !== 0) return
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
        drag.current = { x: event.clientX, from: measured(event.currentTarget) }
        setMoved(true)
      }}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
      onDoubleClick={() => sizes.reset(head)}
      onKeyDown={press}
      className="absolute inset-y-0 end-0 z-10 flex w-3 cursor-col-resize touch-none items-center justify-end outline-offset-[-2px] max-md:hidden"
    >
      <span
        className={`h-4 w-px group-hover/head:bg-line-2 ${isMoved ? 'bg-accent group-hover/head:bg-accent' : 'bg-line'}`}
      />
    </span>
  )
}
