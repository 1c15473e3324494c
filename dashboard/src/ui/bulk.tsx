// What is done to many rows: offered in a bar as soon as one is chosen, which a key leads to and Escape out of.
import type { FocusEvent, KeyboardEvent } from 'react'
import { useEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import type { Bulk, BulkAction } from './bulk-actions.ts'
import { barKey, barKeyWords, counted, countedOf } from './bulk-actions.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { Button, IconButton } from './controls.tsx'
import { Menu } from './menu.tsx'
import type { Selection } from './selection.ts'
import { stopInPlace, stopOf } from './selection.ts'

export type { Bulk } from './bulk-actions.ts'

/** The box of a row; its whole cell can be clicked. */
export function RowTick({
  label,
  checked,
  onToggle,
}: {
  label: string
  checked: boolean
  onToggle: (isRange: boolean) => void
}) {
  return (
    <label className="flex size-9 cursor-pointer items-center justify-center">
      <input
        type="checkbox"
        aria-label={label}
        title="Select (x)"
        // The row itself is where the keyboard stops: x chooses it.
        tabIndex={-1}
        checked={checked}
        onChange={(event) => onToggle((event.nativeEvent as MouseEvent).shiftKey === true)}
        className="size-4 accent-(--accent)"
      />
    </label>
  )
}

export function BulkBar<Row>({
  bulk,
  selection,
  keyOf,
}: {
  bulk: Bulk<Row>
  selection: Selection<Row>
  keyOf: (row: Row) => string
}) {
  const [asked, setAsked] = useState<BulkAction<Row>>()
  const { rows } = selection
  const page = document.querySelector('main')
  const isEmpty = rows.length === 0 && asked === undefined
  const wayBack = useWayBack(isEmpty)
  const leave = () => {
    selection.clear()
    wayBack.go()
  }
  return (
    <>
      {/* Always there: a screen reader says only what changes in a region that it knows. */}
      <span role="status" className="sr-only">
        {rows.length > 0 && `${countedOf(bulk, rows.length)} selected. Press ${barKeyWords} for what to do with them.`}
      </span>
      {/* The end of the page, so that the bar lies on no row. */}
      {!isEmpty && page !== null && createPortal(<div aria-hidden className="h-16" />, page)}
      {rows.length > 0 && (
        <section
          aria-label="What to do with the selection"
          aria-keyshortcuts={barKey}
          data-selection-bar
          onFocus={wayBack.onFocus}
          onKeyDown={(event: KeyboardEvent<HTMLElement>) => {
            // What is pressed in the menu is the menu's.
            if (event.key !== 'Escape' || !event.currentTarget.contains(event.target as Node)) return
            event.preventDefault()
            event.stopPropagation()
            leave()
          }}
          className="card fixed bottom-4 left-1/2 z-30 flex max-w-[calc(100vw-24px)] -translate-x-1/2 items-center gap-1.5 p-2 shadow-lg"
        >
          <span className="mx-2 font-medium whitespace-nowrap">{counted(rows.length)} selected</span>
          <Actions bulk={bulk} rows={rows} onAct={setAsked} />
          <IconButton name="cross" label="Clear the selection" onClick={leave} className="shrink-0" />
        </section>
      )}
      {asked !== undefined && (
        <BulkDialog
          bulk={bulk}
          action={asked}
          rows={asked.fits === undefined ? rows : rows.filter(asked.fits)}
          leftOut={asked.fits === undefined ? 0 : rows.filter((row) => asked.fits?.(row) !== true).length}
          onDone={(done) => selection.drop(done.map(keyOf))}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}

/** Side by side; where several would need a second line, in a menu. */
function Actions<Row>({
  bulk: { actions },
  rows,
  onAct,
}: {
  bulk: Bulk<Row>
  rows: readonly Row[]
  onAct: (action: BulkAction<Row>) => void
}) {
  const isOff = ({ fits }: BulkAction<Row>) => fits !== undefined && !rows.some(fits)
  const isInMenu = actions.length > 1
  return (
    <>
      {actions.map((action) => (
        <Button
          key={action.text}
          icon={action.icon}
          look={action.typed === undefined ? 'plain' : 'danger'}
          disabled={isOff(action)}
          onClick={() => onAct(action)}
          className={isInMenu ? 'max-sm:hidden' : ''}
        >
          {action.text}
        </Button>
      ))}
      {isInMenu && (
        <Menu
          label="What to do with the selection"
          button={
            <Button icon="down" className="sm:hidden">
              Actions
            </Button>
          }
          items={actions.map((action) => ({
            text: action.text,
            icon: action.icon,
            danger: action.typed !== undefined,
            disabled: isOff(action),
            onSelect: () => onAct(action),
          }))}
        />
      )}
    </>
  )
}

/** From the bar back to the row that one came from; also when all that was chosen is done, and the bar gone. */
function useWayBack(isEmpty: boolean) {
  const from = useRef<{ readonly row: HTMLElement; readonly list: Element | null; readonly place: number }>(undefined)
  const go = () => {
    const { row, list, place } = from.current ?? {}
    from.current = undefined
    const stop =
      row?.isConnected === true ? stopOf(row) : list?.isConnected === true ? stopInPlace(list, place ?? 0) : null
    if (stop !== null) return stop.focus()
    document.querySelector<HTMLElement>('main tr[tabindex], main li a')?.focus({ preventScroll: true })
  }
  const back = useRef(go)
  back.current = go
  useEffect(() => {
    // A page that was just opened keeps its focus.
    if (isEmpty && from.current !== undefined && document.activeElement === document.body) back.current()
  }, [isEmpty])
  return {
    go,
    onFocus: ({ currentTarget, target, relatedTarget }: FocusEvent<HTMLElement>) => {
      if (!currentTarget.contains(target) || !(relatedTarget instanceof HTMLElement)) return
      const row = relatedTarget.closest<HTMLElement>('main tr, main li')
      const list = row?.parentElement ?? null
      if (row !== null) from.current = { row, list, place: [...(list?.children ?? [])].indexOf(row) }
    },
  }
}
