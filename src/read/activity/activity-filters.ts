// The filters of the activity list, as conditions on notifications and on their events.

import type { Statement } from '../../db/sql.ts'
import { allOf, sql } from '../../db/sql.ts'
import { contextKeysOf } from '../../domain/delivery/context-key.ts'
import { firstIdAt } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { nilId } from '../../domain/nil-id.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { Severity, StepType } from '../../domain/workflows/workflow.ts'
import type { Contains } from '../page/contains.ts'
import { contains } from '../page/contains.ts'
import { timeRangeOf } from '../page/time-range.ts'

/** The query of the list, as the interface has it. */
export interface ActivityQuery {
  readonly channels?: readonly StepType[]
  /** Internal ids of workflows. */
  readonly templates?: readonly string[]
  readonly emails?: readonly string[]
  readonly search?: string
  readonly subscriberIds?: readonly string[]
  readonly severity?: readonly Severity[]
  readonly transactionId?: readonly string[]
  readonly topicKey?: string
  /** Given but empty: those without a context. */
  readonly contextKeys?: readonly string[]
  /** Types of steps, or `any`. */
  readonly failed?: readonly (StepType | 'any')[]
  readonly failedProviders?: readonly string[]
  /** Codes of execution details. */
  readonly failedReasons?: readonly string[]
  readonly after?: string
  readonly before?: string
  readonly page: number
  readonly limit: number
}

/** The query with its empty filters left out: forms send their empty fields too. */
export interface ActivityFilter {
  /** Ids from `from` on, and before `to`. */
  readonly from?: string
  readonly to?: string
  readonly transactionIds?: readonly string[]
  readonly people?: PeopleFilter
  readonly workflowIds?: readonly string[]
  readonly channels?: readonly StepType[]
  readonly severities?: readonly Severity[]
  /** Null: without a context. */
  readonly contextKeys?: readonly string[] | null
  readonly topicKey?: string
  readonly failures?: FailureFilter
}

/** Of one failed step; undefined for any. */
export interface FailureFilter {
  readonly types: readonly StepType[] | undefined
  /** Those that were called for it. */
  readonly providers: readonly string[] | undefined
  /** Codes of what was reported of it. */
  readonly reasons: readonly string[] | undefined
}

/** Whoever fits one of them. */
export interface PeopleFilter {
  readonly subscriberIds: readonly string[]
  readonly emails: readonly string[]
  readonly search?: string
}

export function filterOf(query: ActivityQuery): ActivityFilter {
  const subscriberIds = filled(query.subscriberIds)
  const emails = filled(query.emails)
  const people = {
    subscriberIds: subscriberIds ?? [],
    emails: emails ?? [],
    ...(query.search ? { search: query.search } : {}),
  }
  const given: { [Name in keyof ActivityFilter]: ActivityFilter[Name] | undefined } = {
    ...timesOf(query),
    transactionIds: filled(query.transactionId),
    people: subscriberIds || emails || query.search ? people : undefined,
    // What is no id is no workflow's.
    workflowIds: filled(query.templates)?.filter(isUuid),
    channels: filled(query.channels),
    severities: filled(query.severity),
    contextKeys: query.contextKeys && contextsOf(query.contextKeys),
    topicKey: query.topicKey || undefined,
    failures: failuresOf(query),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function failuresOf(query: ActivityQuery): FailureFilter | undefined {
  const failed = filled(query.failed)
  const providers = filled(query.failedProviders)
  const reasons = filled(query.failedReasons)
  if (failed === undefined && providers === undefined && reasons === undefined) return undefined
  const types = failed?.flatMap((type) => (type === 'any' ? [] : [type]))
  return { types: types?.length === failed?.length ? types : undefined, providers, reasons }
}

function filled<Value extends string>(values: readonly Value[] | undefined): Value[] | undefined {
  const left = values?.filter((value) => value !== '')
  return left === undefined || left.length === 0 ? undefined : [...new Set(left)]
}

/** As events hold them: each once, sorted; null for none. */
function contextsOf(keys: readonly string[]): string[] | null {
  const named = contextKeysOf(keys)
  return named.length === 0 ? null : named
}

/** What 48 bits of milliseconds can represent. */
const timestampMax = 2 ** 48 - 1

function timesOf(query: ActivityQuery): { from?: string; to?: string } {
  const { afterMs, beforeMs } = timeRangeOf(query)
  const idAt = (timestamp: number): string => firstIdAt(new Date(Math.min(Math.max(timestamp, 0), timestampMax)))
  return {
    ...(afterMs === undefined ? {} : { from: idAt(afterMs) }),
    // The whole of the last millisecond belongs to it.
    ...(beforeMs === undefined ? {} : { to: idAt(beforeMs + 1) }),
  }
}

/** The range of time, on whichever id contains the timestamp. */
export function inTime(filter: ActivityFilter, id: Statement): Statement {
  return allOf([
    ...(filter.from === undefined ? [] : [sql`${id} >= ${filter.from}::uuid`]),
    ...(filter.to === undefined ? [] : [sql`${id} < ${filter.to}::uuid`]),
  ])
}

/** The largest id there can be. */
export const idMax = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * The rows of one key, newest first. Written as a range of (key, id), so that only the index of both gives the order:
 * if a few keys have most of the rows, the planner would expect to find a rare one soon while walking over all of them.
 */
export function newestOfKey(filter: ActivityFilter, { key, value, id, limit, order }: KeyOfRows): Statement {
  const to = filter.to === undefined ? sql`<= (${value}, ${idMax}::uuid)` : sql`< (${value}, ${filter.to}::uuid)`
  return sql`(${key}, ${id}) >= (${value}, ${filter.from ?? nilId}::uuid) and (${key}, ${id}) ${to}
    and ${inTime(filter, id)} order by ${order ?? sql`${key} desc`}, ${id} desc limit ${limit}`
}

interface KeyOfRows {
  readonly key: Statement
  readonly value: Statement
  readonly id: Statement
  readonly limit: number
  /** For a key of several columns: each of them, newest first. */
  readonly order?: Statement
}

/** For an event `e`; undefined if there is no condition on it. */
export function eventCondition(filter: ActivityFilter): Statement | undefined {
  const { severities, contextKeys, topicKey } = filter
  const conditions = [
    ...(severities === undefined ? [] : [severityCondition(severities)]),
    ...(contextKeys === undefined ? [] : [contextCondition(contextKeys)]),
    ...(topicKey === undefined ? [] : [sql`e.topic_keys @> ${[topicKey]}::text[]`]),
  ]
  return conditions.length === 0 ? undefined : allOf(conditions)
}

function severityCondition(severities: readonly Severity[]): Statement {
  const named = sql`e.severity = any(${severities.filter((severity) => severity !== 'none')}::text[])`
  return severities.includes('none') ? sql`(e.severity is null or ${named})` : named
}

function contextCondition(keys: readonly string[] | null): Statement {
  return keys === null ? sql`e.context_keys is null` : sql`e.context_keys = ${keys}::text[]`
}

/** For a version `v`; undefined if there is no condition on it. */
export function versionCondition(filter: ActivityFilter): Statement | undefined {
  const { workflowIds, channels } = filter
  const conditions = [
    ...(workflowIds === undefined ? [] : [sql`v.workflow_id = any(${workflowIds}::uuid[])`]),
    ...(channels === undefined ? [] : [sql`v.channels && ${channels}::text[]`]),
  ]
  return conditions.length === 0 ? undefined : allOf(conditions)
}

/** Of a subscriber `s`: each part with the condition that an index answers. */
export function peopleParts(people: PeopleFilter): Contains[] {
  const grams = sql`search_grams(s.full_name, s.email, s.phone)`
  const exactly = sql`s.subscriber_id = any(${[...people.subscriberIds, ...(people.search ? [people.search] : [])]}::text[])`
  return [
    { condition: exactly, indexed: exactly },
    ...people.emails.map((email) => ({
      condition: sql`s.email = ${email}`,
      indexed: contains(sql`s.email`, email, grams).indexed,
    })),
    ...(people.search ? [contains(sql`s.email`, people.search, grams)] : []),
  ]
}

/**
 * All conditions on a notification's event, version and subscriber, each looked up by its key: after `from …`. `but`
 * leaves out what the way to the notification already ensures.
 */
export function lookups(
  environment: Environment,
  filter: ActivityFilter,
  but: { event?: true; version?: true; people?: true } = {},
): Statement {
  // Two topics of one event may reach different people: then the event is asked again.
  const event = but.event && filter.topicKey === undefined ? undefined : eventCondition(filter)
  const version = but.version ? undefined : versionCondition(filter)
  const people = but.people ? undefined : filter.people
  const reached =
    filter.topicKey === undefined
      ? sql`true`
      : sql`n.topic_ids @> array[e.topic_ids[array_position(e.topic_keys, ${filter.topicKey})]]`
  const joins = [
    ...(event === undefined
      ? []
      : [
          sql`cross join lateral (select 1 from events e where e.environment_id = ${environment.id} and e.id = n.event_id
            and ${event} and ${reached} limit 1) as of_event`,
        ]),
    ...(version === undefined ? [] : [versionLookup(environment, version, sql`n.version_id`)]),
    ...(people === undefined
      ? []
      : [
          sql`cross join lateral (select 1 from subscribers s where s.environment_id = ${environment.id}
            and s.id = n.subscriber_id and s.deleted_at is null
            and (${anyOf(peopleParts(people).map((part) => part.condition))}) limit 1) as of_subscriber`,
        ]),
  ]
  return joins.reduce((all, join) => sql`${all} ${join}`, sql``)
}

/** A version that fits, for rows of notifications and of events. */
export function versionLookup(environment: Environment, condition: Statement, versionId: Statement): Statement {
  return sql`cross join lateral (select 1 from workflow_versions v where v.environment_id = ${environment.id}
    and v.id = ${versionId} and ${condition} limit 1) as of_version`
}

function anyOf(conditions: readonly Statement[]): Statement {
  return conditions.reduce((any, condition) => sql`${any} or ${condition}`)
}
