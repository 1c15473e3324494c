// Tables: a head that stays, rows of 36 pixels that open by click or Enter, j and k to walk, x to choose; more rows as one gets
// to the end.
import { useVirtualizer } from '@tanstack/react-virtual'
import type { CSSProperties, KeyboardEvent, MouseEvent, RefObject } from 'react'
import { useEffect, useRef } from 'react'
import type { Bulk } from './bulk.tsx'
import { BulkBar, RowTick } from './bulk.tsx'
import type { Column } from './column-widths.ts'
import { useColumnWidths } from './column-widths.ts'
import { Button } from './controls.tsx'
import { useFocusKept } from './focus-kept.ts'
import { Fault } from './page.tsx'
import { useSelection } from './selection.ts'
import { hiddenBelow, leastWidth, TableHead } from './table-head.tsx'

export type { Column } from './column-widths.ts'

/** From here on the rows scroll below their head … */
const unscrolledMax = 25
/** … and those that are out of sight are not drawn. */
const drawnMax = 100
const rowHeight = 37
/** Of the column with the boxes. */
const tickWidth = 44

export function Table<Row>({
  label,
  rows: given,
  columns,
  keyOf,
  onOpen: opens,
  canOpen = () => true,
  chosen,
  more,
  loadingMore = false,
  moreError = null,
  bulk,
}: {
  /** Also what the widths of its columns are kept under. */
  label: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => string
  onOpen?: (row: Row) => void
  /** Whether there is something behind a row; behind each unless said. */
  canOpen?: (row: Row) => boolean
  chosen?: string | undefined
  more?: (() => void) | undefined
  loadingMore?: boolean
  moreError?: Error | null
  /** What can be done to many; without it no row can be chosen. */
  bulk?: Bulk<Row> | undefined
}) {
  const box = useRef<HTMLDivElement>(null)
  const sizes = useColumnWidths(label)
  // A page that was read later may repeat the last rows of the one before it.
  const rows = [...new Map(given.map((row) => [keyOf(row), row])).values()]
  const selection = useSelection(rows, keyOf)
  const focus = useFocusKept()
  useFocusBack(box, chosen)
  const hasFiller = columns.every(({ head, width }) => (sizes.widths[head] ?? width) !== undefined)
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
    <>
      <div
        ref={box}
        // What scrolls must be reachable by the keyboard; rows that open or are chosen are.
        {...(isScrolled && opens === undefined && bulk === undefined
          ? { role: 'region', 'aria-label': `${label}, all rows`, tabIndex: 0 }
          : {})}
        // Words for those who hear the page lie where they are said, and not below what is scrolled.
        className={`relative overflow-x-auto ${isScrolled ? 'max-h-[75vh] overflow-y-auto' : ''}`}
      >
        <table
          aria-label={label}
          style={
            { '--least': `${leastWidth(columns, sizes, bulk === undefined ? 0 : tickWidth) ?? 0}px` } as CSSProperties
          }
          className="w-full table-fixed border-collapse text-left md:min-w-(--least)"
        >
          <TableHead
            columns={columns}
            sizes={sizes}
            hasFiller={hasFiller}
            before={
              bulk !== undefined && (
                <th scope="col" style={{ width: tickWidth }} className="border-b border-line p-0 pl-1">
                  <label className="flex size-9 cursor-pointer items-center justify-center">
                    <input
                      type="checkbox"
                      aria-label={`Select all ${bulk.of} that are loaded`}
                      checked={selection.isAll}
                      ref={(tick) => {
                        if (tick !== null) tick.indeterminate = selection.rows.length > 0 && !selection.isAll
                      }}
                      onChange={selection.toggleAll}
                      className="size-4 accent-(--accent)"
                    />
                  </label>
                </th>
              )
            }
          />
          {/* In a long list a row that is only scrolled out of sight leaves the page as well. */}
          <tbody onKeyDown={walk} {...(isLong ? {} : focus)}>
            {above > 0 && <tr style={{ height: above }} />}
            {drawn.map((index) => {
              const row = rows[index]
              if (row === undefined) return null
              const key = keyOf(row)
              const onOpen = canOpen(row) ? opens : undefined
              const isTicked = bulk !== undefined && selection.has(key)
              return (
                <tr
                  key={key}
                  {...(isLong ? { ref: virtual.measureElement, 'data-index': index } : {})}
                  // Also what does not open is walked through.
                  tabIndex={opens === undefined && bulk === undefined ? undefined : 0}
                  aria-selected={chosen === undefined ? undefined : chosen === key}
                  {...(bulk === undefined ? {} : { 'aria-keyshortcuts': 'x', onMouseDown: withoutText })}
                  onClick={(event) => {
                    // What can be clicked in a row does its own.
                    if ((event.target as Element).closest('a, button, input, label') !== null) return
                    const isMany = event.shiftKey || event.ctrlKey || event.metaKey
                    if (isMany && bulk !== undefined) selection.toggle(key, event.shiftKey)
                    else onOpen?.(row)
                  }}
                  onKeyDown={(event) => {
                    if (event.target !== event.currentTarget) return
                    if (bulk !== undefined && selection.press(event, key)) return
                    if (event.key !== 'Enter' || onOpen === undefined) return
                    event.preventDefault()
                    onOpen(row)
                  }}
                  className={`border-b border-line last:border-b-0 ${onOpen === undefined ? '' : 'cursor-pointer hover:bg-bg-2'} ${chosen === key || isTicked ? 'bg-accent-bg hover:bg-accent-bg' : ''}`}
                >
                  {bulk !== undefined && (
                    // biome-ignore lint/a11y/useKeyWithClickEvents: x on the row does the same
                    <td className="p-0 pl-1" onClick={(event) => event.stopPropagation()}>
                      <RowTick
                        label={`Select ${bulk.nameOf(row)}`}
                        checked={isTicked}
                        onToggle={(isRange) => selection.toggle(key, isRange)}
                      />
                    </td>
                  )}
                  {columns.map(({ head, from, right, cell }) => (
                    <td
                      key={head}
                      className={`h-9 px-3 py-1.5 first:pl-4 last:pr-4 ${sizes.widths[head] === undefined ? '' : 'md:overflow-hidden'} ${from === undefined ? '' : hiddenBelow[from]} ${right === true ? 'text-right' : ''}`}
                    >
                      {cell(row)}
                    </td>
                  ))}
                  {hasFiller && <td className="p-0" />}
                </tr>
              )
            })}
            {below > 0 && <tr style={{ height: below }} />}
          </tbody>
        </table>
        {more !== undefined && <More box={box} more={more} isLoading={loadingMore} error={moreError} />}
      </div>
      {bulk !== undefined && <BulkBar bulk={bulk} selection={selection} keyOf={keyOf} />}
    </>
  )
}

/** A detail that is closed takes the focus with it: it goes back to the row of the detail. */
function useFocusBack(box: RefObject<HTMLElement | null>, chosen: string | undefined): void {
  const row = useRef<Element>(undefined)
  useEffect(() => {
    if (chosen !== undefined) row.current = box.current?.querySelector('tr[aria-selected=true]') ?? undefined
    else if (row.current instanceof HTMLElement && document.activeElement === document.body) {
      row.current.focus({ preventScroll: true })
      row.current = undefined
    }
  }, [box, chosen])
}

/** With Shift a browser would select text. */
function withoutText(event: MouseEvent<HTMLElement>): void {
  if (event.shiftKey) event.preventDefault()
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
