// Waiting for a message in the outbox: one look at the database for all who wait in an environment, several times a second.
import type { Db } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import type { OutboxFilter } from '../../domain/messages/outbox.ts'
import { Problem } from '../../domain/problem.ts'
import { isInOutbox } from '../../store/messages/outbox.ts'
import type { World } from '../../world/world.ts'

export interface OutboxWaits {
  /**
   * True as soon as there is a matching message, false after the timeout. Throws if too many already wait, and if the
   * signal says that the client is gone.
   */
  wait(
    environment: Environment,
    filter: OutboxFilter,
    how: { timeoutMs: number; signal: AbortSignal },
  ): Promise<boolean>
}

/** Soon enough for a person, and five small statements a second for a whole environment. */
const lookEveryMs = 200
/** A test suite runs some dozens of tests at once; each that waits may have its filter looked for at every arrival. */
export const waitersPerEnvironmentMax = 64
/** Each holds a connection open. */
const waitersMax = 512
/** Another node's clock may be behind, and a transaction may take long: what is this much older than the newest can still be new. */
const lateMs = 30_000
/** More arrivals within that time are not distinguished: then every look counts as news. */
const arrivalsMax = 1_000

interface Waiter {
  readonly filter: OutboxFilter
  readonly untilMs: number
  /** Not searched yet: earlier messages count too. */
  isNew: boolean
  end(found: boolean): void
  fail(error: unknown): void
}

interface Watch {
  readonly environment: Environment
  readonly waiters: Set<Waiter>
  /** Aborted when no one waits any more. */
  readonly over: AbortController
  seen: ReadonlySet<string>
  newestAt: Date | undefined
}

export function createOutboxWaits(db: Db, world: World): OutboxWaits {
  const watches = new Map<string, Watch>()

  function leave(watch: Watch, waiter: Waiter): void {
    if (!watch.waiters.delete(waiter) || watch.waiters.size > 0) return
    watch.over.abort()
    watches.delete(watch.environment.id)
  }

  function join(environment: Environment, waiter: Waiter): Watch {
    const known = watches.get(environment.id)
    const watch = known ?? newWatch(environment)
    watch.waiters.add(waiter)
    watches.set(environment.id, watch)
    if (known === undefined) void keepLooking(watch)
    return watch
  }

  async function keepLooking(watch: Watch): Promise<void> {
    while (watch.waiters.size > 0) {
      try {
        await look(db, watch)
      } catch (error) {
        for (const waiter of [...watch.waiters]) waiter.fail(error)
      }
      const nowMs = world.now().getTime()
      for (const waiter of [...watch.waiters]) if (waiter.untilMs <= nowMs) waiter.end(false)
      const nextMs = Math.min(...[...watch.waiters].map(({ untilMs }) => untilMs)) - nowMs
      if (watch.waiters.size > 0) await world.sleep(Math.min(lookEveryMs, nextMs), watch.over.signal)
    }
  }

  function waitFor(environment: Environment, filter: OutboxFilter, untilMs: number, signal: AbortSignal) {
    return new Promise<boolean>((resolve, reject) => {
      const settle = (act: () => void): void => {
        signal.removeEventListener('abort', gone)
        leave(watch, waiter)
        act()
      }
      const waiter: Waiter = {
        filter,
        untilMs,
        isNew: true,
        end: (found) => settle(() => resolve(found)),
        fail: (error) => settle(() => reject(error)),
      }
      const gone = (): void => waiter.fail(closing())
      const watch = join(environment, waiter)
      signal.addEventListener('abort', gone, { once: true })
      if (signal.aborted) gone()
    })
  }

  return {
    wait: async (environment, filter, { timeoutMs, signal }) => {
      const untilMs = world.now().getTime() + timeoutMs
      if (await isInOutbox(db, environment, filter)) return true
      if (timeoutMs === 0) return false
      refuseOneMore(watches, environment)
      const found = await waitFor(environment, filter, untilMs, signal)
      // A message that arrived later than expected is still found in the end.
      return found || isInOutbox(db, environment, filter)
    },
  }
}

const newWatch = (environment: Environment): Watch => ({
  environment,
  waiters: new Set(),
  over: new AbortController(),
  seen: new Set(),
  newestAt: undefined,
})

const closing = (): Problem =>
  new Problem(503, 'The service is stopping; please try again', { headers: { 'retry-after': '1' } })

function refuseOneMore(watches: ReadonlyMap<string, Watch>, environment: Environment): void {
  const headers = { 'retry-after': '1' }
  if ((watches.get(environment.id)?.waiters.size ?? 0) >= waitersPerEnvironmentMax) {
    const words = `At most ${waitersPerEnvironmentMax} requests per environment can wait at once; please try again`
    throw new Problem(429, words, { headers })
  }
  const all = [...watches.values()].reduce((sum, watch) => sum + watch.waiters.size, 0)
  if (all >= waitersMax) throw new Problem(503, 'Too many requests are waiting; please try again', { headers })
}

/** Checks whether anything arrived; only then, and for new waiters, for what each waits for. */
async function look(db: Db, watch: Watch): Promise<void> {
  const { environment, waiters } = watch
  const since = watch.newestAt && new Date(watch.newestAt.getTime() - lateMs)
  const arrivals = await findArrivals(db, environment, since)
  const hasNews = arrivals.length === arrivalsMax || arrivals.some(({ id }) => !watch.seen.has(id))
  watch.seen = new Set(arrivals.map(({ id }) => id))
  watch.newestAt = arrivals[0]?.at ?? watch.newestAt
  const asking = [...waiters].filter((waiter) => hasNews || waiter.isNew)
  // Those who ask the same are answered together.
  for (const group of grouped(asking, ({ filter, isNew }) => JSON.stringify([filter, isNew])).values()) {
    const { filter, isNew } = group[0] as Waiter
    const isFound = await isInOutbox(db, environment, isNew ? filter : within(filter, since))
    for (const waiter of group) {
      waiter.isNew = false
      if (isFound) waiter.end(true)
    }
  }
}

/** Earlier messages were checked before. */
function within(filter: OutboxFilter, since: Date | undefined): OutboxFilter {
  if (since === undefined || (filter.capturedAfter !== undefined && filter.capturedAfter >= since)) return filter
  return { ...filter, capturedAfter: since }
}

async function findArrivals(
  db: Db,
  environment: Environment,
  since: Date | undefined,
): Promise<{ id: string; at: Date }[]> {
  const recent = since === undefined ? sql`true` : sql`m.outbox_at >= ${since}`
  return db.rows<{ id: string; at: Date }>(sql`
    select m.id, m.outbox_at as at from messages m
    where m.environment_id = ${environment.id} and m.outbox_at is not null and ${recent}
    order by m.outbox_at desc, m.id desc limit ${arrivalsMax}`)
}
