// Calls for many things, a few at a time: how far it has come, what failed and why, and an end before its end.

export interface Failure<Row> {
  readonly row: Row
  /** The service's own sentence. */
  readonly words: string
}

export interface Ran<Row> {
  readonly done: readonly Row[]
  readonly failed: readonly Failure<Row>[]
  /** Not done yet; after a stop, what can be continued. */
  readonly left: readonly Row[]
  /** The service was asked too often, or is busy: so long it waits from when this was reported. */
  readonly pauseMs?: number
}

/** For one call; rows that a call for several refused come back with the reason. */
export type Act<Row> = (rows: readonly Row[]) => Promise<readonly Failure<Row>[] | unknown>

/** As many as a person waits for; the rest stays chosen. */
export const rowsMax = 500
/** Calls at once: the service has other callers. */
const callsAtOnce = 4
/** Where the service asks for no other pause: the budget of a session fills up again within so much. */
const pauseMinMs = 1_000
/** Longer than so it does not wait at once, whatever the service asks for; what is refused each time has failed in the end. */
const pauseMaxMs = 60_000
const triesMax = 8

type Wait = (ms: number, signal: AbortSignal) => Promise<void>

/** Ends at once when it is stopped. */
const waited: Wait = (ms, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })

/** Undefined where nothing speaks for trying again: it was not asked too often, and not asked to come back later. */
function pauseMsOf(error: unknown): number | undefined {
  const { status, retryAfterMs } = error as { status?: number; retryAfterMs?: number }
  const isLater = status === 429 || (status === 503 && retryAfterMs !== undefined)
  return isLater ? Math.min(pauseMaxMs, Math.max(pauseMinMs, retryAfterMs ?? 0)) : undefined
}

interface RunOptions<Row> {
  readonly perCall?: number
  readonly signal: AbortSignal
  readonly onProgress: (ran: Ran<Row>) => void
  readonly wait?: Wait
}

export async function runMany<Row>(
  rows: readonly Row[],
  act: Act<Row>,
  { perCall = 1, signal, onProgress, wait = waited }: RunOptions<Row>,
): Promise<Ran<Row>> {
  const taken = rows.slice(0, rowsMax)
  const done = new Set<Row>()
  const failed = new Map<Row, Failure<Row>>()
  const parts = Array.from({ length: Math.ceil(taken.length / perCall) }, (_, place) =>
    taken.slice(place * perCall, (place + 1) * perCall),
  )
  let pause: Promise<void> | undefined
  const ran = (pauseMs?: number): Ran<Row> => ({
    done: [...done],
    failed: [...failed.values()],
    left: taken.filter((row) => !done.has(row) && !failed.has(row)),
    ...(pauseMs === undefined ? {} : { pauseMs }),
  })
  /** One pause for all calls: whichever begins meanwhile would be refused as well. */
  const paused = (ms: number): Promise<void> => {
    if (pause !== undefined) return pause
    onProgress(ran(ms))
    pause = wait(ms, signal).then(() => {
      pause = undefined
      onProgress(ran())
    })
    return pause
  }
  /** Undefined where it was stopped before the service took the rows. */
  const tried = async (part: readonly Row[]): Promise<readonly Failure<Row>[] | undefined> => {
    for (let tries = 1; ; tries += 1) {
      await pause
      if (signal.aborted) return undefined
      try {
        const answer = await act(part)
        return Array.isArray(answer) ? (answer as readonly Failure<Row>[]) : []
      } catch (error) {
        const ms = pauseMsOf(error)
        if (ms !== undefined && signal.aborted) return undefined
        if (ms === undefined || tries === triesMax) return part.map((row) => ({ row, words: (error as Error).message }))
        await paused(ms)
      }
    }
  }
  const worker = async () => {
    for (let part = parts.shift(); part !== undefined && !signal.aborted; part = parts.shift()) {
      const refused = await tried(part)
      if (refused === undefined) return
      for (const one of refused) failed.set(one.row, one)
      for (const row of part) if (!failed.has(row)) done.add(row)
      // While others pause, the page says so until the pause is over.
      if (pause === undefined) onProgress(ran())
    }
  }
  await Promise.all(Array.from({ length: callsAtOnce }, worker))
  return ran()
}
