// The variables of templates in a preview: what the caller gives, completed with sample values.
import type { TemplateScope } from '../../domain/workflows/rendering.ts'
import { filledUp, sampleOfSchema, sampleOfVariables } from '../../domain/workflows/sample-payload.ts'
import type { Translations } from '../../domain/workflows/translation.ts'
import { translations as translationsKey } from '../../domain/workflows/translation.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import { variablesOf } from '../../render/variables.ts'
import type { StoredDefinition, WorkflowRow } from '../../store/workflows/workflows.ts'

type JsonObject = Readonly<Record<string, unknown>>

export interface PreviewPayload {
  readonly payload?: JsonObject | null
  readonly subscriber?: JsonObject | null
  readonly actor?: JsonObject | null
  readonly tenant?: JsonObject | null
  readonly context?: JsonObject | null
  readonly steps?: JsonObject | null
}

export interface PreviewSample {
  readonly payload: JsonObject
  readonly subscriber: JsonObject
  readonly actor?: JsonObject
  readonly tenant?: JsonObject
  readonly context?: JsonObject
  readonly steps: JsonObject
}

export const sampleSubscriber = {
  subscriberId: 'ada',
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.com',
  phone: '+15551234567',
  avatar: 'https://example.com/ada.png',
  locale: 'en',
  timezone: 'UTC',
  data: {},
}
/** Enough to see that a digest lists several. */
const eventsShown = 3

/** A payload made up for these steps: by the workflow's schema, or by the names that templates use. */
export function samplePayloadOf(
  { payloadSchema, variables }: Pick<StoredDefinition, 'payloadSchema' | 'variables'>,
  steps: readonly NotificationStep[],
): JsonObject {
  if (payloadSchema !== undefined) return sampleOfSchema(payloadSchema)
  const named = variablesOf(
    steps.map(({ template }) => template),
    [],
  ).variables
  return sampleOfVariables([...new Set([...variables, ...named])])
}

/** `person`: a stored subscriber, for whom no sample values are used. */
export function sampleOf(
  { definition }: WorkflowRow,
  step: NotificationStep,
  given: PreviewPayload,
  person?: JsonObject,
): PreviewSample {
  const payload = filledUp(given.payload ?? undefined, samplePayloadOf(definition, [step])) as JsonObject
  const { _id, uuid } = step
  const place = definition.steps.findIndex((one) => one._id === _id || one.uuid === uuid)
  const digests = definition.steps.slice(0, Math.max(place, 0)).filter((one) => one.template.type === 'digest')
  const events = Array.from({ length: eventsShown }, () => ({ payload }))
  const steps = Object.fromEntries(digests.map((one) => [one.uuid, { eventCount: events.length, events }]))
  return {
    payload,
    subscriber: person ?? (filledUp(given.subscriber ?? undefined, sampleSubscriber) as JsonObject),
    ...(given.actor ? { actor: filledUp(given.actor, sampleSubscriber) as JsonObject } : {}),
    ...(given.tenant ? { tenant: given.tenant } : {}),
    ...(given.context ? { context: given.context } : {}),
    steps: filledUp(given.steps ?? undefined, steps) as JsonObject,
  }
}

export function scopeOfSample(
  { identifier, definition }: WorkflowRow,
  { payload, subscriber, actor, tenant, context, steps }: PreviewSample,
  translations: Translations | undefined,
): TemplateScope {
  const [digest] = Object.values(steps).flatMap((one) => eventsIn(one) ?? [])
  const scope: Record<string, unknown> & TemplateScope = {
    ...(translations === undefined ? {} : { [translationsKey]: translations }),
    payload,
    subscriber,
    actor,
    tenant,
    context: Object.fromEntries(Object.entries(context ?? {}).map(contextOf)),
    step: { digest: digest !== undefined, events: digest ?? [payload], total_count: digest?.length ?? 1 },
    workflow: { identifier, name: definition.name, tags: definition.tags, data: definition.data ?? {} },
    steps,
  }
  for (const name of Object.keys(payload)) {
    if (!Object.hasOwn(scope, name) && name !== '__proto__') scope[name] = payload[name]
  }
  return scope
}

/** The payloads of a digest's events, which may be given as they are or each in an event; as a list of one list. */
function eventsIn(step: unknown): JsonObject[][] | undefined {
  const events = (step as { events?: unknown } | null)?.events
  if (!Array.isArray(events)) return undefined
  return [events.map((event) => (event as { payload?: JsonObject } | null)?.payload ?? (event as JsonObject))]
}

/** An id alone, or with its data; anything else is ignored, as no context can have it. */
function contextOf([type, given]: [string, unknown]): [string, { id: string; data: JsonObject }] {
  const { id, data } = isObject(given) ? given : { id: given, data: undefined }
  return [type, { id: typeof id === 'string' ? id : '', data: isObject(data) ? data : {} }]
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
