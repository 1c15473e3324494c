// How many messages of some inboxes are unread and unseen, for those who are notified of every change.
import { arrayText } from '../../db/array-text.ts'
import type { Sql } from '../../db/sql.ts'
import { prepared, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { inboxCountMax } from '../../domain/messages/inbox.ts'
import { isInFeed } from './rows.ts'

export interface OpenCounts {
  readonly unread: number
  readonly unseen: number
  readonly high: number
  readonly medium: number
  readonly low: number
  readonly none: number
}

/** So many of one inbox are looked at: a bell that says 100 need not know how many more there are. */
const lookedAtMax = 10_000

/** In the order asked; each number stops at one more than a count says, which shows that there are more. */
export async function countOpen(
  db: Sql,
  environment: Environment,
  asked: readonly { readonly subscriberId: string; readonly contextKeys: readonly string[] }[],
): Promise<OpenCounts[]> {
  if (asked.length === 0) return []
  const contexts = asked.map(({ contextKeys }) => (contextKeys.length === 0 ? null : arrayText(contextKeys)))
  const most = inboxCountMax + 1
  return db.rows<OpenCounts>(
    prepared(
      'inbox-open-counts',
      sql`select least(count(*) filter (where not m.read), ${most}::int)::int as unread,
              least(count(*) filter (where not m.seen), ${most}::int)::int as unseen,
              least(count(*) filter (where not m.read and m.severity = 'high'), ${most}::int)::int as high,
              least(count(*) filter (where not m.read and m.severity = 'medium'), ${most}::int)::int as medium,
              least(count(*) filter (where not m.read and m.severity = 'low'), ${most}::int)::int as low,
              least(count(*) filter (where not m.read and coalesce(m.severity, 'none') = 'none'), ${most}::int)::int as none
          from unnest(${asked.map((one) => one.subscriberId)}::uuid[], ${contexts}::text[])
            with ordinality as asked (subscriber_id, contexts, place)
          left join lateral (
            select m.read, m.seen, m.severity from messages m
            where m.environment_id = ${environment.id} and m.subscriber_id = asked.subscriber_id and ${isInFeed}
              and not (m.read and m.seen) and m.context_keys is not distinct from asked.contexts::text[]
            limit ${lookedAtMax}) m on true
          group by asked.place order by asked.place`,
    ),
  )
}
