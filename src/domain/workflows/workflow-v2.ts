// A workflow in the shape of API v2, out of the one model.
import type { IntegrationStatus } from '../delivery/integration.ts'
import { isChannel } from '../delivery/integration.ts'
import type { GivenPreferences, WholePreference } from '../preferences/workflow-preferences.ts'
import { preferencesOf } from '../preferences/workflow-preferences.ts'
import { slugFor } from './slug.ts'
import { controlsOf } from './step-controls.ts'
import type {
  NotificationStep,
  Severity,
  StepType,
  StepVariant,
  WorkflowDefinition,
  WorkflowOrigin,
} from './workflow.ts'

type JsonObject = Readonly<Record<string, unknown>>

export type OriginWord = 'platform-cloud' | 'platform-cloud-v1' | 'external'

const originWords: Readonly<Record<WorkflowOrigin, OriginWord>> = {
  v1: 'platform-cloud-v1',
  v2: 'platform-cloud',
  external: 'external',
}

/** What callers see about the origin of a workflow. */
export const originWord = (origin: WorkflowOrigin): OriginWord => originWords[origin]

/** What currently prevents a step from sending; nothing stored can never run. */
export interface StepIssues {
  readonly integration?: Readonly<
    Record<
      string,
      readonly { readonly issueType: 'MISSING_INTEGRATION'; readonly severity: 'warning'; readonly message: string }[]
    >
  >
}

export interface StepV2 {
  readonly _id: string
  readonly stepId: string
  readonly name: string
  readonly slug: string
  readonly type: StepType
  readonly origin: OriginWord
  readonly workflowId: string
  readonly workflowDatabaseId: string
  readonly controlValues: JsonObject
  readonly controls: { readonly values: JsonObject }
  /** A JSON schema of the variables of its templates. */
  readonly variables: JsonObject
  readonly issues?: StepIssues
  /** What only API v1 can express; shown where it is set. */
  readonly active?: boolean
  readonly shouldStopOnFail?: boolean
  readonly filters?: StepVariant['filters']
  readonly variants?: readonly StepVariant[]
  readonly replyCallback?: StepVariant['replyCallback']
}

export interface WorkflowV2 {
  readonly _id: string
  readonly workflowId: string
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly active: boolean
  readonly status: 'ACTIVE' | 'INACTIVE'
  readonly origin: OriginWord
  readonly severity: Severity
  readonly preferences: { readonly user: WholePreference | null; readonly default: WholePreference }
  readonly payloadSchema?: JsonObject
  readonly validatePayload: boolean
  readonly isTranslationEnabled: boolean
  readonly issues: JsonObject
  readonly steps: readonly StepV2[]
  readonly lastTriggeredAt: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

export interface ListedWorkflowV2
  extends Pick<
    WorkflowV2,
    | '_id'
    | 'workflowId'
    | 'slug'
    | 'name'
    | 'tags'
    | 'status'
    | 'origin'
    | 'isTranslationEnabled'
    | 'lastTriggeredAt'
    | 'createdAt'
    | 'updatedAt'
  > {
  readonly stepTypeOverviews: readonly StepType[]
  readonly steps: readonly { readonly slug: string; readonly type: StepType; readonly issues?: StepIssues }[]
}

/** What is stored of it. */
export interface StoredWorkflow {
  readonly id: string
  readonly identifier: string
  readonly active: boolean
  readonly origin: WorkflowOrigin
  readonly definition: WorkflowDefinition & {
    readonly variables: readonly string[]
    readonly preferences?: GivenPreferences
  }
  readonly created_at: Date
  readonly updated_at: Date
  readonly triggered_at?: Date | null
}

export function workflowV2Of(row: StoredWorkflow, integrationStatuses: readonly IntegrationStatus[]): WorkflowV2 {
  const { definition } = row
  return {
    ...headOf(row),
    description: definition.description,
    active: row.active,
    severity: definition.severity,
    preferences: preferencesOf(definition, definition.preferences),
    ...(definition.payloadSchema === undefined ? {} : { payloadSchema: definition.payloadSchema }),
    validatePayload: definition.validatePayload ?? true,
    issues: {},
    steps: stepsV2Of(row, integrationStatuses),
  }
}

export function stepsV2Of(row: StoredWorkflow, integrationStatuses: readonly IntegrationStatus[]): StepV2[] {
  return row.definition.steps.map((step, place) => stepV2Of(row, step, place, integrationStatuses))
}

export function listedV2Of(row: StoredWorkflow, integrationStatuses: readonly IntegrationStatus[]): ListedWorkflowV2 {
  const { steps } = row.definition
  return {
    ...headOf(row),
    stepTypeOverviews: steps.map((step) => step.template.type),
    steps: steps.map((step) => ({
      slug: slugFor('st', nameOf(step), step._id),
      type: step.template.type,
      ...issuesOf(step, integrationStatuses),
    })),
  }
}

function headOf(row: StoredWorkflow) {
  const { name, tags, isTranslationEnabled = false } = row.definition
  return {
    _id: row.id,
    workflowId: row.identifier,
    slug: slugFor('wf', name, row.id),
    name,
    tags,
    status: row.active ? ('ACTIVE' as const) : ('INACTIVE' as const),
    origin: originWord(row.origin),
    isTranslationEnabled,
    lastTriggeredAt: row.triggered_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

/** API v2 wants a name; a step of API v1 may have none. */
const nameOf = ({ name, uuid }: StepVariant): string => name ?? uuid

function stepV2Of(
  row: StoredWorkflow,
  step: NotificationStep,
  place: number,
  integrationStatuses: readonly IntegrationStatus[],
): StepV2 {
  const controlValues = controlsOf(step)
  return {
    _id: step._id,
    stepId: step.uuid,
    name: nameOf(step),
    slug: slugFor('st', nameOf(step), step._id),
    type: step.template.type,
    origin: originWord(row.origin),
    workflowId: row.identifier,
    workflowDatabaseId: row.id,
    controlValues,
    controls: { values: controlValues },
    variables: variablesOf(row.definition, place),
    ...issuesOf(step, integrationStatuses),
    ...(step.active ? {} : { active: false }),
    ...(step.shouldStopOnFail ? { shouldStopOnFail: true } : {}),
    ...(step.filters.length === 0 ? {} : { filters: step.filters }),
    ...(step.variants.length === 0 ? {} : { variants: step.variants }),
    ...(step.replyCallback === undefined ? {} : { replyCallback: step.replyCallback }),
  }
}

function issuesOf(
  { template: { type } }: NotificationStep,
  integrationStatuses: readonly IntegrationStatus[],
): { issues?: StepIssues } {
  if (!isChannel(type) || integrationStatuses.some((one) => one.channel === type && one.active)) return {}
  const message = `There is no active integration for ${type}, so this step cannot send`
  return { issues: { integration: { [type]: [{ issueType: 'MISSING_INTEGRATION', severity: 'warning', message }] } } }
}

const texts = (names: readonly string[]): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})
const anything = { type: 'object', additionalProperties: true }
const person = {
  type: 'object',
  properties: {
    ...(texts(['subscriberId', 'firstName', 'lastName', 'email', 'phone', 'avatar', 'locale', 'timezone'])[
      'properties'
    ] as JsonObject),
    data: anything,
  },
}

function variablesOf(definition: StoredWorkflow['definition'], place: number): JsonObject {
  const before = definition.steps.slice(0, place)
  return {
    type: 'object',
    properties: {
      payload: definition.payloadSchema ?? {
        ...texts([...new Set(definition.variables.map((name) => name.split('.', 1)[0] ?? name))]),
        additionalProperties: true,
      },
      subscriber: person,
      actor: person,
      tenant: {
        type: 'object',
        properties: { identifier: { type: 'string' }, name: { type: 'string' }, data: anything },
      },
      context: anything,
      workflow: texts(['identifier', 'name']),
      step: {
        type: 'object',
        properties: {
          digest: { type: 'boolean' },
          events: { type: 'array', items: anything },
          total_count: { type: 'integer' },
        },
      },
      steps: { type: 'object', properties: Object.fromEntries(before.map((step) => [step.uuid, anything])) },
    },
  }
}
