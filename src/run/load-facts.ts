// What a batch of jobs needs to know, in a handful of statements.
import type { Sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { TriggeredEvent } from '../domain/event.ts'
import { grouped } from '../domain/grouped.ts'
import type { Integration } from '../domain/integration.ts'
import type { Job } from '../domain/job.ts'
import type { Tenant } from '../domain/tenant.ts'
import type { WorkflowVersion } from '../domain/workflow.ts'
import type { ContextRow } from '../store/contexts.ts'
import { findContexts } from '../store/contexts.ts'
import type { DigestFacts } from '../store/digests.ts'
import { findDigests } from '../store/digests.ts'
import { findEvents } from '../store/events.ts'
import type { UnsentMessage } from '../store/messages/sending.ts'
import { findUnsent } from '../store/messages/sending.ts'
import type { SubscriberRow } from '../store/subscribers.ts'
import { findSubscribersById } from '../store/subscribers.ts'
import { findTenants } from '../store/tenants.ts'
import type { Pipeline } from './pipeline.ts'

export interface Facts {
  readonly versions: ReadonlyMap<string, WorkflowVersion>
  readonly events: ReadonlyMap<string, TriggeredEvent>
  /** Recipients and actors. */
  readonly subscribers: ReadonlyMap<string, SubscriberRow>
  readonly tenants: ReadonlyMap<string, Tenant>
  readonly contexts: ReadonlyMap<string, ContextRow>
  readonly digests: ReadonlyMap<string, DigestFacts>
  readonly integrations: readonly Integration[]
  /** By job: what was being sent when it was last looked at. */
  readonly unsent: ReadonlyMap<string, readonly UnsentMessage[]>
}

/** A template tells of so many events; how many there were in all it is told as a number. */
const digestPayloadsMax = 100

export function loadFacts(pipeline: Pipeline, environment: Environment, jobs: readonly Job[]): Promise<Facts> {
  return pipeline.db.together((db) => readFacts(db, pipeline, environment, jobs))
}

async function readFacts(
  db: Sql,
  { versions: known, integrations: opened }: Pipeline,
  environment: Environment,
  jobs: readonly Job[],
): Promise<Facts> {
  const unique = (values: readonly (string | null)[]): string[] => [
    ...new Set(values.filter((value) => value !== null)),
  ]
  const resumed = jobs.filter((job) => job.status === 'running')
  const [versions, read, recipients, digests, integrations, unsent] = await Promise.all([
    known.of(db, environment, unique(jobs.map((job) => job.versionId))),
    findEvents(db, environment, unique(jobs.filter((job) => job.event === undefined).map((job) => job.eventId))),
    findSubscribersById(db, environment, unique(jobs.map((job) => job.subscriberId))),
    findDigests(db, environment, unique(jobs.map((job) => job.digestId)), digestPayloadsMax),
    opened.active(db, environment),
    findUnsent(db, environment, resumed),
  ])
  const events = [...read, ...new Set(jobs.flatMap((job) => job.event ?? []))]
  const [actors, tenants, contexts] = await Promise.all([
    findSubscribersById(db, environment, unique(events.map((event) => event.actorId))),
    findTenants(db, environment, { ids: unique(events.map((event) => event.tenantId)) }),
    findContexts(db, environment, unique(events.flatMap((event) => event.contextKeys ?? []))),
  ])
  return {
    versions,
    events: byId(events),
    subscribers: byId([...recipients, ...actors]),
    tenants: new Map(tenants.map((tenant) => [tenant._id, tenant])),
    contexts: new Map(contexts.map((context) => [context.key, context])),
    digests: new Map(digests.map((digest) => [digest.window_id, digest])),
    integrations,
    unsent: grouped(unsent, (message) => message.jobId),
  }
}

function byId<Row extends { id: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}
