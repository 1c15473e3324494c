// What a batch of jobs needs to know, in a handful of statements.
import type { Db, Sql } from '../../db/sql.ts'
import type { TriggeredEvent } from '../../domain/delivery/event.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import { fastFlatMap } from '../../domain/fast-flat-map.ts'
import { grouped } from '../../domain/grouped.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { ChannelSettings } from '../../domain/people/channel-settings.ts'
import type { Tenant } from '../../domain/people/tenant.ts'
import type { StepType, WorkflowVersion } from '../../domain/workflows/workflow.ts'
import type { WorkflowOverride } from '../../domain/workflows/workflow-override.ts'
import type { ForeseenFacts, PreLeasedJob, Surroundings } from '../../record/notify.ts'
import type { DigestFacts } from '../../store/events/digests.ts'
import { findDigests } from '../../store/events/digests.ts'
import { findEvents } from '../../store/events/events.ts'
import type { PreviousStep } from '../../store/jobs/step-runs.ts'
import { withWholeEnvelope } from '../../store/messages/addresses.ts'
import type { UnsentMessage } from '../../store/messages/sending.ts'
import { findUnsent } from '../../store/messages/sending.ts'
import { readStamps } from '../../store/operate/configuration-stamps.ts'
import type { ContextRow } from '../../store/people/contexts.ts'
import { findContexts } from '../../store/people/contexts.ts'
import { findChannels } from '../../store/people/subscriber-channels.ts'
import type { RecipientRow } from '../../store/people/subscribers.ts'
import { findRecipients } from '../../store/people/subscribers.ts'
import { findTenants } from '../../store/people/tenants.ts'
import { findWorkflowOverrides } from '../../store/workflows/workflow-overrides.ts'
import type { World } from '../../world/world.ts'
import type { Integrations } from '../cache/integrations.ts'
import type { Wording, Wordings } from '../cache/layouts.ts'
import type { Versions } from '../cache/versions.ts'
import { followerOf } from './follower.ts'
import { findPreviousSteps } from './previous-steps.ts'

export interface Facts {
  /** By job: the one after it that may be decided with it. */
  readonly followers: ReadonlyMap<string, Job>
  readonly versions: ReadonlyMap<string, WorkflowVersion>
  readonly events: ReadonlyMap<string, TriggeredEvent>
  /** Recipients and actors. */
  readonly subscribers: ReadonlyMap<string, RecipientRow>
  readonly tenants: ReadonlyMap<string, Tenant>
  readonly contexts: ReadonlyMap<string, ContextRow>
  readonly digests: ReadonlyMap<string, DigestFacts>
  readonly integrations: readonly Integration[]
  readonly wording: Wording
  /** By subscriber: their chat and push entries, where a job needs them. */
  readonly channels: ReadonlyMap<string, readonly ChannelSettings[]>
  /** By notification. */
  readonly previous: ReadonlyMap<string, readonly PreviousStep[]>
  /** By workflow and tenant, joined with a slash. */
  readonly tenantOverrides: ReadonlyMap<string, WorkflowOverride>
  /** Whether the suppression list has any entries: most are empty, and need not be queried. */
  readonly mayBeSuppressed: boolean
  /** Whether events about messages are sent to an endpoint of the customer's. */
  readonly areReported: boolean
  /** By job: what was being sent when it last ran. */
  readonly unsent: ReadonlyMap<string, readonly UnsentMessage[]>
}

/** Where facts come from: the database, and what this node caches between batches. */
export interface FactSources {
  readonly db: Db
  readonly world: Pick<World, 'now' | 'sealer'>
  readonly versions: Versions
  readonly integrations: Integrations
  readonly wordings: Wordings
}

/** A template gets this many events; the total is passed as a number. */
const digestPayloadsMax = 100

/** What is known about a simulated run: nothing of it is in the database, so it is not looked up there. */
export interface TriedFacts {
  /** Recipients and actors, as they would be. */
  readonly subscribers: ReadonlyMap<string, RecipientRow>
  readonly tenants: ReadonlyMap<string, Tenant>
}

export function loadFacts(
  sources: FactSources,
  environment: Environment,
  jobs: readonly Job[],
  tried?: TriedFacts,
): Promise<Facts> {
  return sources.db.together((db) => readFacts(db, sources, environment, jobs, tried))
}

async function readFacts(
  db: Sql,
  { world, versions: cached, integrations: opened, wordings }: FactSources,
  environment: Environment,
  asked: readonly Job[],
  tried?: TriedFacts,
): Promise<Facts> {
  const resumed = asked.filter((job) => job.status === 'running')
  // Cached after the first time: they say what else is needed, so that most batches load it all in one round trip.
  const versions = await cached.of(db, environment, unique(asked.map((job) => job.versionId)))
  const followers = tried === undefined ? followersOf(asked, versions) : noFollowers
  const jobs = [...asked, ...followers.values()]
  const foreseen = tried === undefined ? stillFresh(asked, world.now()) : undefined
  const [read, recipients, digests, stamps, unsent, channels, previous] = await Promise.all([
    findEvents(db, environment, unique(jobs.filter((job) => job.event === undefined).map((job) => job.eventId))),
    foreseen === undefined
      ? findRecipients(
          db,
          environment,
          unique(
            jobs.map((job) => job.subscriberId),
            tried?.subscribers,
          ),
        )
      : [],
    findDigests(db, environment, unique(jobs.map((job) => job.digestId)), digestPayloadsMax),
    foreseen?.at(-1)?.stamps ?? readStamps(db, environment),
    findUnsent(db, environment, resumed).then((found) =>
      found.map((message) => withWholeEnvelope(world.sealer, environment, message)),
    ),
    channelsFor(db, world.sealer, environment, jobs, versions),
    tried === undefined ? findPreviousSteps(db, environment, jobs, versions) : noSteps,
  ])
  const events = [...read, ...new Set(fastFlatMap(jobs, (job) => job.event ?? []))]
  const actorIds = events.map((event) => event.actorId)
  const known = tried?.subscribers ?? byId(foreseenPeople(foreseen ?? []))
  const [integrations, wording, actors, surroundings] = await Promise.all([
    opened.active(db, environment, stamps),
    wordings.for(db, environment, jobs, versions, stamps),
    findRecipients(db, environment, unique(actorIds, known)),
    // All of one acceptance have the same, and no others have any.
    readSurroundings(
      db,
      environment,
      { jobs: asked, events, versions },
      {
        tried: tried?.tenants,
        foreseen: foreseen?.find((one) => one.surroundings !== undefined)?.surroundings,
      },
    ),
  ])
  return {
    followers,
    versions,
    events: byId(events),
    subscribers: byId([...recipients, ...actors, ...known.values()]),
    ...surroundings,
    digests: new Map(digests.map((digest) => [digest.window_id, digest])),
    integrations,
    mayBeSuppressed: stamps.hasSuppressions && jobs.some((job) => suppressible.has(typeOf(job, versions))),
    areReported: stamps.hasWebhooks,
    wording,
    channels,
    previous,
    unsent: grouped(unsent, (message) => message.jobId),
  }
}

/** Tenants, their overrides and contexts: what was foreseen, and the rest read. */
async function readSurroundings(
  db: Sql,
  environment: Environment,
  { jobs, events, versions }: { jobs: readonly Job[]; events: readonly TriggeredEvent[]; versions: Facts['versions'] },
  { tried, foreseen }: { tried: TriedFacts['tenants'] | undefined; foreseen: Surroundings | undefined },
): Promise<Pick<Facts, 'tenants' | 'contexts' | 'tenantOverrides'>> {
  const tenants = new Map(tried ?? foreseen?.tenants.map((tenant) => [tenant._id, tenant]))
  const contexts = new Map(foreseen?.contexts.map((context) => [context.key, context]))
  const overrides = new Map(foreseen?.overrides.map((one) => [overrideKey(one), one.override]))
  const tenantIds = events.map((event) => event.tenantId)
  const contextKeys = fastFlatMap(events, (event) => event.contextKeys ?? [])
  const [otherTenants, otherContexts, otherOverrides] = await Promise.all([
    findTenants(db, environment, { ids: unique(tenantIds, tenants) }),
    findContexts(db, environment, unique(contextKeys, contexts)),
    findWorkflowOverrides(db, environment, overridable(jobs, events, versions, overrides)),
  ])
  for (const tenant of otherTenants) tenants.set(tenant._id, tenant)
  for (const context of otherContexts) contexts.set(context.key, context)
  for (const override of otherOverrides) overrides.set(overrideKey(override), override)
  const tenantOverrides = fastFlatMap([...overrides], ([key, override]) =>
    override === null ? [] : [[key, override] as const],
  )
  return { tenants, contexts, tenantOverrides: new Map(tenantOverrides) }
}

const unique = (values: readonly (string | null)[], but?: ReadonlyMap<string, unknown>): string[] => [
  ...new Set(values.filter((value) => value !== null && but?.has(value) !== true) as string[]),
]

/** Both are our own ids. */
const overrideKey = ({ workflowId, tenantId }: { workflowId: string; tenantId: string }): string =>
  `${workflowId}/${tenantId}`

/** The workflows of jobs whose event has a tenant, each with that tenant once, without those that are known. */
function overridable(
  jobs: readonly Job[],
  events: readonly TriggeredEvent[],
  versions: ReadonlyMap<string, WorkflowVersion>,
  known: ReadonlyMap<string, unknown>,
): { workflowId: string; tenantId: string }[] {
  const tenantOf = new Map(
    fastFlatMap(events, ({ id, tenantId }) => (tenantId === null ? [] : [[id, tenantId] as const])),
  )
  const found = new Map<string, { workflowId: string; tenantId: string }>()
  for (const { eventId, versionId } of tenantOf.size === 0 ? [] : jobs) {
    const [workflowId, tenantId] = [versions.get(versionId)?.workflowId, tenantOf.get(eventId)]
    if (workflowId === undefined || tenantId === undefined) continue
    const pair = { workflowId, tenantId }
    if (!known.has(overrideKey(pair))) found.set(overrideKey(pair), pair)
  }
  return [...found.values()]
}

/** About what a batch takes to be decided: a change in the meantime is as late as for those. */
const freshMs = 100

/** What was read when these jobs were accepted, in that order: if all of them have it, and it is recent. */
function stillFresh(jobs: readonly PreLeasedJob[], now: Date): readonly ForeseenFacts[] | undefined {
  const fresh: ForeseenFacts[] = []
  for (const { foreseen } of jobs) {
    if (foreseen === undefined || now.getTime() - foreseen.readAt.getTime() > freshMs) return undefined
    fresh.push(foreseen)
  }
  return fresh.sort((one, other) => one.readAt.getTime() - other.readAt.getTime())
}

/** Recipients and actors, in the order in which they were read: of one who was read twice, the last counts. */
export const foreseenPeople = (foreseen: readonly ForeseenFacts[]): RecipientRow[] =>
  fastFlatMap(foreseen, ({ actor, recipient }) => (actor === undefined ? recipient : [actor, recipient]))

/** A run that is only tried goes step by step. */
const noFollowers: ReadonlyMap<string, Job> = new Map()

function followersOf(jobs: readonly Job[], versions: ReadonlyMap<string, WorkflowVersion>): ReadonlyMap<string, Job> {
  const found = new Map<string, Job>()
  for (const job of jobs) {
    const follower = followerOf(job, versions.get(job.versionId))
    if (follower !== undefined) found.set(job.id, follower)
  }
  return found
}

const noSteps: ReadonlyMap<string, readonly PreviousStep[]> = new Map()

const suppressible: ReadonlySet<StepType | undefined> = new Set<StepType>(['email', 'sms'])
const withEntries: ReadonlySet<StepType | undefined> = new Set<StepType>(['chat', 'push'])

const typeOf = (job: Job, versions: ReadonlyMap<string, WorkflowVersion>): StepType | undefined =>
  versions.get(job.versionId)?.definition.steps[job.step]?.template.type

/** Only for steps that send to them: they are sealed, and cost something to open. */
async function channelsFor(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  jobs: readonly Job[],
  versions: ReadonlyMap<string, WorkflowVersion>,
): Promise<ReadonlyMap<string, readonly ChannelSettings[]>> {
  const needing = jobs.filter((job) => withEntries.has(typeOf(job, versions)))
  if (needing.length === 0) return new Map()
  return findChannels(db, sealer, environment, [...new Set(needing.map((job) => job.subscriberId))])
}

function byId<Row extends { id: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}
