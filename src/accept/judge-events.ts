// Judges each event on its own: what it lacks to run, in the order the caller is told.
import type { PayloadSchema } from '../commit/payload-schema.ts'
import { compilePayloadSchema } from '../commit/payload-schema.ts'
import type { Sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import type { EventRequest, TriggerResult, TriggerStatus } from '../domain/event.ts'
import type { Tenant } from '../domain/tenant.ts'
import type { Severity, WorkflowVersion } from '../domain/workflow.ts'
import { activeStepFrom, severities } from '../domain/workflow.ts'
import { findTenants } from '../store/tenants.ts'
import type { TriggeredWorkflow } from '../store/workflows.ts'
import { findVersions, findWorkflowsByIdentifier } from '../store/workflows.ts'

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

export type Judged = { readonly result: TriggerResult } | { readonly runnable: Runnable }

/** What is known of versions, kept between calls: they never change. */
export interface JudgedVersions {
  readonly versions: Map<string, WorkflowVersion>
  readonly schemas: Map<string, PayloadSchema>
}

const versionsMax = 2_000

export const createJudgedVersions = (): JudgedVersions => ({ versions: new Map(), schemas: new Map() })

export async function judgeEvents(
  db: Sql,
  environment: Environment,
  known: JudgedVersions,
  events: readonly GivenEvent[],
): Promise<Judged[]> {
  const requests = events.flatMap((event) => ('request' in event ? [event.request] : []))
  const names = [...new Set(requests.map((request) => request.name))]
  const tenantNames = [...new Set(requests.flatMap((request) => request.tenant?.identifier ?? []))]
  const [workflows, tenants] = await Promise.all([
    names.length === 0 ? [] : findWorkflowsByIdentifier(db, environment, names),
    findTenants(db, environment, { identifiers: tenantNames }),
  ])
  await learnVersions(db, environment, known, workflows)
  const facts = {
    known,
    workflows: new Map(workflows.map((workflow) => [workflow.identifier, workflow])),
    tenants: new Map(tenants.map((tenant) => [tenant.identifier, tenant])),
  }
  return events.map((event) => judge(event, facts))
}

async function learnVersions(
  db: Sql,
  environment: Environment,
  { versions, schemas }: JudgedVersions,
  workflows: readonly TriggeredWorkflow[],
): Promise<void> {
  const missing = workflows.map((workflow) => workflow.versionId).filter((id) => !versions.has(id))
  if (missing.length === 0) return
  if (versions.size + missing.length > versionsMax) {
    versions.clear()
    schemas.clear()
  }
  for (const version of await findVersions(db, environment, missing)) {
    versions.set(version.id, version)
    const { payloadSchema } = version.definition
    if (payloadSchema !== undefined) schemas.set(version.id, compilePayloadSchema(payloadSchema))
  }
}

interface JudgingFacts {
  readonly known: JudgedVersions
  readonly workflows: ReadonlyMap<string, TriggeredWorkflow>
  readonly tenants: ReadonlyMap<string, Tenant>
}

function judge(event: GivenEvent, { known, workflows, tenants }: JudgingFacts): Judged {
  if (!('request' in event)) return { result: errorResult(event.mistakes, event.transactionId) }
  const { request, warnings } = event
  const workflow = workflows.get(request.name)
  const version = workflow && known.versions.get(workflow.versionId)
  if (workflow === undefined || version === undefined) {
    return { result: errorResult(['workflow_not_found'], request.transactionId) }
  }
  const payload = payloadWithDefaults(request.payload, version)
  const mistakes = payloadMistakes(payload, version, known.schemas.get(version.id))
  if (mistakes.length > 0) return { result: errorResult(mistakes, request.transactionId) }
  const tenant = request.tenant && tenants.get(request.tenant.identifier)
  const { steps } = version.definition
  const firstStep = activeStepFrom(steps, 0)
  const refusal: TriggerStatus | undefined =
    request.tenant !== undefined && tenant === undefined
      ? 'no_tenant_found'
      : !workflow.active
        ? 'trigger_not_active'
        : steps.length === 0
          ? 'no_workflow_steps_defined'
          : firstStep === undefined
            ? 'no_workflow_active_steps_defined'
            : request.recipients.length + request.topics.length === 0
              ? 'invalid_recipients'
              : undefined
  if (refusal !== undefined || firstStep === undefined) {
    return { result: refusalResult(refusal ?? 'no_workflow_active_steps_defined', request.transactionId) }
  }
  const severity = severityOf(request.overrides) ?? version.definition.severity
  return { runnable: { request, warnings, version, firstStep, payload, severity, tenant } }
}

function errorResult(mistakes: readonly string[], transactionId: string | undefined): TriggerResult {
  return { ...refusalResult('error', transactionId), error: mistakes }
}

function refusalResult(status: TriggerStatus, transactionId: string | undefined): TriggerResult {
  return { acknowledged: true, status, ...(transactionId === undefined ? {} : { transactionId }) }
}

function severityOf(overrides: Readonly<Record<string, unknown>>): Severity | undefined {
  const wished = Object.hasOwn(overrides, 'severity') ? overrides['severity'] : undefined
  return severities.find((severity) => severity === wished)
}

/** Defaults that templates declare fill what the payload lacks. A copy: the schema's defaults are written into it as well. */
function payloadWithDefaults(
  payload: Readonly<Record<string, unknown>>,
  { definition }: WorkflowVersion,
): Record<string, unknown> {
  const defaults = definition.steps
    .flatMap((step) => step.template.variables ?? [])
    .filter((variable) => variable.defaultValue !== undefined && !Object.hasOwn(payload, variable.name))
    .map((variable) => [variable.name, variable.defaultValue])
  if (definition.payloadSchema !== undefined) return { ...Object.fromEntries(defaults), ...structuredClone(payload) }
  return defaults.length === 0 ? payload : { ...Object.fromEntries(defaults), ...payload }
}

function payloadMistakes(
  payload: Record<string, unknown>,
  { definition }: WorkflowVersion,
  schema: PayloadSchema | undefined,
): string[] {
  const missing = definition.steps
    .flatMap((step) => step.template.variables ?? [])
    .filter((variable) => variable.required === true && !Object.hasOwn(payload, variable.name))
    .map((variable) => `payload is missing ${variable.name} (${variable.type ?? 'String'})`)
  const unfit = schema?.ok === true ? schema.check(payload) : []
  return [...new Set([...missing, ...unfit])]
}
