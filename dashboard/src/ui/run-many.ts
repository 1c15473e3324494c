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
  /** The service was asked too often: so long it waits from when this was reported. */
  readonly pauseMs?: number
}

/** For one call; rows that a call for several refused come back with the reason. */
export type Act<Row> = (rows: readonly Row[]) => Promise<readonly Failure<Row>[] | unknown>

/** Where a call is for one row. */
export const each =
  <Row, Api>(call: (row: Row, api: Api) => Promise<unknown>) =>
  ([row]: readonly Row[], _answer: string, api: Api): Promise<unknown> =>
    row === undefined ? Promise.resolve() : call(row, api)

/** As many as a person waits for; the rest stays chosen. */
export const rowsMax = 500
/** Calls at once: the service has other callers. */
const callsAtOnce = 4
/** Where the service asks for no other pause: the budget of a session fills up again within so much. */
const pauseMinMs = 1_000
/** A longer pause is for a person to decide on. */
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

/** Undefined where it was no matter of asking too often. */
function pauseMsOf(error: unknown): number | undefined {
  const { status, retryAfterMs } = error as { status?: number; retryAfterMs?: number }
  return status === 429 ? Math.min(pauseMaxMs, Math.max(pauseMinMs, retryAfterMs ?? 0)) : undefined
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
