// Sends many rows in batches, several at once, and says how far all of them are without a gap.
import type { ApiAnswer, ApiClient, CallOptions } from '../api-client.ts'
import { ApiError } from '../api-client.ts'
import type { Terminal } from '../command.ts'

export interface Batches<Row> {
  readonly rows: AsyncIterable<Row>
  readonly size: number
  /** How many are under way at once. */
  readonly atOnce: number
  readonly signal: AbortSignal
  send(batch: readonly Row[]): Promise<void>
  /** So many rows, from the first one on, are done. */
  onDone(count: number): void
}

/** Ends when all are sent, or when it is stopped: then those under way are waited for. */
export async function sendBatches<Row>({ rows, size, atOnce, signal, send, onDone }: Batches<Row>): Promise<void> {
  const underWay = new Set<Promise<void>>()
  const ended: (number | undefined)[] = []
  let [next, done, failure]: [number, number, unknown] = [0, 0, undefined]
  const begin = (batch: readonly Row[]): void => {
    const place = next
    next += 1
    const sending = send(batch)
      .then(() => {
        ended[place] = batch.length
        for (let at = firstOpen(ended); ended[at] !== undefined; at += 1) {
          done += ended[at] ?? 0
          ended[at] = 0
        }
        onDone(done)
      })
      .catch((error: unknown) => {
        failure ??= error
      })
      .finally(() => underWay.delete(sending))
    underWay.add(sending)
  }
  const firstOpen = createFirstOpen()
  let batch: Row[] = []
  for await (const row of rows) {
    if (signal.aborted || failure !== undefined) break
    batch.push(row)
    if (batch.length < size) continue
    begin(batch)
    batch = []
    while (underWay.size >= atOnce) await Promise.race(underWay)
  }
  if (batch.length > 0 && !signal.aborted && failure === undefined) begin(batch)
  await Promise.all(underWay)
  if (failure !== undefined) throw failure
}

/** Where the first batch is that has not ended; remembered, as it never goes back. */
function createFirstOpen(): (ended: readonly (number | undefined)[]) => number {
  let first = 0
  return (ended) => {
    while (ended[first] === 0) first += 1
    return first
  }
}

/** A service that is busy, or is being restarted, is asked again for about two minutes. */
const attemptsMax = 30
const pauseMs = 250
const pauseMsMax = 5_000

export async function callAgain<Body>(
  terminal: Pick<Terminal, 'pause'>,
  client: ApiClient,
  [method, path]: readonly ['GET' | 'POST' | 'PUT' | 'PATCH', string],
  options: CallOptions,
): Promise<ApiAnswer<Body>> {
  const never = new AbortController().signal
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.call<Body>(method, path, options)
    } catch (error) {
      if (!isPassing(error) || attempt >= attemptsMax) throw error
      await terminal.pause(Math.min(pauseMs * attempt, pauseMsMax), options.signal ?? never)
    }
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === undefined || [429, 502, 503, 504].includes(error.status))
