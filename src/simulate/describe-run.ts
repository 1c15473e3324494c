// A simulated run as callers see it: each step with its outcome, in the words of why, and its content.
import { messageFor } from '../deliver/message-for.ts'
import type { Integration } from '../domain/delivery/integration.ts'
import type { JobStatus } from '../domain/delivery/job.ts'
import type { DetailCode, StoredDetail } from '../domain/insight/execution-detail.ts'
import type {
  SimulatedIntegration,
  SimulatedMessage,
  SimulatedOutcome,
  SimulatedRecipient,
  SimulatedStep,
} from '../domain/insight/simulation.ts'
import type { WhyStep } from '../domain/insight/why.ts'
import type { MessageDraft } from '../domain/messages/message.ts'
import { isoTextOf } from '../domain/time/iso-timestamp.ts'
import { callWithoutSecrets } from '../domain/workflows/shown-secrets.ts'
import type { NotificationStep, WorkflowVersion } from '../domain/workflows/workflow.ts'
import type { Data } from '../read/why/why-sentences.ts'
import { whyStepOf } from '../read/why/why-step.ts'
import type { NewMessage } from '../store/messages/insert.ts'
import type { BudgetedMessage } from './content-budget.ts'
import type { Run, StepRun, WindowSeen } from './run.ts'

export interface RunContext {
  readonly version: WorkflowVersion
  readonly payload: Readonly<Record<string, unknown>>
  /** By id. */
  readonly integrations: ReadonlyMap<string, SimulatedIntegration>
  /** Whether the caller may see what would allow sending. */
  readonly showsSecrets: boolean
  /** By the position of the step: what was last shown for it. */
  readonly last: Map<number, CachedWhy>
}

/** Most recipients have the same result, and what follows from the same facts is computed once. */
interface CachedWhy {
  readonly run: StepRun | undefined
  readonly before: readonly WhyStep[]
  readonly why: WhyStep
}

export function describeRun(
  context: RunContext,
  run: Run,
  about: { isNew: boolean; timezone: string | null },
): SimulatedRecipient {
  const before: WhyStep[] = []
  const steps = context.version.definition.steps.map((step, place) => {
    const found = run.steps.get(place)
    const why = whyOf(context, place, found, before)
    if (step.active) before.push(why)
    return describeStep(context, step, found, why)
  })
  const { subscriberId, topics } = run.member
  const { isNew, timezone } = about
  return { subscriberId, isNew, timezone, topics, endsAt: isoTextOf(run.now), steps }
}

function whyOf(
  { version, last }: RunContext,
  place: number,
  run: StepRun | undefined,
  before: readonly WhyStep[],
): WhyStep {
  const shown = last.get(place)
  if (shown !== undefined && haveSameResult(shown.run, run) && areSame(shown.before, before)) return shown.why
  const why = whyStepOf({
    step: version.definition.steps[place] as NotificationStep,
    job: run && { status: run.status, details: run.details, nextAttemptAt: run.waits.at(-1)?.toISOString() },
    messages: [],
    window: run?.window === undefined ? {} : windowData(run.window),
    before,
  })
  last.set(place, { run, before: [...before], why })
  return why
}

/** In everything that why uses. */
function haveSameResult(one: StepRun | undefined, other: StepRun | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return (
    one.status === other.status &&
    one.window === undefined &&
    other.window === undefined &&
    one.waits.at(-1)?.getTime() === other.waits.at(-1)?.getTime() &&
    one.details.length === other.details.length &&
    one.details.every((detail, index) => isSameDetail(detail, other.details[index] as StoredDetail))
  )
}

const isSameDetail = (one: StoredDetail, other: StoredDetail): boolean =>
  one === other ||
  (one.code === other.code &&
    one.at === other.at &&
    one.raw === other.raw &&
    one.words === other.words &&
    one.providerId === other.providerId &&
    one.isRetry === other.isRetry &&
    one.isTest === other.isTest)

const areSame = (some: readonly WhyStep[], others: readonly WhyStep[]): boolean =>
  some.length === others.length && some.every((one, index) => one === others[index])

const windowData = ({ opened, until, events, notificationId }: WindowSeen): Data => ({
  ...(opened || notificationId === undefined ? {} : { mergedIntoNotificationId: notificationId }),
  windowEvents: events,
  windowEndsAt: until.toISOString(),
})

/** In one go and with undefined fields: one for every step of every recipient, and a spread costs ten times as much. */
function describeStep(
  context: RunContext,
  step: NotificationStep,
  run: StepRun | undefined,
  why: WhyStep,
): SimulatedStep {
  const { stepId, name, type, status, reasons } = why
  if (run === undefined) {
    const { sentence } = why
    return { stepId, name, type, outcome: 'inactive', status, sentence, reasons, waits: [], asks: [], messages: [] }
  }
  const { window, throttle, isReached } = run
  const messages = run.messages.map((message) => describeMessage(context, message))
  const shown: StepFields = {
    stepId,
    name,
    type,
    outcome: outcomeOf(step, run.status),
    status,
    sentence: sentenceOf(why, run, messages),
    reasons,
    waits: run.waits.map(isoTextOf),
    asks: askedBy(run),
    messages,
    beginsAt: isReached ? isoTextOf(run.beginsAt) : undefined,
    endsAt: isReached ? isoTextOf(run.endsAt) : undefined,
    window: window && windowOf(window),
    throttle: throttle && { ...throttle, until: throttle.until.toISOString() },
  }
  return shown as SimulatedStep
}

type StepFields = { -readonly [Name in keyof SimulatedStep]-?: SimulatedStep[Name] | undefined }

function askedBy({ asks, call }: StepRun): string[] {
  if (asks.length === 0 && call === undefined) return []
  return [...asks, ...(call === undefined ? [] : [call.url])].map((url) => callWithoutSecrets({ url }).url)
}

const windowOf = ({ opened, until, events, openedAt, notificationId, transactionIds }: WindowSeen) => ({
  opened,
  until: until.toISOString(),
  events,
  ...(openedAt === undefined ? {} : { openedAt: openedAt.toISOString() }),
  ...(notificationId === undefined ? {} : { notificationId }),
  transactionIds,
})

function outcomeOf({ template: { type } }: NotificationStep, status: JobStatus): SimulatedOutcome {
  switch (status) {
    case 'completed':
      return type === 'delay' || type === 'digest' ? 'wait' : 'run'
    case 'skipped':
      return 'skip'
    case 'failed':
      return 'fail'
    case 'merged':
      return 'merge'
    case 'canceled':
      return 'cancel'
    // Followed no further: it waits again and again.
    default:
      return 'wait'
  }
}

/** What a reader would want to know in addition. */
const asides: ReadonlySet<DetailCode> = new Set<DetailCode>(['suppressed', 'layoutNotFound', 'scheduleExtensionsMax'])

/** Why explains what happened; for what is only assumed it has no sentence. */
function sentenceOf(why: WhyStep, run: StepRun, messages: readonly SimulatedMessage[]): string {
  const main = run.status === 'completed' ? grantedSentence(run, messages) : undefined
  const parts = [main ?? why.sentence]
  if (main !== undefined) for (const { code, sentence } of why.reasons) if (asides.has(code)) parts.push(sentence)
  if (run.asks.length > 0) parts.push(askedSentence(run.asks))
  return parts.length === 1 ? (parts[0] as string) : parts.join(' ')
}

function grantedSentence({ call }: StepRun, messages: readonly SimulatedMessage[]): string | undefined {
  if (call !== undefined) {
    return `Your service would be called at ${callWithoutSecrets({ url: call.url }).url}, and is assumed to respond successfully.`
  }
  if (messages.some(({ channel }) => channel === 'in_app')) return 'Would be added to the subscriber’s feed.'
  const by: SimulatedIntegration[] = []
  for (const { integration } of messages) {
    if (integration !== undefined && !by.includes(integration)) by.push(integration)
  }
  return by.length === 0
    ? undefined
    : `Would be sent through ${by.map(({ providerId, identifier }) => `${providerId} (integration ${identifier})`).join(' and ')}.`
}

const askedSentence = (asks: readonly string[]): string =>
  `Its conditions would call ${asks.map((url) => callWithoutSecrets({ url }).url).join(' and ')}, whose response is assumed.`

/** Unknown fields are undefined, and not written: an object that grows field by field costs three times as much. */
type MessageFields = { -readonly [Name in keyof SimulatedMessage]-?: SimulatedMessage[Name] | undefined }

function describeMessage(
  { integrations, payload, showsSecrets }: RunContext,
  message: BudgetedMessage,
): SimulatedMessage {
  const { draft, integrationId, error, isOmitted } = message
  const integration = integrationId === null ? undefined : integrations.get(integrationId)
  const errorText = error === null ? undefined : error.errorText
  const said = isOmitted === true ? noContent : draft
  const isSent = integration !== undefined && isOmitted !== true
  const shown: MessageFields = {
    channel: draft.channel,
    integration,
    errorText,
    contentOmitted: isOmitted,
    subject: said.subject,
    title: said.title,
    content: said.content,
    email: said.email,
    phone: said.phone,
    cta: said.cta,
    actor: said.actor,
    data: said.data,
    envelope: isSent ? envelopeOf(message, integration, { payload, showsSecrets }) : undefined,
  }
  return shown as SimulatedMessage
}

const noContent: Partial<MessageDraft> = {}

/** What is shown of an integration: once each, so that equal ones are the same object. */
export const shownIntegration = ({ _id, identifier, providerId, channel }: Integration): SimulatedIntegration => ({
  _id,
  identifier,
  providerId,
  channel,
})

/** Of chat and push: a device token or a webhook's address is as good as a right to send. */
const noSecrets = { target: undefined, webhookUrl: undefined, channel: undefined, entry: undefined }

/** As the provider is given it. */
function envelopeOf(
  { id, draft }: NewMessage,
  { providerId }: SimulatedIntegration,
  { payload, showsSecrets }: Pick<RunContext, 'payload' | 'showsSecrets'>,
): Readonly<Record<string, unknown>> {
  const { envelope } = draft
  if (envelope === undefined) return {}
  // Undefined fields are not written: a copy without a field costs four times as much, and there are many.
  if (envelope.forProviders === undefined && (showsSecrets || 'html' in envelope)) {
    return { ...envelope, metadata: undefined }
  }
  const outbound = messageFor({ id, envelope, providerId, payload })
  const shown = { ...outbound, id: undefined, metadata: undefined, payload: undefined }
  return showsSecrets ? shown : { ...shown, ...noSecrets }
}
