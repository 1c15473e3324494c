// What the steps of an event need to know, in one set of statements: for most workflows it is the same for all

// recipients, and loaded while these are still being looked up.
import type { Runnable } from '../accept/judge-events.ts'
import { triggeredEvent } from '../accept/pre-leased.ts'
import { rowOf } from '../accept/write-events.ts'
import type { Sql } from '../db/sql.ts'
import type { EventRequest, TriggeredEvent } from '../domain/delivery/event.ts'
import { contextKeyOf, directLane } from '../domain/delivery/event.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { SigningKeys } from '../domain/operate/signing-keys.ts'
import type { Tenant } from '../domain/people/tenant.ts'
import type { NotificationStep, StepType } from '../domain/workflows/workflow.ts'
import { newSubscriberRow } from '../record/subscriber-rows.ts'
import type { SigningSecrets } from '../run/cache/signing-secrets.ts'
import type { FactSources, Facts } from '../run/decide/load-facts.ts'
import { loadFacts } from '../run/decide/load-facts.ts'
import type { LinkSources, UnsubscribeLinks } from '../run/decide/unsubscribe-headers.ts'
import { unsubscribeLinks } from '../run/decide/unsubscribe-headers.ts'
import type { ContextRow } from '../store/people/contexts.ts'
import type { People } from './people.ts'
import { withBrought } from './people.ts'

/** An event that would run, numbered. */
export interface NumberedEvent extends Runnable {
  readonly id: string
  readonly transactionId: string
}

export interface Known {
  readonly facts: Facts
  readonly links: UnsubscribeLinks | undefined
}

/**
 * The jobs that the recipients of an event start with. Their ids distinguish them in this request and are short: a run
 * that is not stored needs no derived ids, and hashing two for each took a twentieth of the request.
 */
export function jobsOf(
  { id: environmentId }: Environment,
  { id: eventId, version, firstStep }: NumberedEvent,
  event: TriggeredEvent,
  subscriberIds: readonly string[],
): Job[] {
  return subscriberIds.map((subscriberId, index) => ({
    environmentId,
    id: `${index}/${firstStep}`,
    notificationId: `${index}`,
    eventId,
    subscriberId,
    versionId: version.id,
    step: firstStep,
    status: 'queued',
    lane: directLane,
    lease: '',
    interruptions: 0,
    faults: 0,
    faultedSince: null,
    digestId: null,
    state: null,
    event,
  }))
}

/** Steps that ask for each recipient's own entries. */
const withEntries: ReadonlySet<StepType> = new Set<StepType>(['chat', 'push'])

const entriesAt = (steps: readonly NotificationStep[]): number =>
  steps.findIndex((step) => step.active && withEntries.has(step.template.type))

/** No subscriber has this id, and none is looked up by it. */
const placeholderId = ''
const noPeople = { ids: new Map<string, string>(), warnings: new Map<string, string>() }

/**
 * What is the same for all recipients, on a connection that the lookup of the people is using: with a placeholder id,
 * so that it need not wait for them. Undefined if the steps need something of each recipient, or subscribers of topics
 * are to follow.
 */
export async function loadForAll(
  sources: FactSources,
  on: Sql,
  environment: Environment,
  event: NumberedEvent,
  at: Date,
): Promise<Facts | undefined> {
  if (event.request.topics.length > 0 || entriesAt(event.version.definition.steps) !== -1) return undefined
  const triggered = triggeredEvent(rowOf(event, noPeople, [], at))
  const here: FactSources = { ...sources, db: { ...sources.db, together: (work) => work(on) } }
  const jobs = jobsOf(environment, event, triggered, [placeholderId])
  const subscribers = new Map([[placeholderId, newSubscriberRow(placeholderId, placeholderId, at)]])
  return loadFacts(here, environment, eachStep(jobs, event), { subscribers, tenants: tenantsOf(event) })
}

/** The first job at every step that may run. */
const eachStep = ([first]: readonly Job[], { version }: NumberedEvent): Job[] =>
  first === undefined
    ? []
    : version.definition.steps.flatMap(({ active }, step) => (active ? [{ ...first, step }] : []))

export interface Knowing {
  readonly event: NumberedEvent
  readonly triggered: TriggeredEvent
  readonly people: People
  /** What was found before the people were. */
  readonly forAll: Facts | undefined
  readonly showsSecrets: boolean
  newId(): string
}

/** Callers who may not unsubscribe others see links of the same form that unsubscribe no one. */
const placeholderKeys = new SigningKeys([{ version: 1, secret: 'placeholder', createdAt: new Date(0) }])
const placeholderSecrets: SigningSecrets = { of: async () => placeholderKeys, renewed: async () => placeholderKeys }

/** What all steps of all recipients need. */
export async function loadKnown(
  sources: FactSources & LinkSources,
  environment: Environment,
  { event, triggered, people, forAll, showsSecrets, newId }: Knowing,
  jobs: readonly Job[],
): Promise<Known> {
  const each = eachStep(jobs, event)
  const facts =
    forAll === undefined
      ? await loadForEach(sources, environment, { event, people, each }, jobs)
      : { ...forAll, events: new Map([[triggered.id, triggered]]), subscribers: people.rows }
  const channels = await withBrought(sources.db, sources.world.sealer, environment, facts.channels, {
    brought: people.channels,
    integrations: facts.integrations,
    newId,
  })
  const signing = showsSecrets ? sources : { ...sources, signingSecrets: placeholderSecrets }
  const links = await unsubscribeLinks(signing, environment, each, facts.versions, false)
  const contexts = withMentions(facts.contexts, event.request)
  return { facts: { ...facts, channels, contexts }, links }
}

function loadForEach(
  sources: FactSources,
  environment: Environment,
  { event, people, each }: { event: NumberedEvent; people: People; each: readonly Job[] },
  jobs: readonly Job[],
): Promise<Facts> {
  const step = entriesAt(event.version.definition.steps)
  const asked = [...jobs.map((job) => (step === -1 ? job : { ...job, step })), ...each]
  return loadFacts(sources, environment, asked, { subscribers: people.rows, tenants: tenantsOf(event) })
}

const tenantsOf = ({ tenant, request }: NumberedEvent): Map<string, Tenant> =>
  new Map(tenant === undefined ? [] : [[tenant._id, mentioned(tenant, request)]])

/** A mention with a name or data changes the tenant. */
function mentioned(tenant: Tenant, { tenant: mention }: EventRequest): Tenant {
  const { name, data } = mention ?? {}
  return { ...tenant, ...(name === undefined ? {} : { name }), ...(data === undefined ? {} : { data }) }
}

/** One that exists is not changed by a mention. */
function withMentions(stored: ReadonlyMap<string, ContextRow>, request: EventRequest): Map<string, ContextRow> {
  const found = new Map(stored)
  for (const mention of mentionedContexts(request)) if (!found.has(mention.key)) found.set(mention.key, mention)
  return found
}

/** As they would be, if they are new. */
export const mentionedContexts = ({ context }: EventRequest): ContextRow[] =>
  context.map((mention) => ({
    key: contextKeyOf(mention),
    type: mention.type,
    id: mention.id,
    data: mention.data === undefined ? null : { ...mention.data },
  }))
