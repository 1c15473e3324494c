// What an event would do, without doing it: checked like a trigger, and each recipient's run followed to its end in
// virtual time by the worker's own code. Nothing is written, no provider and no service is called.
import { numberEvents } from '../accept/accept-events.ts'
import type { CheckedVersions, GivenEvent, Judged, TriedWorkflow } from '../accept/judge-events.ts'
import { createCheckedVersions, readForJudging } from '../accept/judge-events.ts'
import { triggeredEvent } from '../accept/pre-leased.ts'
import { rowOf } from '../accept/write-events.ts'
import type { Clock } from '../db/clock.ts'
import type { Db, Sql } from '../db/sql.ts'
import type { EventRequest, Recipient, TriggeredEvent, TriggerResult } from '../domain/delivery/event.ts'
import { recipientsAtOnceMax } from '../domain/delivery/event.ts'
import type { Credentials } from '../domain/delivery/integration.ts'
import type { Environment } from '../domain/environment.ts'
import type { SimulatedRecipient, Simulation } from '../domain/insight/simulation.ts'
import type { Topic } from '../domain/people/topic.ts'
import { invalid } from '../domain/problem.ts'
import { timestampParameter } from '../domain/time/timestamp-parameter.ts'
import { createIdSource, createRandomSource } from '../domain/uuid-v7.ts'
import type { Renderer } from '../domain/workflows/rendering.ts'
import type { WorkflowVersion } from '../domain/workflows/workflow.ts'
import type { WorkflowChange } from '../manage/workflows/workflow-definition.ts'
import { compileSchema } from '../render/payload/schema-elsewhere.ts'
import { createRenderer } from '../render/renderer.ts'
import type { Facts } from '../run/decide/load-facts.ts'
import type { Deciding } from '../run/deciding.ts'
import { createDeciding } from '../run/deciding.ts'
import { findTopics } from '../store/people/topics.ts'
import type { World } from '../world/world.ts'
import type { Audience, Member } from './audience.ts'
import { findAudience } from './audience.ts'
import { contentLengthMax } from './content-budget.ts'
import type { RunContext } from './describe-run.ts'
import { describeRun, shownIntegration } from './describe-run.ts'
import type { Assumptions } from './follow.ts'
import { followRuns } from './follow.ts'
import type { NumberedEvent } from './known.ts'
import { jobsOf, loadForAll, loadKnown } from './known.ts'
import type { People } from './people.ts'
import { findPeople } from './people.ts'
import { beginRun } from './run.ts'
import { tryWorkflow } from './try-workflow.ts'
import { createTurns } from './turns.ts'

export interface SimulateCall {
  readonly event: GivenEvent
  /** ISO 8601; the actual time unless given. */
  readonly at?: string | undefined
  /** A workflow that is not saved, in place of the one that the event names. */
  readonly workflow?: (WorkflowChange & { name: string }) | undefined
  readonly assume?:
    | { readonly webhookConditions?: boolean; readonly customResult?: Record<string, unknown> }
    | undefined
  /** How many recipients are shown. */
  readonly limit?: number | undefined
  /** Whether the caller may see device tokens, webhooks and links that unsubscribe; true unless given. */
  readonly showsSecrets?: boolean | undefined
}

export interface Simulator {
  simulate(environment: Environment, call: SimulateCall): Promise<Simulation>
}

/** A page of people; the rest are counted. */
export const recipientsShownMax = 100
/** Steps of all recipients together: rendering one may take a tenth of a second, and is some tenths of a millisecond. */
const stepsFollowedMax = 2_000

interface Wired {
  readonly deciding: Deciding
  readonly judged: CheckedVersions
  /** What templates see as now: set before anything is rendered, and nothing is awaited in between. */
  readonly clock: { at: Date }
  readonly queueClock: Clock
  /** Drawn in blocks, of which a call needs a little. */
  readonly random: (bytes: number) => Buffer
}

export interface SimulatorParts {
  readonly db: Db
  readonly world: World
  readonly queueClock: Clock
  readonly operatorMail?: Credentials | undefined
  readonly linkBase?: string | undefined
}

/** What is cached between requests; no worker is needed. */
export function createSimulator({ db, world, queueClock, operatorMail, linkBase }: SimulatorParts): Simulator {
  const clock = { at: world.now() }
  const deciding = createDeciding({ db, world, renderer: rendererOf(clock), operatorMail, linkBase })
  const judged = createCheckedVersions(undefined, { compile: compileSchema(() => world.threads) })
  const wired: Wired = { deciding, judged, clock, queueClock, random: createRandomSource() }
  return { simulate: (environment, call) => simulate(wired, environment, call) }
}

const rendererOf = (clock: { at: Date }): Renderer => createRenderer(() => clock.at)

async function simulate(wired: Wired, environment: Environment, call: SimulateCall): Promise<Simulation> {
  const { db, world } = wired.deciding
  const at = call.at === undefined ? world.now() : timestampParameter('at', call.at)
  // Its own: ids of a future time must not be given to anything else.
  const ids = createIdSource(wired.random)
  const newId = () => ids(at)
  const tried = call.workflow && (await tryWorkflow(db, world.threads, environment, call.workflow, newId))
  const { event } = call
  const request = 'request' in event ? event.request : undefined
  const [judge, people, topics] = await db.together((on) =>
    Promise.all([
      readForJudging(on, environment, wired.judged, [event], tried),
      findPeople(on, environment, request === undefined ? [] : peopleIn(request), { now: at, newId }),
      findTopics(on, environment, topicKeys(request)),
    ]),
  )
  const [judged = { result: failure(event) }] = await judge()
  const begun = await db.together((on) => begin(wired, on, environment, { judged, at, ids, tried }))
  const answer = { at: at.toISOString(), assumptions: [], ...noRecipients }
  if ('result' in begun) return { ...answer, ...refusedOr(begun.result, event) }
  return { ...answer, ...(await follow(wired, environment, { call, at, ids, begun, tried, people, topics })) }
}

/** An event that would run, with what can be known before its recipients are. */
interface Begun {
  readonly event: NumberedEvent
  readonly deciding: Deciding
  readonly forAll: Facts | undefined
}

async function begin(
  { deciding, clock }: Wired,
  on: Sql,
  environment: Environment,
  { judged, at, ids, tried }: { judged: Judged; at: Date; ids: (at: Date) => string; tried: TriedWorkflow | undefined },
): Promise<Begun | { readonly result: TriggerResult }> {
  if ('result' in judged) {
    if (judged.problem !== undefined) throw judged.problem
    return judged
  }
  const [event] = numberEvents({ now: () => at, newId: ids }, [judged]).runnable
  if (event === undefined) throw new Error('A runnable event has no id')
  const { version } = event
  // Rendered for a version that is not saved, nothing is worth keeping.
  const own: Deciding = {
    ...deciding,
    versions: { of: async () => new Map([[version.id, version]]) },
    ...(tried === undefined ? {} : { renderer: rendererOf(clock) }),
  }
  return { event, deciding: own, forAll: await loadForAll(own, on, environment, event, at) }
}

const noRecipients = {
  recipientCount: 0,
  recipientCountCapped: false,
  recipients: [],
  dropped: [],
  warnings: [],
} as const

const topicKeys = (request: EventRequest | undefined): string[] => [
  ...new Set((request?.topics ?? []).map((topic) => topic.topicKey)),
]

/** In the order in which accepting would write their changes. */
function peopleIn({ recipients, actor }: EventRequest): Recipient[] {
  const shown = recipients.slice(0, recipientsShownMax)
  const actors = actor === undefined ? [] : [actor]
  return recipients.length > recipientsAtOnceMax ? [...actors, ...shown] : [...shown, ...actors]
}

const failure = (event: GivenEvent): TriggerResult => ({
  acknowledged: true,
  status: 'error',
  error: 'mistakes' in event ? event.mistakes : [],
})

/**
 * As the trigger responds: an event that cannot run is a client error, and one that would not run is reported as such.
 */
function refusedOr({ acknowledged: _, ...result }: TriggerResult, event: GivenEvent) {
  if (result.status === 'error') {
    throw invalid({ event: { messages: [...(result.error ?? [])] } }, result.error?.join('; '))
  }
  const repeated = `The transactionId ${result.transactionId} was used before: the trigger would return processed, and nothing would run`
  const warnings = 'warnings' in event ? event.warnings : []
  return { ...result, warnings: result.status === 'processed' ? [...warnings, repeated] : warnings }
}

interface Parts {
  readonly call: SimulateCall
  readonly at: Date
  readonly ids: (at: Date) => string
  readonly begun: Begun
  readonly tried: TriedWorkflow | undefined
  readonly people: People
  readonly topics: readonly Topic[]
}

async function follow({ clock, queueClock }: Wired, environment: Environment, parts: Parts) {
  const { call, at, ids, begun, tried, people, topics } = parts
  const { event, deciding, forAll } = begun
  const { version, request } = event
  const { showsSecrets = true } = call
  const row = rowOf(event, { ids: people.ids, warnings: people.warnings }, topics, at)
  const triggered = triggeredEvent(row)
  const audience = await findAudienceOf(deciding.db, environment, parts, triggered)
  const jobs = jobsOf(
    environment,
    event,
    triggered,
    audience.shown.map(({ id }) => id),
  )
  const knowing = { event, triggered, people, forAll, showsSecrets, newId: () => ids(at) }
  const { facts, links } = await loadKnown(deciding, environment, knowing, jobs)
  const runs = jobs.map((job, index) => beginRun(audience.shown[index] as Member, job))
  const assumptions: Assumptions = {
    webhooksHold: call.assume?.webhookConditions ?? true,
    callResult: call.assume?.customResult ?? {},
  }
  const windows = { isSaved: tried === undefined, trueNow: deciding.world.now(), clock: queueClock, newId: ids }
  const turns = createTurns()
  const budget = { left: contentLengthMax }
  const following = { deciding, environment, facts, links, windows, assumptions, clock, budget, turns }
  await followRuns(following, runs, version.definition.steps.length)
  const integrations = new Map(facts.integrations.map((one) => [one._id, shownIntegration(one)]))
  const context: RunContext = { version, payload: event.payload, integrations, showsSecrets, last: new Map() }
  const recipients: SimulatedRecipient[] = []
  for (const run of runs) {
    const over = turns.over()
    if (over !== undefined) await over
    const timezone = facts.subscribers.get(run.member.id)?.timezone ?? null
    recipients.push(describeRun(context, run, { isNew: people.made.has(run.member.subscriberId), timezone }))
  }
  return {
    status: 'processed' as const,
    ...(request.transactionId === undefined ? {} : { transactionId: request.transactionId }),
    warnings: row.warnings,
    workflow: { identifier: version.identifier, name: version.definition.name, isSaved: tried === undefined },
    assumptions: assumptionTexts(version, assumptions),
    recipientCount: audience.count,
    recipientCountCapped: audience.countCapped,
    recipients,
    dropped: audience.dropped,
  }
}

function findAudienceOf(
  db: Db,
  environment: Environment,
  { call, at, begun, people, topics }: Parts,
  event: TriggeredEvent,
): Promise<Audience> {
  const { request, version } = begun.event
  const active = version.definition.steps.filter((step) => step.active).length
  const atMost = Math.max(1, Math.floor(stepsFollowedMax / active))
  const limit = Math.min(call.limit ?? recipientsShownMax, recipientsShownMax, atMost)
  const workflow = { id: version.workflowId, isCritical: version.definition.critical }
  const asked = { request, event, workflow, people, topics, limit, at }
  // Whom an event names needs no statement, and so no connection.
  return topics.length === 0
    ? findAudience(db, environment, asked)
    : db.together((on) => findAudience(on, environment, asked))
}

/** Only what bears on this workflow. */
function assumptionTexts({ definition: { steps } }: WorkflowVersion, { webhooksHold }: Assumptions): string[] {
  const text = JSON.stringify(steps)
  const types = new Set(steps.filter(({ active }) => active).map(({ template }) => template.type))
  const isSending = [...types].some((type) => ['email', 'sms', 'push', 'chat'].includes(type))
  return [
    ...(isSending ? ['Providers accept every message.'] : []),
    ...(types.has('custom') ? ['Services called by custom steps respond successfully.'] : []),
    ...(text.includes('"on":"webhook"')
      ? [`Comparisons with the responses of webhook conditions ${webhooksHold ? 'pass' : 'do not pass'}.`]
      : []),
    'Nothing else happens in the meantime: no other events, no messages are read, no preferences change.',
  ]
}
