// What is new in the activity, looked for once a second for whoever follows it: counts, as the text of server-sent events.
import type { Db } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { Problem } from '../../domain/problem.ts'
import type { World } from '../../world/world.ts'

const lookEveryMs = 1_000
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
}

interface Look {
  /** The newest notification; null while there is none. */
  readonly newest: string | null
  readonly at: Date
}

const followers = new WeakMap<Db, number>()

/** Text for as long as the signal lets it go on. Throws the 429 where too many follow already. */
export function createActivityNews(
  db: Db,
  world: World,
  environment: Environment,
  signal: AbortSignal,
): AsyncIterable<string> {
  const count = followers.get(db) ?? 0
  if (count >= followersMax) {
    throw new Problem(429, 'Too many follow the activity of this node', { headers: { 'retry-after': '5' } })
  }
  followers.set(db, count + 1)
  signal.addEventListener('abort', () => followers.set(db, Math.max(0, (followers.get(db) ?? 1) - 1)), { once: true })
  return newsOf(db, world, environment, signal)
}

async function* newsOf(db: Db, world: World, environment: Environment, signal: AbortSignal): AsyncGenerator<string> {
  let last: Look = { newest: await newestOf(db, environment), at: world.now() }
  let saidAt = last.at.getTime()
  yield eventOf({ created: 0, changed: 0 })
  while (!signal.aborted) {
    await world.sleep(lookEveryMs, signal)
    if (signal.aborted) return
    const at = world.now()
    const { newest, ...news } = await look(db, environment, last)
    last = { newest: newest ?? last.newest, at }
    const isSilent = news.created === 0 && news.changed === 0
    if (isSilent && at.getTime() - saidAt < silenceMsMax) continue
    saidAt = at.getTime()
    yield isSilent ? ': nothing new\n\n' : eventOf(news)
  }
}

const eventOf = (news: News): string => `event: activity\ndata: ${JSON.stringify(news)}\n\n`

async function newestOf(db: Db, environment: Environment): Promise<string | null> {
  const row = await db.row<{ id: string }>(sql`
    select id from notifications where environment_id = ${environment.id} order by id desc limit 1`)
  return row?.id ?? null
}

/** Ids carry their time, so what is new stands at the end of the index. */
async function look(db: Db, environment: Environment, last: Look): Promise<News & { newest: string | null }> {
  const row = await db.row<News & { newest: string | null }>(sql`
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
