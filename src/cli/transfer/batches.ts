// Sends many rows in batches, several at once, and says how far all of them are without a gap.
import type { ApiAnswer, ApiClient, CallOptions } from '../api-client.ts'
import { ApiError } from '../api-client.ts'
import type { Terminal } from '../command.ts'
import { CommandFailed } from '../command.ts'

export interface Batches<Row, Result> {
  readonly rows: AsyncIterable<Row>
  readonly size: number
  /** How many are under way at once. */
  readonly atOnce: number
  readonly signal: AbortSignal
  send(batch: readonly Row[]): Promise<Result>
  /** In the order of the rows: everything before it is done as well. */
  onDone(batch: readonly Row[], result: Result): void
}

interface Sending<Row, Result> {
  readonly batch: readonly Row[]
  result?: { readonly value: Result }
}

/** So many that are done may wait for an earlier one that is not. */
const waitingPerSender = 4

/** Ends when all are sent, or when it is stopped: then those under way are waited for. */
export async function sendBatches<Row, Result>(work: Batches<Row, Result>): Promise<void> {
  const { rows, size, atOnce, signal, send, onDone } = work
  const underWay = new Set<Promise<void>>()
  const queue: Sending<Row, Result>[] = []
  let failure: unknown
  const begin = (batch: readonly Row[]): void => {
    const own: Sending<Row, Result> = { batch }
    queue.push(own)
    const sending = send(batch)
      .then((value) => {
        own.result = { value }
        for (let [first] = queue; first?.result !== undefined; [first] = queue) {
          queue.shift()
          onDone(first.batch, first.result.value)
        }
      })
      .catch((error: unknown) => {
        failure ??= error
      })
      .finally(() => underWay.delete(sending))
    underWay.add(sending)
  }
  const isFull = (): boolean =>
    underWay.size >= atOnce || (underWay.size > 0 && queue.length >= atOnce * waitingPerSender)
  let batch: Row[] = []
  for await (const row of rows) {
    if (signal.aborted || failure !== undefined) break
    batch.push(row)
    if (batch.length < size) continue
    begin(batch)
    batch = []
    while (isFull()) await Promise.race(underWay)
  }
  if (batch.length > 0 && !signal.aborted && failure === undefined) begin(batch)
  await Promise.all(underWay)
  if (failure !== undefined) throw failure
}

/** A service that is busy, or is being restarted, is asked again for about two minutes; one that fails, a few times. */
const attemptsMax = 30
const failuresMax = 5
const pauseMs = 250
const pauseMsMax = 5_000
/** A service that wants to be left alone for longer is not waited for. */
const retryAfterMsMax = 120_000

export interface Caller extends Pick<Terminal, 'pause'> {
  /** Ends the waiting as well. */
  readonly signal: AbortSignal
}

export async function callAgain<Body>(
  { pause, signal }: Caller,
  client: ApiClient,
  [method, path]: readonly ['GET' | 'POST' | 'PUT' | 'PATCH', string],
  options: CallOptions,
): Promise<ApiAnswer<Body>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.call<Body>(method, path, options)
    } catch (error) {
      if (!(error instanceof ApiError) || attempt >= attemptsFor(error, options)) throw error
      await pause(error.retryAfterMs ?? Math.min(pauseMs * attempt, pauseMsMax), signal)
      if (signal.aborted) throw new CommandFailed('Stopped. The same command goes on from there.')
    }
  }
}

function attemptsFor({ status, retryAfterMs = 0 }: ApiError, { idempotencyKey }: CallOptions): number {
  if (retryAfterMs > retryAfterMsMax) return 1
  // The first attempt, whose answer was not waited for, is still under way: only then a 409 says when to ask again.
  if (status === 409 && idempotencyKey !== undefined && retryAfterMs > 0) return attemptsMax
  if (status === undefined || [429, 502, 503, 504].includes(status)) return attemptsMax
  return status >= 500 ? failuresMax : 1
}
