// What is done to many rows: offered in a bar as soon as one is chosen, said before it is done, with its progress and its result.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import type { Client } from '../api.ts'
import { callsGoTo, clientOf } from '../api.ts'
import { useEnvironment } from '../session.tsx'
import { Button, IconButton, TextField } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import type { IconName } from './icons.tsx'
import { Icon } from './icons.tsx'
import { Notice } from './page.tsx'
import type { Act, Failure, Ran } from './run-many.ts'
import { rowsMax, runMany } from './run-many.ts'
import type { Selection } from './selection.ts'
import { say } from './toast.tsx'

export interface BulkAction<Row> {
  readonly text: string
  readonly icon: IconName
  /** What it will do, said before it is done. */
  readonly does: string
  /** Which of the chosen ones it applies to; all unless said. */
  readonly fits?: (row: Row) => boolean
  /** A verb that is typed with the number of rows: for what cannot be undone. */
  readonly typed?: string
  /** Asked for before it starts. */
  readonly asks?: { readonly label: string; readonly hint?: string; readonly placeholder?: string }
  /** Rows that one call takes; one unless said. */
  readonly perCall?: number
  /** What is asked for again once it is done. */
  readonly touches: readonly string[]
  /** Calls by `api` alone: they go to the environment where the run began, whichever is on the page by then. */
  readonly act: (rows: readonly Row[], answer: string, api: Client) => ReturnType<Act<Row>>
}

export interface Bulk<Row> {
  /** What the rows are: subscribers, messages. */
  readonly of: string
  /** One of them. */
  readonly one: string
  readonly nameOf: (row: Row) => string
  readonly actions: readonly BulkAction<Row>[]
}

const counted = (count: number): string => count.toLocaleString('en')

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
  if (rows.length === 0 && asked === undefined) return null
  return (
    <>
      {/* The end of the page, so that the bar lies on no row. */}
      {page !== null && createPortal(<div aria-hidden className="h-16 max-sm:h-28" />, page)}
      {rows.length > 0 && (
        <section
          aria-label="What to do with the selection"
          className="card fixed bottom-4 left-1/2 z-30 flex max-w-[calc(100vw-24px)] -translate-x-1/2 flex-wrap items-center gap-1.5 p-2 shadow-lg max-sm:w-[calc(100vw-24px)]"
        >
          <IconButton name="cross" label="Clear the selection" onClick={selection.clear} />
          <span role="status" className="mr-2 font-medium whitespace-nowrap">
            {counted(rows.length)} selected
          </span>
          {bulk.actions.map((action) => (
            <Button
              key={action.text}
              icon={action.icon}
              look={action.typed === undefined ? 'plain' : 'danger'}
              disabled={action.fits !== undefined && !rows.some(action.fits)}
              onClick={() => setAsked(action)}
            >
              {action.text}
            </Button>
          ))}
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

function BulkDialog<Row>({
  bulk,
  action,
  rows: chosen,
  leftOut,
  onDone,
  onClose,
}: {
  bulk: Bulk<Row>
  action: BulkAction<Row>
  rows: readonly Row[]
  leftOut: number
  onDone: (rows: readonly Row[]) => void
  onClose: () => void
}) {
  const { id } = useEnvironment()
  const queries = useQueryClient()
  // While it runs, rows leave the list: it goes on with those that it began with.
  const [rows] = useState(chosen)
  const [answer, setAnswer] = useState('')
  const [typed, setTyped] = useState('')
  const [ran, setRan] = useState<Ran<Row>>()
  const [isRunning, setRunning] = useState(false)
  const isStopped = useRef(false)
  // A list that has become empty takes its table along, and this dialog: what runs goes on, and its result is said at the edge.
  const isShown = useRef(true)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])
  const count = Math.min(rows.length, rowsMax)
  const word = action.typed === undefined ? '' : `${action.typed} ${count}`
  const isReady = typed === word && (action.asks === undefined || answer.trim() !== '')
  const readAgain = () => {
    for (const name of action.touches) void queries.invalidateQueries({ queryKey: [id, name] })
  }
  const start = async () => {
    if (!isReady || isRunning) return
    setRunning(true)
    setRan({ done: [], failed: [] })
    const api = clientOf(id)
    const result = await runMany(rows, (part) => action.act(part, answer.trim(), api), {
      ...(action.perCall === undefined ? {} : { perCall: action.perCall }),
      // Whoever goes to another environment does not see it any more.
      isStopped: () => isStopped.current || !callsGoTo(id),
      onProgress: setRan,
    })
    onDone(result.done)
    const [first] = result.failed
    if (first !== undefined && isShown.current && !isStopped.current) {
      setRunning(false)
      return setRan(result)
    }
    readAgain()
    const words = `${counted(result.done.length)} done`
    if (first === undefined) say(words)
    else say(`${words}, ${counted(result.failed.length)} failed: ${first.words}`, 'error')
    // Once it was closed, another one may be open.
    if (isShown.current) onClose()
  }
  const isOver = ran !== undefined && !isRunning
  const close = () => {
    isStopped.current = true
    // Not before: the list may be empty then, and the reasons would be gone with it.
    if (isOver) readAgain()
    onClose()
  }
  return (
    <Dialog
      title={action.text}
      onClose={close}
      footer={
        <>
          <Button onClick={close}>{isRunning ? 'Stop' : isOver ? 'Close' : 'Leave it as it is'}</Button>
          {!isOver && (
            <Button
              look={action.typed === undefined ? 'primary' : 'danger'}
              busy={isRunning}
              disabled={!isReady}
              onClick={() => void start()}
            >
              {action.text}
            </Button>
          )}
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void start()
        }}
      >
        {ran === undefined ? (
          <>
            <p className="text-ink-2">{action.does}</p>
            <p>
              <strong className="font-semibold">
                {counted(count)} {count === 1 ? bulk.one : bulk.of}
              </strong>
              {leftOut > 0 && `; ${counted(leftOut)} of the selection are left out, since it does not apply to them`}
              {rows.length > rowsMax && `; ${counted(rows.length - rowsMax)} more stay selected for another time`}.
            </p>
            {action.asks !== undefined && (
              <TextField {...action.asks} value={answer} maxLength={255} autoComplete="off" onText={setAnswer} />
            )}
            {word !== '' && (
              <TextField label={`Type ${word} to confirm`} value={typed} autoComplete="off" onText={setTyped} />
            )}
          </>
        ) : (
          <Result ran={ran} count={count} isRunning={isRunning} nameOf={bulk.nameOf} />
        )}
      </form>
    </Dialog>
  )
}

/** Failures with the same sentence stand together. */
function Result<Row>({
  ran: { done, failed },
  count,
  isRunning,
  nameOf,
}: {
  ran: Ran<Row>
  count: number
  isRunning: boolean
  nameOf: (row: Row) => string
}) {
  const byWords = new Map<string, Failure<Row>[]>()
  for (const one of failed) byWords.set(one.words, [...(byWords.get(one.words) ?? []), one])
  const tried = done.length + failed.length
  return (
    <div className="flex flex-col gap-3">
      <p role="status" className="flex items-center gap-2 font-medium">
        {!isRunning && (
          <Icon
            name={failed.length === 0 ? 'check' : 'warning'}
            className={failed.length === 0 ? 'text-green' : 'text-amber'}
          />
        )}
        {counted(done.length)} done, {counted(failed.length)} failed
        {isRunning && ` of ${counted(count)}`}
        {!isRunning && tried < count && `, ${counted(count - tried)} not tried`}
      </p>
      {isRunning && <progress aria-label="Progress" className="w-full" value={tried} max={Math.max(1, count)} />}
      {[...byWords].map(([words, all]) => (
        <Notice key={words} tone="error">
          {words}
          <span className="block text-xs">
            {all
              .slice(0, namesMax)
              .map(({ row }) => nameOf(row))
              .join(', ')}
            {all.length > namesMax && ` and ${counted(all.length - namesMax)} more`}
          </span>
        </Notice>
      ))}
      {!isRunning && failed.length > 0 && (
        <p className="text-xs text-ink-3">What failed is still selected, so that it can be tried again.</p>
      )}
    </div>
  )
}

/** More names than so say no more. */
const namesMax = 8
