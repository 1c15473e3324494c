// The environment that a transfer writes to: calls that are repeated while the service is busy, and what came of each.
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ApiClient, Query } from '../api-client.ts'
import { ApiError } from '../api-client.ts'
import { warningWords } from '../terminal/warnings.ts'
import type { Caller } from './batches.ts'
import { callAgain } from './batches.ts'
import type { Left } from './report.ts'

export type Thing = Readonly<Record<string, unknown>>

export interface Written {
  /** How many things are different now. */
  readonly changed: number
  readonly left: readonly Left[]
  /** How many the service did not take; none where it is absent. */
  readonly refused?: number
}

export const unchanged: Written = { changed: 0, left: [] }

export interface Target {
  readonly caller: Caller
  readonly client: ApiClient
  readonly environmentId: string
  read<Body>(path: string, query?: Query): Promise<Body>
  /** Undefined if it is not there. */
  find<Body>(path: string, query?: Query): Promise<Body | undefined>
  send<Body>(method: 'POST' | 'PUT' | 'PATCH', path: string, body?: unknown): Promise<Body>
  /** The same, with what the service did not understand and left out, as sentences. */
  sendWarned<Body>(
    method: 'POST' | 'PUT',
    path: string,
    body: unknown,
  ): Promise<{ readonly body: Body; readonly warnings: readonly string[] }>
  /** Read when it is first asked for, and kept. */
  once<Value>(name: string, load: () => Promise<Value>): Promise<Value>
}

/** These members of it, as far as they are there and say something. */
export const only = (one: Thing, members: readonly string[]): Thing =>
  Object.fromEntries(
    members.flatMap((name) => (one[name] === undefined || one[name] === null ? [] : [[name, one[name]]])),
  )

/** What a subscriber is, in a file and from another service. */
export const subscriberMembers = [
  'subscriberId',
  'firstName',
  'lastName',
  'email',
  'phone',
  'avatar',
  'locale',
  'timezone',
  'data',
]

/** For hundreds of workflows, each of which is a transaction. */
const waitMs = 270_000

export function createTarget(caller: Caller, client: ApiClient, environmentId: string): Target {
  const kept = new Map<string, Promise<unknown>>()
  const read = async <Body>(path: string, query: Query = {}): Promise<Body> =>
    (await callAgain<Body>(caller, client, ['GET', path], { query })).body
  return {
    caller,
    client,
    environmentId,
    read,
    find: async (path, query) => {
      try {
        return await read(path, query)
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined
        throw error
      }
    },
    send: async <Body>(method: 'POST' | 'PUT' | 'PATCH', path: string, body?: unknown) =>
      (
        await callAgain<Body>(caller, client, [method, path], {
          ...onceOnly(),
          ...(body === undefined ? {} : { body, waitMs }),
        })
      ).body,
    sendWarned: async <Body>(method: 'POST' | 'PUT', path: string, given: unknown) => {
      const options = { ...onceOnly(), body: given, waitMs }
      const { headers, body } = await callAgain<Body>(caller, client, [method, path], options)
      return { body, warnings: warningWords(headers.get('posthorn-warnings') ?? '') }
    },
    once: <Value>(name: string, load: () => Promise<Value>) => {
      const found = kept.get(name) ?? load()
      kept.set(name, found)
      return found as Promise<Value>
    },
  }
}

/**
 * All attempts of one call have the same key: one whose answer was lost is not carried out again. A key made from the content would
 * be that of an earlier import too, whose answer would stand for something that was deleted since.
 */
const onceOnly = (): { idempotencyKey: string } => ({ idempotencyKey: randomUUID() })

export interface Page {
  readonly data: readonly Thing[]
  /** Where the next page begins; null after the last. */
  readonly next: string | null
  /** Of all pages; not all of them if it is capped. */
  readonly totalCount?: number
  readonly totalCountCapped?: boolean
}

/** As many as a page has at most. */
export const pageSize = 100

export async function* cursorPages(
  read: Target['read'],
  path: string,
  { first, ...query }: Query & { readonly first?: string | undefined } = {},
): AsyncGenerator<Page> {
  let after: string | null | undefined = first
  do {
    const page: Page = await read<Page>(path, {
      limit: pageSize,
      orderDirection: 'ASC',
      ...query,
      after: after ?? undefined,
    })
    if (after !== null && after !== undefined) throwIfLost(path, page, after)
    yield page
    after = page.next
  } while (after !== null && after !== undefined)
}

/** A cursor is an item: where that was deleted, a page is empty, and everything after it would be missing. */
function throwIfLost(path: string, { data, next, totalCount }: Page, after: string): void {
  if (next === after) throw new ApiError(`${path} answers with the same page again and again.`)
  if (data.length > 0 || totalCount !== 0) return
  throw new ApiError(`${path} no longer knows where the last page ended. Use --restart to start from the beginning.`)
}

export async function allOf(read: Target['read'], path: string, query: Query = {}): Promise<Thing[]> {
  const all: Thing[] = []
  for await (const { data } of cursorPages(read, path, query)) all.push(...data)
  return all
}

/** Lists whose pages have numbers. */
export async function* numberedItems(read: Target['read'], path: string): AsyncGenerator<Thing> {
  for (let page = 0; ; page += 1) {
    const { data, hasMore } = await read<{ data: readonly Thing[]; hasMore: boolean }>(path, { page, limit: pageSize })
    yield* data
    if (!hasMore) return
  }
}

/** A refusal is reported and does not end the transfer; a key that may not write does. */
export async function orLeft(
  named: Omit<Left, 'reason'>,
  work: () => Promise<Written | number | boolean>,
): Promise<Written> {
  try {
    const done = await work()
    return typeof done === 'object' ? done : { changed: Number(done), left: [] }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return { changed: 0, left: [{ ...named, reason: reasonOf(error) }], refused: 1 }
  }
}

export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status !== undefined && ![401, 403, 429].includes(error.status)

export const reasonOf = (error: ApiError): string => error.message.replaceAll(/\n\s*/g, ' ')

/** Whether what is stored has everything that is given, and nothing else of these members. */
export const has = (stored: Thing, given: Thing): boolean =>
  Object.entries(given).every(([name, value]) => isDeepStrictEqual(plain(stored[name]), plain(value)))

/** Absent, null and empty say the same. */
function plain(value: unknown): unknown {
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return undefined
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? undefined : value
}

export const sumOf = (all: readonly Written[]): Written => ({
  changed: all.reduce((sum, one) => sum + one.changed, 0),
  left: all.flatMap(({ left }) => left),
  refused: all.reduce((sum, { refused = 0 }) => sum + refused, 0),
})
