// News of the activity for those who follow it: counts as server-sent events, from one query per second.
import type { Db } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { Problem } from '../../domain/problem.ts'
import type { World } from '../../world/world.ts'

const lookEveryMs = 1_000
/** Then the stream ends and the client requests it again, so that a revoked key or session is noticed. */
const followedMs = 60_000
/** Proxies close idle connections. */
const silenceMsMax = 15_000
/** Counting stops there. */
const newsMax = 1_000
/** A change carries the time at which its transaction began: one that commits later than that is still noticed. */
const commitMsMax = 30_000
/** The latest steps. Changes of older ones, such as after a long delay, are not reported. */
const stepsLookedAt = 200
/** Of each environment on a node: each keeps a connection open and queries once per second. */
export const followersMax = 100

interface News {
  readonly created: number
  readonly changed: number
  /** The newest notification; null while there is none. */
  readonly newest: string | null
}

interface Look {
  readonly newest: string | null
  readonly at: Date
  /** The steps that changed shortly before, each with its time. */
  readonly changes: ReadonlySet<string>
}

/** Whose activity, since which notification, and until when. */
export interface Following {
  readonly environment: Environment
  readonly after: string | undefined
  readonly signal: AbortSignal
}

/** By environment. */
const followers = new WeakMap<Db, Map<string, number>>()

/** Events until the signal aborts, a minute at most. Throws a 429 if too many follow already. */
export function createActivityNews(db: Db, world: World, following: Following): AsyncIterable<string> {
  const { environment, signal } = following
  // No one would read it, and nothing would give its place back.
  if (signal.aborted) return nothing()
  const counts = followers.get(db) ?? new Map<string, number>()
  followers.set(db, counts)
  const count = counts.get(environment.id) ?? 0
  if (count >= followersMax) {
    throw new Problem(429, 'Too many clients follow the activity of this environment on this node', {
      headers: { 'retry-after': '5' },
    })
  }
  counts.set(environment.id, count + 1)
  let left = false
  const leave = (): void => {
    if (left) return
    left = true
    const others = (counts.get(environment.id) ?? 1) - 1
    if (others === 0) counts.delete(environment.id)
    else counts.set(environment.id, others)
  }
  // The client may disconnect before the first event is read.
  signal.addEventListener('abort', leave, { once: true })
  return leaving(newsOf(db, world, following), leave)
}

async function* nothing(): AsyncGenerator<string> {}

async function* leaving(news: AsyncIterable<string>, leave: () => void): AsyncGenerator<string> {
  try {
    yield* news
  } finally {
    leave()
  }
}

async function* newsOf(db: Db, world: World, { environment, after, signal }: Following): AsyncGenerator<string> {
  const startedAt = world.now()
  const newest = after ?? (await newestOf(db, environment))
  let last: Look = { newest, at: startedAt, changes: new Set() }
  // Whoever goes on from a stream before hears of what changed in between; others have just looked.
  if (after === undefined) last = { ...last, changes: (await look(db, environment, last)).changes }
  let saidAt = startedAt.getTime()
  yield eventOf({ created: 0, changed: 0, newest: last.newest })
  while (!signal.aborted && last.at.getTime() - startedAt.getTime() < followedMs) {
    await world.sleep(lookEveryMs, signal)
    if (signal.aborted) return
    const at = world.now()
    const { created, changes, newest: latest } = await look(db, environment, last)
    const changed = [...changes].filter((change) => !last.changes.has(change)).length
    last = { newest: latest ?? last.newest, at, changes }
    const isSilent = created === 0 && changed === 0
    if (isSilent && at.getTime() - saidAt < silenceMsMax) continue
    saidAt = at.getTime()
    yield isSilent ? ': nothing new\n\n' : eventOf({ created, changed, newest: last.newest })
  }
}

const eventOf = (news: News): string => `event: activity\ndata: ${JSON.stringify(news)}\n\n`

async function newestOf(db: Db, environment: Environment): Promise<string | null> {
  const row = await db.row<{ id: string }>(sql`
    select id from notifications where environment_id = ${environment.id} order by id desc limit 1`)
  return row?.id ?? null
}

interface Found extends Omit<News, 'changed'> {
  readonly changes: ReadonlySet<string>
}

/** Ids carry their time, so what is new stands at the end of the index. */
async function look(db: Db, environment: Environment, last: Look): Promise<Found> {
  const since = new Date(last.at.getTime() - commitMsMax)
  const row = await db.row<Omit<Found, 'changes'> & { changes: string[] }>(sql`
    with created as (
      select id from notifications
      where environment_id = ${environment.id} and (${last.newest}::uuid is null or id > ${last.newest}::uuid)
      order by id desc limit ${newsMax}),
    steps as (
      select id, updated_at from jobs where environment_id = ${environment.id} order by id desc limit ${stepsLookedAt})
    select (select count(*)::integer from created) as created,
           array(select id::text || ' ' || updated_at::text from steps where updated_at > ${since}) as changes,
           (select id from created order by id desc limit 1) as newest`)
  return { created: row?.created ?? 0, changes: new Set(row?.changes), newest: row?.newest ?? null }
}
