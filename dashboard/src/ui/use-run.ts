// A run over many rows: it can be stopped and continued, and goes on when the page it began on is left.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { callsGoTo, clientOf } from '../api.ts'
import { useEnvironment } from '../session.tsx'
import type { Bulk, BulkAction } from './bulk-actions.ts'
import { counted, countedOf } from './bulk-actions.ts'
import type { Ran } from './run-many.ts'
import { runMany } from './run-many.ts'
import type { Running } from './toast.tsx'
import { say, sayRunning } from './toast.tsx'

const countOf = <Row>({ done, failed, left }: Ran<Row>): number => done.length + failed.length + left.length

/** In one line, for the edge of the page. */
function wordsOf<Row>({ done, failed, left }: Ran<Row>): string {
  const [first] = failed
  return [
    `${counted(done.length)} done`,
    ...(left.length === 0 ? [] : [`${counted(left.length)} not done`]),
    ...(first === undefined ? [] : [`${counted(failed.length)} failed: ${first.words}`]),
  ].join(', ')
}

const plus = <Row>(before: Ran<Row>, now: Ran<Row>): Ran<Row> => ({
  ...now,
  done: [...before.done, ...now.done],
  failed: [...before.failed, ...now.failed],
})

const partOf = <Row>(ran: Ran<Row>): number => (ran.done.length + ran.failed.length) / Math.max(1, countOf(ran))

const toneOf = <Row>({ failed, left }: Ran<Row>): 'good' | 'warning' | 'error' =>
  failed.length > 0 ? 'error' : left.length > 0 ? 'warning' : 'good'

interface Run<Row> {
  /** Undefined before it was started. */
  readonly ran: Ran<Row> | undefined
  readonly isRunning: boolean
  /** Calls that were made are still to be answered. */
  readonly isStopping: boolean
  start(rows: readonly Row[], answer: string): void
  stop(): void
  /** With what was left when it was stopped. */
  goOn(): void
  /** What it changed is asked for again. */
  readAgain(): void
  /** Nothing shows it from here on: its result is said at the edge of the page. */
  close(): void
}

export function useRun<Row>(
  bulk: Bulk<Row>,
  action: BulkAction<Row>,
  { onDone, onEnd }: { onDone: (rows: readonly Row[]) => void; onEnd: () => void },
): Run<Row> {
  const { id, name } = useEnvironment()
  const queries = useQueryClient()
  const [ran, setRan] = useState<Ran<Row>>()
  const [state, setState] = useState<'still' | 'running' | 'stopping'>('still')
  const given = useRef('')
  const stopping = useRef(new AbortController())
  /** Undefined while nothing runs. */
  const latest = useRef<Ran<Row> | undefined>(undefined)
  /** A result that waits in the dialog to be read. */
  const unread = useRef<Ran<Row> | undefined>(undefined)
  const edge = useRef<Running | undefined>(undefined)
  const isShown = useRef(true)
  // Another page, another environment, or a list that became empty takes the dialog along: what runs goes on there, and the
  // edge of the page says where, how far it is and how to stop it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it goes, and what is done does not change
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
      if (unread.current !== undefined) return report(unread.current)
      const now = latest.current
      if (now === undefined || stopping.current.signal.aborted) return
      edge.current = sayRunning(`${action.text}: ${countedOf(bulk, countOf(now))} in ${name}`, partOf(now), () =>
        stopping.current.abort(),
      )
    }
  }, [])
  const readAgain = () => {
    for (const what of action.touches) void queries.invalidateQueries({ queryKey: [id, what] })
  }
  /** At the edge of the page, for whoever does not see the dialog any more. */
  const report = (all: Ran<Row>) => {
    readAgain()
    const where = callsGoTo(id) ? '' : ` in ${name}`
    say(`${action.text}, ${countedOf(bulk, countOf(all))}${where}: ${wordsOf(all)}`, toneOf(all))
  }
  const run = async (rows: readonly Row[], before: Ran<Row>) => {
    unread.current = undefined
    stopping.current = new AbortController()
    const { signal } = stopping.current
    const progress = (now: Ran<Row>) => {
      latest.current = plus(before, now)
      setRan(latest.current)
      edge.current?.update(partOf(latest.current))
    }
    setState('running')
    progress({ done: [], failed: [], left: rows })
    const api = clientOf(id)
    const result = await runMany(rows, (part) => action.act(part, given.current, api), {
      ...(action.perCall === undefined ? {} : { perCall: action.perCall }),
      signal,
      onProgress: progress,
    })
    const all = plus(before, result)
    latest.current = undefined
    edge.current?.end()
    onDone(result.done)
    setRan(all)
    setState('still')
    // Not read again yet: the list may be empty then, and what is to be read here would be gone with it.
    if (isShown.current && toneOf(all) !== 'good') {
      unread.current = all
      return
    }
    report(all)
    if (isShown.current) onEnd()
  }
  return {
    ran,
    isRunning: state !== 'still',
    isStopping: state === 'stopping',
    start: (rows, answer) => {
      given.current = answer
      void run(rows, { done: [], failed: [], left: [] })
    },
    stop: () => {
      stopping.current.abort()
      setState((now) => (now === 'running' ? 'stopping' : now))
    },
    goOn: () => {
      if (ran !== undefined) void run(ran.left, ran)
    },
    readAgain,
    close: () => {
      isShown.current = false
      unread.current = undefined
      stopping.current.abort()
    },
  }
}
