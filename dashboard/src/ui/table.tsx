// Tables: a head that stays, rows of 36 pixels that open by click or Enter, j and k to walk; more rows as one gets to the end.
import { useVirtualizer } from '@tanstack/react-virtual'
import type { KeyboardEvent, ReactNode, RefObject } from 'react'
import { useEffect, useRef } from 'react'
import { Button } from './controls.tsx'
import { Fault } from './page.tsx'

export interface Column<Row> {
  readonly head: string
  /** Left out on screens narrower than so. */
  readonly from?: 'sm' | 'md' | 'lg' | 'xl'
  /** Columns without one share what the others leave, and cut what is too long. */
  readonly width?: string
  readonly right?: boolean
  readonly cell: (row: Row) => ReactNode
}

const hiddenBelow = { sm: 'max-sm:hidden', md: 'max-md:hidden', lg: 'max-lg:hidden', xl: 'max-xl:hidden' }
/** From here on the rows scroll below their head … */
const unscrolledMax = 25
/** … and those that are out of sight are not drawn. */
const drawnMax = 100
const rowHeight = 37

export function Table<Row>({
  label,
  rows: given,
  columns,
  keyOf,
  onOpen,
  chosen,
  more,
  loadingMore = false,
  moreError = null,
}: {
  label: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => string
  onOpen?: (row: Row) => void
  chosen?: string | undefined
  more?: (() => void) | undefined
  loadingMore?: boolean
  moreError?: Error | null
}) {
  const box = useRef<HTMLDivElement>(null)
  // A page that was read later may repeat the last rows of the one before it.
  const rows = [...new Map(given.map((row) => [keyOf(row), row])).values()]
  const isScrolled = rows.length > unscrolledMax
  const isLong = rows.length > drawnMax
  const virtual = useVirtualizer({
    count: rows.length,
    enabled: isLong,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => {
      const row = rows[index]
      return row === undefined ? index : keyOf(row)
    },
    overscan: 12,
  })
  const items = isLong ? virtual.getVirtualItems() : undefined
  const drawn = items === undefined ? [...rows.keys()] : items.map(({ index }) => index)
  const above = items?.[0]?.start ?? 0
  const below = items === undefined ? 0 : virtual.getTotalSize() - (items.at(-1)?.end ?? 0)
  return (
    <div
      ref={box}
      // What scrolls must be reachable by the keyboard; rows that open are.
      {...(isScrolled && onOpen === undefined
        ? { role: 'region', 'aria-label': `${label}, all rows`, tabIndex: 0 }
        : {})}
      // Words for those who hear the page lie where they are said, and not below what is scrolled.
      className={`relative overflow-x-auto ${isScrolled ? 'max-h-[75vh] overflow-y-auto' : ''}`}
    >
      <table aria-label={label} className="w-full table-fixed border-collapse text-left">
        <thead className="sticky top-0 z-10 bg-bg">
          <tr>
            {columns.map(({ head, from, width, right }) => (
              <th
                key={head}
                scope="col"
                style={width === undefined ? undefined : { width }}
                className={`h-9 border-b border-line px-3 text-xs font-medium whitespace-nowrap text-ink-3 first:pl-4 last:pr-4 ${from === undefined ? '' : hiddenBelow[from]} ${right === true ? 'text-right' : ''}`}
              >
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={walk}>
          {above > 0 && <tr style={{ height: above }} />}
          {drawn.map((index) => {
            const row = rows[index]
            if (row === undefined) return null
            const key = keyOf(row)
            return (
              <tr
                key={key}
                {...(isLong ? { ref: virtual.measureElement, 'data-index': index } : {})}
                tabIndex={onOpen === undefined ? undefined : 0}
                aria-selected={chosen === undefined ? undefined : chosen === key}
                onClick={onOpen === undefined ? undefined : () => onOpen(row)}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || event.target !== event.currentTarget) return
                  event.preventDefault()
                  onOpen?.(row)
                }}
                className={`border-b border-line last:border-b-0 ${onOpen === undefined ? '' : 'cursor-pointer hover:bg-bg-2'} ${chosen === key ? 'bg-accent-bg' : ''}`}
              >
                {columns.map(({ head, from, right, cell }) => (
                  <td
                    key={head}
                    className={`h-9 px-3 py-1.5 first:pl-4 last:pr-4 ${from === undefined ? '' : hiddenBelow[from]} ${right === true ? 'text-right' : ''}`}
                  >
                    {cell(row)}
                  </td>
                ))}
              </tr>
            )
          })}
          {below > 0 && <tr style={{ height: below }} />}
        </tbody>
      </table>
      {more !== undefined && <More box={box} more={more} isLoading={loadingMore} error={moreError} />}
    </div>
  )
}

/**
 * Whoever gets near the end of the rows is shown more of them; a button for all others. What failed is asked for again by
 * the button alone: the end of the rows stays in sight, and would ask without end.
 */
function More({
  box,
  more,
  isLoading,
  error,
}: {
  box: RefObject<HTMLDivElement | null>
  more: () => void
  isLoading: boolean
  error: Error | null
}) {
  const end = useRef<HTMLDivElement>(null)
  const latest = useRef(more)
  latest.current = more
  const hasFailed = error !== null
  useEffect(() => {
    const element = end.current
    if (element === null || isLoading || hasFailed) return
    const seen = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && latest.current(),
      { root: box.current, rootMargin: '0px 0px 400px 0px' },
    )
    seen.observe(element)
    return () => seen.disconnect()
  }, [box, isLoading, hasFailed])
  return (
    <div ref={end} className="flex flex-wrap items-center justify-center gap-2 border-t border-line p-2">
      {!isLoading && <Fault error={error} />}
      <Button look="quiet" busy={isLoading} onClick={more}>
        Show more
      </Button>
    </div>
  )
}

/** j and k, or the arrows. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const row = (event.target as HTMLElement).closest('tr')
  if ((event.target as HTMLElement).matches('input, textarea, select')) return
  const next = ['j', 'ArrowDown'].includes(event.key)
    ? row?.nextElementSibling
    : ['k', 'ArrowUp'].includes(event.key)
      ? row?.previousElementSibling
      : undefined
  if (next instanceof HTMLElement) {
    event.preventDefault()
    next.focus()
  }
}
