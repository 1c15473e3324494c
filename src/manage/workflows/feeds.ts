// Feeds: create, delete; and whether those that a workflow names are there.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, noContent } from '../../domain/answer.ts'
import { slugOf } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfFeed } from '../../domain/operate/audit-records.ts'
import { conflict, notFound } from '../../domain/problem.ts'
import type { Feed } from '../../domain/workflows/feed.ts'
import { feedsMax } from '../../domain/workflows/feed.ts'
import { countFeeds, deleteFeed, findFeed, holdFeeds, insertFeed, lockFeed } from '../../store/workflows/feeds.ts'
import { workflowsNaming } from '../../store/workflows/workflow-references.ts'
import type { World } from '../../world/world.ts'
import { inUse } from './layouts.ts'

interface Call {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

export async function createFeed(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { name: string; identifier: string | undefined },
): Promise<Answer<Feed>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    if ((await countFeeds(tx, environment, feedsMax)) >= feedsMax) {
      throw conflict(`There are already ${feedsMax} feeds; delete one that is no longer needed`)
    }
    const now = world.now()
    const identifier = call.identifier ?? (slugOf(call.name) || 'feed')
    const feed = await insertFeed(tx, environment, { id: world.newId(now), identifier, name: call.name, now })
    if (feed === undefined) throw conflict(`Feed ${identifier} already exists`)
    await audit(tx, world, environment, call.author, { ...named(feed), action: 'create', after: recordOfFeed(feed) })
    return created(feed)
  })
}

/** A refusal names so many of them. */
const workflowsNamedMax = 10

/** Messages that lie in it stay in the whole feed. */
export async function removeFeed(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { feedId: string },
): Promise<Answer<null>> {
  return once(db, world, environment, call.idempotency, async (tx) => {
    const feed = await findFeed(tx, environment, call.feedId)
    if (feed === undefined) throw unknownFeed(call.feedId)
    await lockFeed(tx, environment, feed._id)
    const users = await workflowsNaming(tx, environment, {
      member: 'feedId',
      names: [feed._id, feed.identifier],
      activeOnly: true,
      limit: workflowsNamedMax,
    })
    if (users.length > 0) throw inUse('The feed cannot be deleted', users)
    if (!(await deleteFeed(tx, environment, feed._id))) throw unknownFeed(call.feedId)
    await audit(tx, world, environment, call.author, { ...named(feed), action: 'delete', before: recordOfFeed(feed) })
    return noContent
  })
}

/** Those of the names (ids or identifiers) that are no feed here; the others stay until the transaction ends. */
export async function unknownFeeds(tx: Tx, environment: Environment, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return []
  const known = await holdFeeds(tx, environment, names)
  return names.filter((name) => !known.has(name))
}

const named = ({ _id, identifier }: Feed) => ({ kind: 'feed', id: _id, name: identifier }) as const

const unknownFeed = (name: string) => notFound(`Feed ${name} not found`)
