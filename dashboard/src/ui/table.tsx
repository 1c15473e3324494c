// Tables: a sticky head, rows of 36 pixels that open by click or Enter, j and k to walk; more rows as one gets to the end.
import { useVirtualizer } from '@tanstack/react-virtual'
import type { KeyboardEvent, ReactNode } from 'react'
import { useRef } from 'react'
import { Button } from './controls.tsx'

export interface Column<Row> {
  readonly head: string
  /** Left out on screens narrower than so. */
  readonly from?: 'sm' | 'md' | 'lg' | 'xl'
  readonly width?: string
  readonly right?: boolean
  /** Takes what the others leave; long text in it is cut. */
  readonly grows?: boolean
  readonly cell: (row: Row) => ReactNode
}

const hiddenBelow = { sm: 'max-sm:hidden', md: 'max-md:hidden', lg: 'max-lg:hidden', xl: 'max-xl:hidden' }
/** From here on rows that are out of sight are not drawn. */
const drawnMax = 100
const rowHeight = 37
/** On a phone the columns without a width share what there is, and cut what is too long. */
const narrow = 'max-w-[360px] max-sm:w-1/2 max-sm:max-w-0'

export function Table<Row>({
  label,
  rows,
  columns,
  keyOf,
  onOpen,
  chosen,
  more,
  loadingMore = false,
}: {
  label: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => string
  onOpen?: (row: Row) => void
  chosen?: string | undefined
  more?: (() => void) | undefined
  loadingMore?: boolean
}) {
  const box = useRef<HTMLDivElement>(null)
  const isLong = rows.length > drawnMax
  const virtual = useVirtualizer({
    count: rows.length,
    enabled: isLong,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  const items = isLong ? virtual.getVirtualItems() : undefined
  const drawn = items === undefined ? rows : items.flatMap(({ index }) => rows[index] ?? [])
  const above = items?.[0]?.start ?? 0
  const below = items === undefined ? 0 : virtual.getTotalSize() - (items.at(-1)?.end ?? 0)
  return (
    <div ref={box} className={`overflow-x-auto ${isLong ? 'max-h-[75vh] overflow-y-auto' : ''}`}>
      <table aria-label={label} className="w-full border-collapse text-left">
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
          {drawn.map((row) => {
            const key = keyOf(row)
            return (
              <tr
                key={key}
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
                {columns.map(({ head, from, right, width, grows, cell }) => (
                  <td
                    key={head}
                    className={`h-9 ${grows === true ? 'w-full max-w-0' : width === undefined ? narrow : 'max-w-[360px]'} px-3 py-1.5 first:pl-4 last:pr-4 ${from === undefined ? '' : hiddenBelow[from]} ${right === true ? 'text-right' : ''}`}
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
      {more !== undefined && (
        <div className="flex justify-center border-t border-line p-2">
          <Button look="quiet" busy={loadingMore} onClick={more}>
            Show more
          </Button>
        </div>
      )}
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
