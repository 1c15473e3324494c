// What is new in the activity, looked for once a second for whoever follows it: counts, as the text of server-sent events.
import type { Db } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { Problem } from '../../domain/problem.ts'
import type { World } from '../../world/world.ts'

const lookEveryMs = 1_000
/** Then it ends, and whoever still listens asks again: with a key or a session that is still good. */
const followedMs = 60_000
/** Proxies close connections over which nothing comes. */
const silenceMsMax = 15_000
/** Counting stops there: more is "many". */
const newsMax = 1_000
/** Steps that were created last; what changes is among them, but for what waited long. */
const stepsLookedAt = 200
/** Each holds a connection open, and looks once a second. */
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
}

/** Whose activity, since which notification, and until when. */
export interface Following {
  readonly environment: Environment
  readonly after: string | undefined
  readonly signal: AbortSignal
}

const followers = new WeakMap<Db, number>()

/** Text for as long as the signal lets it go on. Throws the 429 where too many follow already. */
export function createActivityNews(db: Db, world: World, following: Following): AsyncIterable<string> {
  const count = followers.get(db) ?? 0
  if (count >= followersMax) {
    throw new Problem(429, 'Too many follow the activity of this node', { headers: { 'retry-after': '5' } })
  }
  followers.set(db, count + 1)
  let left = false
  const leave = (): void => {
    if (!left) followers.set(db, (followers.get(db) ?? 1) - 1)
    left = true
  }
  // The caller may have gone before the first is asked for.
  following.signal.addEventListener('abort', leave, { once: true })
  return leaving(newsOf(db, world, following), leave)
}

async function* leaving(news: AsyncIterable<string>, leave: () => void): AsyncGenerator<string> {
  try {
    yield* news
  } finally {
    leave()
  }
}

async function* newsOf(db: Db, world: World, { environment, after, signal }: Following): AsyncGenerator<string> {
  const startedAt = world.now()
  let last: Look = { newest: after ?? (await newestOf(db, environment)), at: startedAt }
  let saidAt = startedAt.getTime()
  yield eventOf({ created: 0, changed: 0, newest: last.newest })
  while (!signal.aborted && last.at.getTime() - startedAt.getTime() < followedMs) {
    await world.sleep(lookEveryMs, signal)
    if (signal.aborted) return
    const at = world.now()
    const found = await look(db, environment, last)
    last = { newest: found.newest ?? last.newest, at }
    const isSilent = found.created === 0 && found.changed === 0
    if (isSilent && at.getTime() - saidAt < silenceMsMax) continue
    saidAt = at.getTime()
    yield isSilent ? ': nothing new\n\n' : eventOf({ ...found, newest: last.newest })
  }
}

const eventOf = (news: News): string => `event: activity\ndata: ${JSON.stringify(news)}\n\n`

async function newestOf(db: Db, environment: Environment): Promise<string | null> {
  const row = await db.row<{ id: string }>(sql`
    select id from notifications where environment_id = ${environment.id} order by id desc limit 1`)
  return row?.id ?? null
}

/** Ids carry their time, so what is new stands at the end of the index. */
async function look(db: Db, environment: Environment, last: Look): Promise<News> {
  const row = await db.row<News>(sql`
    with created as (
      select id from notifications
      where environment_id = ${environment.id} and (${last.newest}::uuid is null or id > ${last.newest}::uuid)
      order by id desc limit ${newsMax}),
    steps as (
      select updated_at from jobs where environment_id = ${environment.id} order by id desc limit ${stepsLookedAt})
    select (select count(*)::integer from created) as created,
           (select count(*)::integer from steps where updated_at > ${last.at}) as changed,
           (select id from created order by id desc limit 1) as newest`)
  return row ?? { created: 0, changed: 0, newest: null }
}
