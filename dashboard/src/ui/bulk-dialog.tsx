// What is done to many rows: said before it is done, with its progress and its result.
import { useState } from 'react'
import type { Bulk, BulkAction } from './bulk-actions.ts'
import { counted, countedOf } from './bulk-actions.ts'
import { Button, TextField } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icons.tsx'
import { Notice } from './page.tsx'
import type { Failure, Ran } from './run-many.ts'
import { rowsMax } from './run-many.ts'
import { useRun } from './use-run.ts'

export function BulkDialog<Row>({
  bulk,
  action,
  rows: chosen,
  leftOut: others,
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
  // While it runs, rows leave the list: it goes on with those that it began with.
  const [{ rows, leftOut }] = useState({ rows: chosen, leftOut: others })
  const [answer, setAnswer] = useState('')
  const [typed, setTyped] = useState('')
  const run = useRun(bulk, action, { onDone, onEnd: onClose })
  const { ran, isRunning } = run
  const count = Math.min(rows.length, rowsMax)
  const more = rows.length - count
  const word = action.typed === undefined ? '' : `${action.typed} ${count}`
  const isReady = typed === word && (action.asks === undefined || answer.trim() !== '')
  const isOver = ran !== undefined && !isRunning
  const start = () => {
    if (isReady && ran === undefined) run.start(rows.slice(0, rowsMax), answer.trim())
  }
  const close = () => {
    if (isOver) run.readAgain()
    run.close()
    onClose()
  }
  return (
    <Dialog
      title={action.text}
      onClose={close}
      footer={
        <>
          {isRunning ? (
            // What had the focus is gone or disabled by now.
            <Button key="stop" autoFocus onClick={run.stop}>
              {run.isStopping ? 'Stopping' : 'Stop'}
            </Button>
          ) : (
            <Button key={isOver ? 'close' : 'leave'} autoFocus={isOver} onClick={close}>
              {isOver ? 'Close' : 'Leave it as it is'}
            </Button>
          )}
          {(!isOver || ran.left.length > 0) && (
            <Button
              look={action.typed === undefined ? 'primary' : 'danger'}
              busy={isRunning}
              disabled={!isReady}
              onClick={isOver ? run.goOn : start}
            >
              {isOver ? `Continue with ${counted(ran.left.length)}` : action.text}
            </Button>
          )}
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          start()
        }}
      >
        {ran === undefined ? (
          <>
            <p className="text-ink-2">{action.does}</p>
            <p>
              <strong className="font-semibold">{countedOf(bulk, count)}</strong>
              {leftOut > 0 &&
                `; ${counted(leftOut)} of the selection ${leftOut === 1 ? 'is' : 'are'} left out, because the action does not apply`}
              {more > 0 && `; ${counted(more)} more ${more === 1 ? 'stays' : 'stay'} selected for another time`}.
            </p>
            {action.asks !== undefined && (
              <TextField {...action.asks} value={answer} maxLength={255} autoComplete="off" onText={setAnswer} />
            )}
            {word !== '' && (
              <TextField label={`Type ${word} to confirm`} value={typed} autoComplete="off" onText={setTyped} />
            )}
          </>
        ) : (
          <Result ran={ran} isRunning={isRunning} nameOf={bulk.nameOf} />
        )}
      </form>
    </Dialog>
  )
}

/** Failures with the same sentence stand together. */
function Result<Row>({
  ran: { done, failed, left, pauseMs },
  isRunning,
  nameOf,
}: {
  ran: Ran<Row>
  isRunning: boolean
  nameOf: (row: Row) => string
}) {
  const byWords = new Map<string, Failure<Row>[]>()
  for (const one of failed) byWords.set(one.words, [...(byWords.get(one.words) ?? []), one])
  const tried = done.length + failed.length
  const count = tried + left.length
  const isGood = failed.length === 0 && left.length === 0
  return (
    <div className="flex flex-col gap-3">
      {/* Heard at the start, in a pause and at the end; each row would be too much. */}
      <p role="status" className="flex items-center gap-2 font-medium">
        {isRunning ? (
          pauseMs === undefined ? (
            'Running'
          ) : (
            `Too many requests. The run continues in ${secondsOf(pauseMs)}.`
          )
        ) : (
          <>
            <Icon name={isGood ? 'check' : 'warning'} className={isGood ? 'text-green' : 'text-amber'} />
            {counted(done.length)} done, {counted(failed.length)} failed
            {left.length > 0 && `, ${counted(left.length)} not done`}
          </>
        )}
      </p>
      {isRunning && (
        <>
          <progress aria-label="Progress" className="w-full" value={tried} max={Math.max(1, count)} />
          <p className="text-ink-2">
            {counted(done.length)} done, {counted(failed.length)} failed of {counted(count)}
          </p>
        </>
      )}
      {[...(isRunning ? [] : byWords)].map(([words, all]) => (
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
      {!isRunning && !isGood && (
        <p className="text-xs text-ink-3">What is not done is still selected, so that it can be tried again.</p>
      )}
    </div>
  )
}

function secondsOf(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  return seconds === 1 ? '1 second' : `${counted(seconds)} seconds`
}

/** More names than so say no more. */
const namesMax = 8
