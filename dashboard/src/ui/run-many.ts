// Calls for many things, a few at a time: how far it has come, what failed and why, and an end before its end.
import type { Client } from '../api.ts'

export interface Failure<Row> {
  readonly row: Row
  /** The service's own sentence. */
  readonly words: string
}

export interface Ran<Row> {
  readonly done: readonly Row[]
  readonly failed: readonly Failure<Row>[]
}

/** For one call; rows that a call for several refused come back with the reason. */
export type Act<Row> = (rows: readonly Row[]) => Promise<readonly Failure<Row>[] | unknown>

/** Where a call is for one row. */
export const each =
  <Row>(call: (row: Row, api: Client) => Promise<unknown>) =>
  ([row]: readonly Row[], _answer: string, api: Client): Promise<unknown> =>
    row === undefined ? Promise.resolve() : call(row, api)

/** As many as a person waits for; the rest stays chosen. */
export const rowsMax = 500
/** Calls at once: the service has other callers. */
const callsAtOnce = 4
/** Asked too often: the budget of a session fills up again within so much. */
const pauseMs = 1_000
const triesMax = 8

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const isTooOften = (error: unknown): boolean => (error as { status?: number } | undefined)?.status === 429

async function tried<Row>(act: Act<Row>, rows: readonly Row[], isStopped: () => boolean) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act(rows)
    } catch (error) {
      if (!isTooOften(error) || tries === triesMax || isStopped()) throw error
      await sleep(pauseMs)
      // It may have been stopped in the pause.
      if (isStopped()) throw error
    }
  }
}

export async function runMany<Row>(
  rows: readonly Row[],
  act: Act<Row>,
  {
    perCall = 1,
    isStopped,
    onProgress,
  }: { perCall?: number; isStopped: () => boolean; onProgress: (ran: Ran<Row>) => void },
): Promise<Ran<Row>> {
  const done: Row[] = []
  const failed: Failure<Row>[] = []
  const parts = Array.from({ length: Math.ceil(Math.min(rows.length, rowsMax) / perCall) }, (_, place) =>
    rows.slice(place * perCall, Math.min((place + 1) * perCall, rowsMax)),
  )
  const worker = async () => {
    for (let part = parts.shift(); part !== undefined && !isStopped(); part = parts.shift()) {
      const refused = await tried(act, part, isStopped).then(
        (answer) => (Array.isArray(answer) ? (answer as readonly Failure<Row>[]) : []),
        (error: Error) => part?.map((row) => ({ row, words: error.message })) ?? [],
      )
      failed.push(...refused)
      done.push(...part.filter((row) => !refused.some((one) => one.row === row)))
      onProgress({ done: [...done], failed: [...failed] })
    }
  }
  await Promise.all(Array.from({ length: callsAtOnce }, worker))
  return { done, failed }
}
