// Short reads that are asked for at the same time share a connection. Each connection is a process of the database server,
// and waking one that sleeps costs more than most short reads do.
import type pg from 'pg'

/** More at once have a second connection, so that two processors can work on them. */
const readersMax = 8
/** A connection that has been silent this long is busy with something that is not short: others do not wait behind it. */
const silenceMaxMs = 10

/** One connection, from its first reader until its last has left. */
interface Shared {
  readonly client: Promise<pg.PoolClient>
  readers: number
  /** When it last answered, or was taken. */
  heardAt: number
  isBroken: boolean
  onError(): void
}

/** Asks on a connection that others may be using as well. */
export type SharedReads = (ask: (client: pg.PoolClient) => Promise<pg.QueryResult>) => Promise<pg.QueryResult>

/** After an error of any reader no other comes to the connection, and it is not used again, as the pool does it. */
export function createSharedReads(
  pool: Pick<pg.Pool, 'connect'>,
  now: () => number = () => performance.now(),
): SharedReads {
  let newest: Shared | undefined

  function taken(): Shared {
    const onError = (): void => leave(shared)
    const shared: Shared = { client: pool.connect(), readers: 0, heardAt: now(), isBroken: false, onError }
    newest = shared
    // The pool listens to idle connections only: an error that no one hears would end the process.
    shared.client.then((client) => client.on('error', onError), onError)
    return shared
  }

  /** No further reader comes to it. */
  function leave(shared: Shared): void {
    shared.isBroken = true
    if (newest === shared) newest = undefined
  }

  const hasRoom = (shared: Shared): boolean => shared.readers < readersMax && now() - shared.heardAt <= silenceMaxMs

  return async (ask) => {
    const shared = newest !== undefined && hasRoom(newest) ? newest : taken()
    shared.readers += 1
    try {
      return await ask(await shared.client)
    } catch (error) {
      leave(shared)
      throw error
    } finally {
      shared.heardAt = now()
      shared.readers -= 1
      if (shared.readers === 0) await release(shared)
    }
  }

  async function release(shared: Shared): Promise<void> {
    if (newest === shared) newest = undefined
    const client = await shared.client.catch(() => undefined)
    client?.off('error', shared.onError)
    client?.release(shared.isBroken)
  }
}
