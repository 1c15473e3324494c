// One step of the answer to why: its reasons, and the sentence that says what happened to it.
import type { JobStatus } from '../../domain/delivery/job.ts'
import type { DetailCode, StoredDetail } from '../../domain/insight/execution-detail.ts'
import type { WhyMessage, WhyReason, WhyStep } from '../../domain/insight/why.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import type { Data } from './why-sentences.ts'
import { sentenceOf, thingOf } from './why-sentences.ts'

export interface StepJob {
  readonly status: JobStatus
  readonly details: readonly StoredDetail[]
  readonly nextAttemptAt: string | undefined
}

export interface StepFacts {
  readonly step: NotificationStep
  /** Undefined while it has not started. */
  readonly job: StepJob | undefined
  readonly messages: readonly WhyMessage[]
  /** The digest or the gathering that it opened or joined. */
  readonly window: Data
  /** Those before it that are active, in their order. */
  readonly before: readonly WhyStep[]
}

export function whyStepOf({ step, job, messages, window, before }: StepFacts): WhyStep {
  const { type } = step.template
  const shown = { stepId: step._id, name: step.name ?? thingOf(type), type }
  if (!step.active) {
    const sentence = 'Not run: the step was inactive when the event was accepted.'
    return { ...shown, status: 'inactive', sentence, reasons: [], messages }
  }
  if (job === undefined) {
    return { ...shown, status: 'pending', sentence: pendingSentence(before), reasons: [], messages }
  }
  const reasons = job.details.map((detail) => reasonOf(detail, { type, job, window, before }))
  return {
    ...shown,
    status: job.status,
    sentence: [stepSentence(type, job, reasons), ...sentBefore(type, job.status, reasons, messages)].join(' '),
    reasons,
    messages,
    ...(job.nextAttemptAt === undefined ? {} : { nextAttemptAt: job.nextAttemptAt }),
  }
}

const openStatuses: ReadonlySet<string> = new Set<JobStatus>(['queued', 'running', 'delayed'])
export const isOpen = ({ status }: Pick<WhyStep, 'status'>): boolean => openStatuses.has(status)

export const calledStep = (step: WhyStep): string => `the step “${step.name}” (${step.type})`

function pendingSentence(before: readonly WhyStep[]): string {
  const open = before.find(isOpen)
  if (open === undefined) return 'Not reached yet: it runs next.'
  const until = open.nextAttemptAt === undefined ? '' : ` until ${open.nextAttemptAt}`
  return `Not reached yet: ${calledStep(open)} is ${open.status === 'delayed' ? `waiting${until}` : 'not finished'}.`
}

interface ReasonFacts extends Pick<StepFacts, 'window' | 'before'> {
  readonly type: WhyStep['type']
  readonly job: StepJob
}

const windowCodes: ReadonlySet<DetailCode> = new Set<DetailCode>(['digested', 'held', 'digestMerged', 'heldMerged'])

function reasonOf(detail: StoredDetail, { type, job, window, before }: ReasonFacts): WhyReason {
  const { code, at, words, providerId, isTest } = detail
  const failed = code === 'previousFailed' ? before.findLast(({ status }) => status === 'failed') : undefined
  const data: Data = {
    ...dataOf(detail.raw),
    ...(windowCodes.has(code) ? window : {}),
    ...(failed === undefined ? {} : { failedStep: calledStep(failed), failedStepId: failed.stepId }),
  }
  const nextAttemptAt = job.status === 'delayed' ? job.nextAttemptAt : undefined
  const sentence = sentenceOf(code, { type, data, words, providerId, isTest, nextAttemptAt })
  const shown = {
    ...data,
    ...(providerId === undefined ? {} : { providerId }),
    ...(words === undefined ? {} : { words }),
  }
  return { code, at, sentence, data: shown }
}

/** What was stored is JSON, except if it was cut off or is text. */
function dataOf(raw: string | undefined): Data {
  if (raw === undefined) return {}
  try {
    const value: unknown = JSON.parse(raw)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : { value }
  } catch {
    return { text: raw }
  }
}

/** What is added about a step to the reason why it ended or waits. */
const asides: ReadonlySet<DetailCode> = new Set<DetailCode>([
  'queued',
  'retryScheduled',
  'providerSelected',
  'messageCreated',
  'layoutSelected',
  'layoutNotFound',
  'tenantSelected',
  'severityOverridden',
  'variantChosen',
  'someChatSkipped',
  'payloadAddressIgnored',
  'somePushSkipped',
  'allChatFailed',
  'allPushFailed',
  'deviceTokenRemoved',
  'replyCallbackMissing',
  'replyDomainMissing',
  'replyReceived',
  'replyCalled',
  'replyFailed',
  'snoozed',
  'unsnoozed',
  'seen',
  'read',
  'receiptGood',
  'receiptWaiting',
  'receiptQueued',
  'receiptFailed',
  'receiptRead',
  'scheduleExtensionsMax',
  'retracted',
])
const successes: ReadonlySet<DetailCode> = new Set<DetailCode>([
  'messageSent',
  'delayFinished',
  'digestTriggered',
  'throttlePassed',
  'callFinished',
])
/** Appended: what a reader would want to know at once. */
const afterwards: ReadonlySet<DetailCode> = new Set<DetailCode>([
  'suppressed',
  'layoutNotFound',
  'scheduleExtensionsMax',
  'retracted',
])
const receipts: ReadonlySet<DetailCode> = new Set<DetailCode>([
  'receiptGood',
  'receiptWaiting',
  'receiptQueued',
  'receiptFailed',
  'receiptRead',
])
const failedTries: ReadonlySet<DetailCode> = new Set<DetailCode>([
  'providerBusy',
  'providerError',
  'misconfigured',
  'perhapsSent',
  'callBusy',
])

function stepSentence(type: WhyStep['type'], job: StepJob, reasons: readonly WhyReason[]): string {
  const main = mainReason(job.status, reasons)
  const parts = [main?.sentence ?? withoutReason(type, job)]
  const tries = reasons.filter((reason) => failedTries.has(reason.code) && reason !== main).length
  if (job.status === 'completed' && tries > 0)
    parts.push(`Before that, ${tries === 1 ? 'one attempt' : `${tries} attempts`} failed.`)
  const isAgain = job.status === 'running' || job.status === 'queued'
  if (isAgain && job.nextAttemptAt !== undefined && main !== undefined && main.code !== 'callBusy') {
    parts.push(`The next attempt is at ${job.nextAttemptAt}.`)
  }
  const others = reasons.filter((reason) => afterwards.has(reason.code) && reason !== main)
  const lastReceipt = reasons.findLast((reason) => receipts.has(reason.code))
  for (const reason of [...others, ...(lastReceipt === undefined ? [] : [lastReceipt])]) parts.push(reason.sentence)
  return parts.join(' ')
}

/** What was sent, or may have been, of a step that ended for another reason before all of it was. */
function sentBefore(
  type: WhyStep['type'],
  status: JobStatus,
  reasons: readonly WhyReason[],
  messages: readonly WhyMessage[],
): string[] {
  if (status !== 'canceled' && status !== 'skipped') return []
  const sent = messages.filter((message) => message.status === 'sent').length
  if (sent > 0) return [`Before that, ${sent} of ${messages.length} messages ${sent === 1 ? 'was' : 'were'} sent.`]
  const isInDoubt =
    messages.some((message) => message.status === 'warning') && reasons.some(({ code }) => code === 'perhapsSent')
  const isSaid = mainReason(status, reasons)?.code === 'leftUnsure'
  return isInDoubt && !isSaid ? [`Before that, the ${thingOf(type)} may have been sent.`] : []
}

/** The one that made it end, or wait, as it does. */
function mainReason(status: JobStatus, reasons: readonly WhyReason[]): WhyReason | undefined {
  const main = reasons.filter((reason) => !asides.has(reason.code))
  if (status === 'completed') return main.findLast((reason) => successes.has(reason.code)) ?? main.at(-1)
  if (status === 'failed') return main.findLast((reason) => !successes.has(reason.code)) ?? main.at(-1)
  return main.at(-1)
}

function withoutReason(type: WhyStep['type'], { status, nextAttemptAt }: StepJob): string {
  const at = nextAttemptAt === undefined ? '' : ` It runs again at ${nextAttemptAt}.`
  switch (status) {
    case 'queued':
      return nextAttemptAt === undefined ? 'It is due and waiting for a worker.' : `It is queued.${at}`
    case 'running':
      return `The ${thingOf(type)} is being sent.${at}`
    case 'delayed':
      return `It is waiting.${at}`
    case 'pending':
      return 'Not reached yet.'
    case 'completed':
    case 'failed':
    case 'canceled':
    case 'merged':
    case 'skipped':
      return `Its status is ${status}; nothing more was recorded.`
  }
}
