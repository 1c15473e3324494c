// The list of events: what was triggered, once each, however many subscribers it was for.
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { firstIdAt, timestampOfId } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { invalidField } from '../../domain/problem.ts'
import { optionalTimestamp } from '../../domain/time/timestamp-parameter.ts'
import type { CursorPage, CursorQuery } from '../page/keyset-page.ts'
import { keysetPage } from '../page/keyset-page.ts'
import type { PinnedVersions } from './pinned-versions.ts'

export interface EventsQuery extends Pick<CursorQuery, 'after' | 'before' | 'limit' | 'orderDirection'> {
  /** From this time on, up to but not including that one. */
  readonly from?: string
  readonly to?: string
}

export interface ListedEvent {
  readonly _id: string
  readonly transactionId: string
  readonly workflow: { readonly _id: string; readonly identifier: string; readonly name: string } | undefined
  readonly createdAt: string
  /** How many subscribers it was for, as far as they are known. */
  readonly notifications: number
  readonly state: 'expanding' | 'expanded' | 'canceled'
  readonly topics: readonly string[]
  readonly isBroadcast: boolean
  readonly isTest: boolean
}

interface EventRow {
  readonly id: string
  readonly transaction_id: string
  readonly version_id: string
  readonly notified: number
  readonly topic_keys: string[] | null
  readonly is_broadcast: boolean
  readonly is_test: boolean
  readonly is_expanded: boolean
  readonly is_canceled: boolean
}

/** Without payloads: one of them may have half a megabyte. */
const columns = sql`e.id, e.transaction_id, e.version_id, e.notified, e.topic_keys, e.is_broadcast, e.test is not null as is_test,
  e.expanded_at is not null as is_expanded, e.canceled_at is not null as is_canceled`

export async function eventsPage(
  db: Sql,
  environment: Environment,
  query: EventsQuery,
  versions: PinnedVersions,
): Promise<CursorPage<ListedEvent>> {
  const page = await keysetPage<EventRow>(
    db,
    {
      columns,
      from: sql`from events e`,
      where: [sql`e.environment_id = ${environment.id}`, ...timesOf(query)],
      id: sql`e.id`,
      orders: { _id: { column: sql`e.id`, cast: 'uuid' } },
      cursorOf: ({ id }) => ({ value: id, id }),
    },
    query,
  )
  const pinned = await versions.of(db, environment, new Set(page.data.map((row) => row.version_id)))
  const data = page.data.map((row) => {
    const version = pinned.get(row.version_id)
    const workflow = version && {
      _id: version.workflowId,
      identifier: version.identifier,
      name: version.definition.name,
    }
    return listedOf(row, workflow)
  })
  return { ...page, data }
}

/** An id starts with the time at which it was made: a range of time is one of the primary key. */
function timesOf({ from, to }: EventsQuery): Statement[] {
  const [first, end] = [optionalTimestamp('from', from), optionalTimestamp('to', to)]
  if (first !== undefined && end !== undefined && first >= end) throw invalidField('to', 'to must be after from', to)
  return [
    ...(first === undefined ? [] : [sql`e.id >= ${firstIdAt(first)}::uuid`]),
    ...(end === undefined ? [] : [sql`e.id < ${firstIdAt(end)}::uuid`]),
  ]
}

const listedOf = (row: EventRow, workflow: ListedEvent['workflow']): ListedEvent => ({
  _id: row.id,
  transactionId: row.transaction_id,
  workflow,
  createdAt: timestampOfId(row.id).toISOString(),
  notifications: row.notified,
  state: row.is_canceled ? 'canceled' : row.is_expanded ? 'expanded' : 'expanding',
  topics: row.topic_keys ?? [],
  isBroadcast: row.is_broadcast,
  isTest: row.is_test,
})
