// Checks each event separately: what prevents it from running, in the order of the response.

import type { Sql } from '../db/sql.ts'
import { BoundedMap } from '../domain/bounded-map.ts'
import type { EventRequest, TriggerResult, TriggerStatus } from '../domain/delivery/event.ts'
import { workflowNotFound } from '../domain/delivery/event.ts'
import type { Environment } from '../domain/environment.ts'
import { fastFlatMap } from '../domain/fast-flat-map.ts'
import { nearMiss } from '../domain/nearest.ts'
import type { Tenant } from '../domain/people/tenant.ts'
import type { Problem } from '../domain/problem.ts'
import { Turn } from '../domain/turn.ts'
import type { Severity, TemplateVariable, WorkflowVersion } from '../domain/workflows/workflow.ts'
import { activeStepFrom, severities } from '../domain/workflows/workflow.ts'
import { isTooBusy } from '../render/payload/payload-schema.ts'
import type { CheckedPayload, CompileSchema, KnownSchema, SchemaElsewhere } from '../render/payload/schema-elsewhere.ts'
import { compileSchema } from '../render/payload/schema-elsewhere.ts'
import { findEventIds } from '../store/events/events.ts'
import { findTenants } from '../store/people/tenants.ts'
import type { TriggeredWorkflow } from '../store/workflows/workflows.ts'
import { findVersions, findWorkflowsByIdentifier, listIdentifiers } from '../store/workflows/workflows.ts'
import { CheckClock } from './check-clock.ts'
import { declaredVariables, variableMistakes, withDefaults } from './declared-variables.ts'

/** An event as the caller gave it: well-formed, or what is wrong with its form. */
export type GivenEvent =
  | { readonly request: EventRequest; readonly warnings: readonly string[] }
  | { readonly mistakes: readonly string[]; readonly transactionId?: string }

/** An event that will run. */
export interface Runnable {
  readonly request: EventRequest
  readonly warnings: readonly string[]
  readonly version: WorkflowVersion
  readonly firstStep: number
  /** With the schema's and the templates' defaults. */
  readonly payload: Readonly<Record<string, unknown>>
  readonly severity: Severity
  readonly tenant: Tenant | undefined
}

/** `isRepeat`: its transaction id was used before. `problem`: what the machine was too busy for; it may be sent again. */
export type Judged =
  | { readonly result: TriggerResult; readonly isRepeat?: true; readonly problem?: Problem }
  | { readonly runnable: Runnable }

/** A version with what is worked out of it once. */
interface CheckedVersion {
  readonly version: WorkflowVersion
  readonly schema: KnownSchema | undefined
  readonly variables: readonly TemplateVariable[]
  /**
   * When it is compiled again, by the clock of the process: a compilation that took too long may have been bad luck.
   */
  readonly againAtMs: number
}

/** What is known about versions, cached between requests: they never change. */
export interface CheckedVersions {
  readonly cached: BoundedMap<string, CheckedVersion>
  /** Versions that are being compiled: calls that need one at the same time wait for it together. */
  readonly compiling: Map<string, Promise<CheckedVersion>>
  readonly compile: CompileSchema
  nowMs(): number
}

/** A schema that took too long is tried again no sooner: each attempt takes seconds. */
const againAfterMs = 60_000
/** One that others kept from being compiled: its payloads are put off meanwhile. */
const againAfterBusyMs = 10_000
/** More than are triggered at one time almost anywhere. */
const versionsKeptMax = 2_000

export const createCheckedVersions = (
  cachedMax = versionsKeptMax,
  { compile = compileSchema(() => undefined), nowMs = () => performance.now() }: Partial<CheckedVersions> = {},
): CheckedVersions => ({ cached: new BoundedMap(cachedMax), compiling: new Map(), compile, nowMs })

/** Why an event has no valid recipient. */
const reasonsMax = 10

/** A workflow that is only tried: it stands in for the one that events name. */
export interface TriedWorkflow {
  readonly active: boolean
  readonly version: WorkflowVersion
}

/** Reads all that is needed. What it returns judges without the database: that may take a while, and holds no connection. */
export async function readForJudging(
  db: Sql,
  environment: Environment,
  known: CheckedVersions,
  events: readonly GivenEvent[],
  tried?: TriedWorkflow,
): Promise<() => Promise<Judged[]>> {
  const requests = fastFlatMap(events, (event) => ('request' in event ? [event.request] : []))
  const names = tried === undefined ? [...new Set(requests.map((request) => request.name))] : []
  const tenantNames = [...new Set(fastFlatMap(requests, (request) => request.tenant?.identifier ?? []))]
  const transactionIds = [...new Set(fastFlatMap(requests, (request) => request.transactionId ?? []))]
  const [workflows, tenants, accepted] = await Promise.all([
    names.length === 0 ? [] : findWorkflowsByIdentifier(db, environment, names),
    findTenants(db, environment, { identifiers: tenantNames }),
    transactionIds.length === 0 ? new Map<string, string>() : findEventIds(db, environment, transactionIds),
  ])
  const { versions, unknown } = await readVersions(db, environment, known, workflows)
  const facts: JudgingFacts = {
    versions,
    workflows: new Map(
      tried === undefined
        ? workflows.map((workflow) => [workflow.identifier, workflow])
        : requests.map(({ name }) => [name, triggeredOf(tried)]),
    ),
    tenants: new Map(tenants.map((tenant) => [tenant.identifier, tenant])),
    accepted,
    identifiers: workflows.length < names.length ? await listIdentifiers(db, environment) : [],
    clock: new CheckClock(),
    elsewhere: new Map(),
  }
  return async () => {
    await learn(unknown, known, versions)
    if (tried !== undefined) versions.set(tried.version.id, await judgedVersion(tried.version, known))
    return judgeAll(events, facts)
  }
}

async function judgeAll(events: readonly GivenEvent[], facts: JudgingFacts): Promise<Judged[]> {
  const judged: Judged[] = []
  const turn = new Turn()
  let turnsLeft = busyTurnsMax
  let begun = 0
  for (const [at, event] of events.entries()) {
    // The next group is begun when this one is judged.
    for (; begun < events.length && (begun <= at || begun % checksAheadMax > 0); begun += 1) {
      beginCheckElsewhere(events[begun], facts)
      if (turn.isOver()) await turn.next()
    }
    const elsewhere = await facts.elsewhere.get(event)
    let one = judgedAtOnce(event, facts, elsewhere)
    // What a thread said stays as it is.
    for (; elsewhere === undefined && isPutOff(one) && turnsLeft > 0; turnsLeft -= 1) {
      await facts.clock.nextTurn()
      one = judgedAtOnce(event, facts, elsewhere)
    }
    judged.push(one)
    // A payload that takes long to check or to copy is one of many: others get their turn before the next.
    if (facts.clock.isOver()) await facts.clock.nextTurn()
    if (turn.isOver()) await turn.next()
  }
  return judged
}

/**
 * Payloads of one call that threads check at one time: small ones cost a thread little more together than one does, and of large ones
 * no one else waits for more.
 */
const checksAheadMax = 20

/**
 * For payloads that the machine was too busy to judge: in the next turn they may have the processor for long enough. Of all
 * events together, since others of the environment wait for them.
 */
const busyTurnsMax = 3

const isPutOff = (judged: Judged): boolean => 'result' in judged && judged.problem !== undefined

/** What could not be judged concerns this event alone. */
function judgedAtOnce(event: GivenEvent, facts: JudgingFacts, elsewhere: CheckedElsewhere | undefined): Judged {
  try {
    return judge(event, facts, elsewhere)
  } catch (error) {
    if (!isTooBusy(error)) throw error
    const transactionId = 'request' in event ? event.request.transactionId : undefined
    return { result: errorResult([error.message], transactionId), problem: error }
  }
}

/** Everything that these workflows need, whatever is cached beyond this request. */
async function readVersions(
  db: Sql,
  environment: Environment,
  { cached, nowMs }: CheckedVersions,
  workflows: readonly TriggeredWorkflow[],
): Promise<{ versions: Map<string, CheckedVersion>; unknown: readonly WorkflowVersion[] }> {
  const versions = new Map<string, CheckedVersion>()
  const missing: string[] = []
  for (const { versionId } of workflows) {
    const judged = cached.get(versionId)
    if (judged === undefined || judged.againAtMs <= nowMs()) missing.push(versionId)
    else versions.set(versionId, judged)
  }
  return { versions, unknown: missing.length === 0 ? [] : await findVersions(db, environment, missing) }
}

async function learn(
  unknown: readonly WorkflowVersion[],
  known: CheckedVersions,
  versions: Map<string, CheckedVersion>,
): Promise<void> {
  const turn = new Turn()
  for (const version of unknown) {
    if (turn.isOver()) await turn.next()
    const judged = await compiledOnce(version, known)
    versions.set(version.id, judged)
    known.cached.set(version.id, judged)
  }
}

/** Compiling takes several turns: calls that need the version in the meantime wait for the same compilation. */
async function compiledOnce(version: WorkflowVersion, known: CheckedVersions): Promise<CheckedVersion> {
  const begun = known.compiling.get(version.id)
  if (begun !== undefined) return begun
  const judging = judgedVersion(version, known)
  known.compiling.set(version.id, judging)
  try {
    return await judging
  } finally {
    known.compiling.delete(version.id)
  }
}

async function judgedVersion(
  version: WorkflowVersion,
  { compile, nowMs }: Pick<CheckedVersions, 'compile' | 'nowMs'>,
): Promise<CheckedVersion> {
  const { payloadSchema, validatePayload } = version.definition
  const schema = validatePayload === false || !payloadSchema ? undefined : await compile(payloadSchema)
  const isOutOfTime = schema?.ok === false && schema.isOutOfTime === true
  const isStarved = schema?.ok === false && schema.isStarved === true
  const afterMs = isStarved ? againAfterBusyMs : isOutOfTime ? againAfterMs : Number.POSITIVE_INFINITY
  return { version, schema, variables: declaredVariables(version.definition), againAtMs: nowMs() + afterMs }
}

const triggeredOf = ({ active, version }: TriedWorkflow): TriggeredWorkflow => ({
  id: version.workflowId,
  identifier: version.identifier,
  active,
  versionId: version.id,
})

interface JudgingFacts {
  readonly versions: ReadonlyMap<string, CheckedVersion>
  readonly workflows: ReadonlyMap<string, TriggeredWorkflow>
  readonly tenants: ReadonlyMap<string, Tenant>
  /** The transaction ids among the given ones that were used before. */
  readonly accepted: ReadonlyMap<string, string>
  /** What there is to trigger, where something else was triggered. */
  readonly identifiers: readonly string[]
  readonly clock: CheckClock
  /** Of the payloads that have to be checked in other threads. */
  readonly elsewhere: Map<GivenEvent, Promise<CheckedElsewhere>>
}

/** Throws what was thrown there: only now someone waits for it. */
type CheckedElsewhere = () => CheckedPayload

/** Undefined where the payload is checked in this thread, or not at all. */
function elsewhereCheckOf(event: GivenEvent, facts: JudgingFacts): ElsewhereCheck | undefined {
  if (!('request' in event)) return undefined
  const { name, transactionId, payload } = event.request
  if (transactionId !== undefined && facts.accepted.has(transactionId)) return undefined
  const judged = facts.versions.get(facts.workflows.get(name)?.versionId ?? '')
  if (judged?.schema === undefined || !('checkElsewhere' in judged.schema)) return undefined
  return { schema: judged.schema, payload: withDefaults(payload, judged.variables) }
}

interface ElsewhereCheck {
  readonly schema: SchemaElsewhere
  /** With the templates' defaults. */
  readonly payload: Readonly<Record<string, unknown>>
}

function beginCheckElsewhere(event: GivenEvent | undefined, facts: JudgingFacts): void {
  const check = event && elsewhereCheckOf(event, facts)
  if (check === undefined || event === undefined) return
  const checking = check.schema.checkElsewhere(check.payload).then(
    (checked) => () => checked,
    (error) => () => {
      throw error
    },
  )
  facts.elsewhere.set(event, checking)
}

function judge(event: GivenEvent, facts: JudgingFacts, elsewhere: CheckedElsewhere | undefined): Judged {
  const { versions, workflows, tenants, accepted, identifiers, clock } = facts
  if (!('request' in event)) return { result: errorResult(event.mistakes, event.transactionId) }
  const { request, warnings } = event
  // Whatever happened to the workflow since: the response is the one of the first time.
  if (request.transactionId !== undefined && accepted.has(request.transactionId)) {
    return { result: plainResult('processed', request.transactionId), isRepeat: true }
  }
  const workflow = workflows.get(request.name)
  const judged = workflow && versions.get(workflow.versionId)
  if (workflow === undefined || judged === undefined) {
    return {
      result: errorResult([workflowNotFound, notFoundWords(request.name, identifiers)], request.transactionId),
    }
  }
  const { version } = judged
  const { payload, mistakes } = judgePayload(request.payload, judged, clock, elsewhere)
  if (mistakes.length > 0) return { result: errorResult(mistakes, request.transactionId) }
  const tenant = request.tenant && tenants.get(request.tenant.identifier)
  const { steps } = version.definition
  const firstStep = activeStepFrom(steps, 0)
  const refusal: TriggerStatus | undefined =
    request.tenant !== undefined && tenant === undefined
      ? 'no_tenant_found'
      : !workflow.active && request.test === undefined
        ? 'trigger_not_active'
        : steps.length === 0
          ? 'no_workflow_steps_defined'
          : firstStep === undefined
            ? 'no_workflow_active_steps_defined'
            : request.recipients.length + request.topics.length === 0 && !request.isBroadcast
              ? 'invalid_recipients'
              : undefined
  if (refusal !== undefined || firstStep === undefined) {
    const result = plainResult(refusal ?? 'no_workflow_active_steps_defined', request.transactionId)
    const reasons = refusal === 'invalid_recipients' ? warnings.slice(0, reasonsMax) : []
    return { result: reasons.length === 0 ? result : { ...result, error: reasons } }
  }
  const severity = severityOf(request.overrides) ?? version.definition.severity
  return { runnable: { request, warnings, version, firstStep, payload, severity, tenant } }
}

function notFoundWords(name: string, identifiers: readonly string[]): string {
  const meant = nearMiss(name, identifiers)
  return `there is no workflow ${name} in this environment${meant === undefined ? '' : `; did you mean ${meant}?`}`
}

function errorResult(mistakes: readonly string[], transactionId: string | undefined): TriggerResult {
  return { ...plainResult('error', transactionId), error: mistakes }
}

function plainResult(status: TriggerStatus, transactionId: string | undefined): TriggerResult {
  return { acknowledged: true, status, ...(transactionId === undefined ? {} : { transactionId }) }
}

function severityOf(overrides: Readonly<Record<string, unknown>>): Severity | undefined {
  const requested = Object.hasOwn(overrides, 'severity') ? overrides['severity'] : undefined
  return severities.find((severity) => severity === requested)
}

/** With its defaults, and its errors after that. A copy where a schema is checked here: the defaults are written into it. */
function judgePayload(
  given: Readonly<Record<string, unknown>>,
  { schema, variables }: CheckedVersion,
  clock: CheckClock,
  elsewhere: CheckedElsewhere | undefined,
): { payload: Readonly<Record<string, unknown>>; mistakes: string[] } {
  const { payload, unfit } = elsewhere?.() ?? checkedHere(withDefaults(given, variables), schema, clock)
  return { payload, mistakes: [...new Set([...variableMistakes(payload, variables), ...unfit])] }
}

function checkedHere(
  filled: Readonly<Record<string, unknown>>,
  schema: KnownSchema | undefined,
  clock: CheckClock,
): CheckedPayload {
  if (schema === undefined) return { payload: filled, unfit: [] }
  // A payload is either checked or rejected.
  if ('checkElsewhere' in schema) throw new Error('A payload that is to be checked in another thread was not')
  const payload = structuredClone(filled)
  return { payload, unfit: clock.check(schema, payload) }
}
