// Group commit: concurrent single calls of one environment share one transaction.

import { DatabaseUnavailable } from '../db/sql.ts'
import { bisect } from '../domain/bisect.ts'
import type { Environment } from '../domain/environment.ts'
import { Problem } from '../domain/problem.ts'

export interface GroupOptions<Item, Result> {
  /** How many items share a commit, or what `sizeOf` counts of them. One that is larger goes alone. */
  readonly sizeMax: number
  /** 1 for each if left out. */
  sizeOf?(item: Item): number
  /** How many groups of an environment may be committed at once: one, unless each is much work for the database. */
  readonly atOnceMax?: number
  /** Items with equal keys never share a group: one statement cannot touch a row twice. */
  keyOf(item: Item): string
  /** Processes the whole group in one transaction; a Problem in the result belongs to that item only. */
  commit(environment: Environment, items: readonly Item[]): Promise<readonly (Result | Problem)[]>
}

export interface Group<Item, Result> {
  add(environment: Environment, item: Item): Promise<Result>
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly key: string
  resolve(result: Result): void
  reject(error: unknown): void
}

/** What waits to be committed in one environment. */
interface EnvironmentQueue<Item, Result> {
  readonly waiting: Waiting<Item, Result>[]
  /** How many groups are being committed. */
  flushing: number
}

/** Callers of one environment that may wait at once: some seconds' worth. More would wait longer than they listen. */
const waitingMax = 10_000

/** How many connections a group that met a locked row may use. */
const sideBySideMax = 4

/** There is no timer: a group is whatever arrived while those before it were being committed. */
export function createGroup<Item, Result>(options: GroupOptions<Item, Result>): Group<Item, Result> {
  const queues = new Map<string, EnvironmentQueue<Item, Result>>()
  const atOnceMax = options.atOnceMax ?? 1

  async function flush(environment: Environment, queue: EnvironmentQueue<Item, Result>): Promise<void> {
    queue.flushing += 1
    // One turn of the event loop lets requests that arrived together share the first commit.
    await new Promise(setImmediate)
    while (queue.waiting.length > 0) await commitGroup(options, environment, takeGroup(options, queue.waiting))
    queue.flushing -= 1
    if (queue.flushing === 0) queues.delete(environment.id)
  }

  return {
    add: (environment, item) =>
      new Promise((resolve, reject) => {
        const waiting = { item, key: options.keyOf(item), resolve, reject }
        const queue = queues.get(environment.id) ?? { waiting: [], flushing: 0 }
        queues.set(environment.id, queue)
        if (queue.waiting.length >= waitingMax) {
          const headers = { 'retry-after': '1' }
          reject(new Problem(503, 'Too many requests are waiting; please try again', { headers }))
          return
        }
        queue.waiting.push(waiting)
        if (queue.flushing < atOnceMax) void flush(environment, queue)
      }),
  }
}

function takeGroup<Item, Result>(
  options: GroupOptions<Item, Result>,
  queue: Waiting<Item, Result>[],
): Waiting<Item, Result>[] {
  const keys = new Set<string>()
  const group: Waiting<Item, Result>[] = []
  const left: Waiting<Item, Result>[] = []
  let size = 0
  let isFull = false
  for (const waiting of queue) {
    const isTwin = keys.has(waiting.key)
    keys.add(waiting.key)
    if (!isFull && !isTwin) {
      const itemSize = options.sizeOf?.(waiting.item) ?? 1
      // The first that does not fit ends the group: a large one is not overtaken by small ones for ever.
      isFull = group.length > 0 && size + itemSize > options.sizeMax
      if (!isFull) {
        group.push(waiting)
        size += itemSize
        continue
      }
    }
    left.push(waiting)
  }
  // Not spliced in as arguments: a long queue has more than a call can take.
  queue.length = 0
  for (const waiting of left) queue.push(waiting)
  return group
}

/** A group that fails is halved until the failing item is found; only that item gets the error. */
async function commitGroup<Item, Result>(
  options: GroupOptions<Item, Result>,
  environment: Environment,
  group: readonly Waiting<Item, Result>[],
): Promise<void> {
  const open = new Set(group)
  const together = async (waiting: readonly Waiting<Item, Result>[]): Promise<void> => {
    const items = waiting.map(({ item }) => item)
    settle(waiting, await options.commit(environment, items))
    for (const one of waiting) open.delete(one)
  }
  const isOfAll = (error: unknown): boolean => error instanceof DatabaseUnavailable
  const culprit = async (waiting: Waiting<Item, Result>, error: unknown): Promise<void> => {
    waiting.reject(error)
    open.delete(waiting)
  }
  try {
    await bisect(group, { together, isOfAll, culprit })
  } catch (error) {
    const isBusy = error instanceof DatabaseUnavailable && error.busy
    if (isBusy && open.size > 1) await commitEach(options, environment, [...open])
    else for (const waiting of open) waiting.reject(error)
  }
}

function settle<Item, Result>(
  group: readonly Waiting<Item, Result>[],
  results: readonly (Result | Problem | undefined)[],
): void {
  for (const [index, waiting] of group.entries()) {
    const result = results[index]
    if (result instanceof Problem || result === undefined) {
      waiting.reject(result ?? new Error('The group commit returned no result for this request'))
    } else waiting.resolve(result)
  }
}

/**
 * A row is locked by another transaction. Halving would wait for the lock at every step; run separately, all wait for
 * it at most once more.
 */
async function commitEach<Item, Result>(
  options: GroupOptions<Item, Result>,
  environment: Environment,
  group: readonly Waiting<Item, Result>[],
): Promise<void> {
  const left = [...group]
  const one = async (): Promise<void> => {
    for (let waiting = left.pop(); waiting !== undefined; waiting = left.pop()) {
      await commitGroup(options, environment, [waiting])
    }
  }
  await Promise.all(Array.from({ length: sideBySideMax }, one))
}
