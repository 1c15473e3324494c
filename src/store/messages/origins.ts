// What messages take from elsewhere: their events, their workflows, and the actors' images.
import type { Sql, Statement } from '../../db/sql.ts'
import { shortRead, sql } from '../../db/sql.ts'
import type { TriggeredEvent } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import { findEvents } from '../events/events.ts'
import { findSubscribersById } from '../people/subscribers.ts'
import { pinnedIdentifier } from '../workflows/workflows.ts'
import type { MessageRow } from './rows.ts'
import { contentLength } from './rows.ts'

/** The version a message was made by, in short. */
export interface MessageWorkflow {
  readonly id: string
  readonly identifier: string
  readonly name: string
  readonly tags: readonly string[]
  readonly critical: boolean
  readonly steps: readonly { readonly uuid: string; readonly templateId: string; readonly feedId: string | null }[]
}

/** What messages show of their event. */
export type MessageEvent = Pick<
  TriggeredEvent,
  'transactionId' | 'payload' | 'overrides' | 'actorId' | 'severity' | 'test'
>

export interface MessageOrigins {
  readonly events: ReadonlyMap<string, MessageEvent>
  /** By version. */
  readonly workflows: ReadonlyMap<string, MessageWorkflow>
  /** By the actor's internal id; null without a picture. */
  readonly avatars: ReadonlyMap<string, string | null>
}

/** Each event and each version is asked for once, however many messages share it. */
export async function findOrigins(
  db: Sql,
  environment: Environment,
  rows: readonly MessageRow[],
): Promise<MessageOrigins> {
  return originsWith(findEvents, db, environment, rows)
}

/**
 * The same for readers of inboxes, who are shown nothing of an event but its id and its severity: a payload may have
 * half a megabyte, and a page a hundred of them. Its events have empty ones.
 */
export async function findReaderOrigins(
  db: Sql,
  environment: Environment,
  rows: readonly MessageRow[],
): Promise<MessageOrigins> {
  return originsWith(findEventsInShort, db, environment, rows)
}

async function originsWith(
  find: (db: Sql, environment: Environment, ids: readonly string[]) => Promise<(MessageEvent & { id: string })[]>,
  db: Sql,
  environment: Environment,
  rows: readonly MessageRow[],
): Promise<MessageOrigins> {
  if (rows.length === 0) return { events: new Map(), workflows: new Map(), avatars: new Map() }
  const [events, workflows] = await Promise.all([
    find(db, environment, distinct(rows.map((row) => row.event_id))),
    findWorkflows(db, environment, distinct(rows.map((row) => row.version_id))),
  ])
  const eventsById = new Map(events.map((event) => [event.id, event]))
  const actors = rows.flatMap((row) =>
    row.actor?.type === 'user' ? (eventsById.get(row.event_id)?.actorId ?? []) : [],
  )
  return {
    events: eventsById,
    workflows: new Map(workflows.map(({ versionId, ...workflow }) => [versionId, workflow])),
    avatars: await findAvatars(db, environment, actors),
  }
}

/** Of those of these messages that the subscriber has, with their events, in characters. */
export async function messagesLength(
  db: Sql,
  environment: Environment,
  { subscriberId, ids }: { subscriberId: string; ids: readonly string[] },
): Promise<number> {
  const row = await db.row<{ characters: number }>(sql`
    select coalesce(sum(${contentLength} + coalesce(length(m.data::text), 0)
      + coalesce(e.characters, 0)), 0)::bigint as characters
    from messages m
    left join lateral (select length(payload::text) + length(overrides::text) as characters from events found
      where found.environment_id = ${environment.id} and found.id = m.event_id limit 1) as e on true
    where m.environment_id = ${environment.id} and m.id = any(${ids}::uuid[]) and m.subscriber_id = ${subscriberId}`)
  return row?.characters ?? 0
}

/** By the actor's internal id. */
export async function findAvatars(
  db: Sql,
  environment: Environment,
  actors: readonly string[],
): Promise<Map<string, string | null>> {
  if (actors.length === 0) return new Map()
  const people = await findSubscribersById(db, environment, distinct(actors))
  return new Map(people.map((row) => [row.id, row.avatar]))
}

const distinct = (ids: readonly string[]): string[] => [...new Set(ids)]

const nothing = {}

async function findEventsInShort(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
): Promise<(MessageEvent & { id: string })[]> {
  const rows = await db.rows<Omit<MessageEvent, 'payload' | 'overrides'> & { id: string }>(
    shortRead(
      'messages-events',
      sql`select e.id, e.transaction_id as "transactionId", e.actor_id as "actorId", e.severity, e.test
          from unnest(${ids}::uuid[]) as asked (id)
          cross join lateral (select * from events found
            where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as e`,
    ),
  )
  return rows.map((row) => ({ ...row, payload: nothing, overrides: nothing }))
}

async function findWorkflows(
  db: Sql,
  environment: Environment,
  versionIds: readonly string[],
): Promise<(MessageWorkflow & { versionId: string })[]> {
  // A definition can be large, and this is queried at every page view: only what is shown is transferred.
  return db.rows(
    shortRead(
      'messages-workflows',
      sql`select v.id as "versionId", w.id, ${pinnedIdentifier} as identifier, v.definition->>'name' as name,
                 v.definition->'tags' as tags, (v.definition->>'critical')::boolean as critical, ${steps} as steps
          from unnest(${versionIds}::uuid[]) as asked (id)
          cross join lateral (select * from workflow_versions found
            where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as v
          cross join lateral (select * from workflows found
            where found.environment_id = ${environment.id} and found.id = v.workflow_id limit 1) as w`,
    ),
  )
}

const steps: Statement = sql`(
  select coalesce(jsonb_agg(jsonb_build_object('uuid', step->'uuid', 'templateId', step->'_templateId',
                                               'feedId', step->'template'->'feedId') order by place), '[]')
  from jsonb_array_elements(v.definition->'steps') with ordinality as listed (step, place))`
