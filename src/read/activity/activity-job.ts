// A job as the activity shows it: its step, its settings, its progress, and its provider.
import type { Channel, IntegrationStatus } from '../../domain/delivery/integration.ts'
import { isChannel } from '../../domain/delivery/integration.ts'
import type { JobState } from '../../domain/delivery/job.ts'
import type { ActivityDigest, ActivityJob, ActivityStep, ActivityTimedConfig } from '../../domain/insight/activity.ts'
import { cronExpressionOf } from '../../domain/time/digest-window.ts'
import type { DigestMetadata, NotificationStep, StepMetadata, StepType } from '../../domain/workflows/workflow.ts'
import type { JobRow } from './activity-facts.ts'
import type { ActivityRow } from './activity-rows.ts'
import { executionDetailsOf } from './execution-details.ts'

export interface JobFacts {
  readonly id: string
  readonly step: NotificationStep
  /** The same as callers see it. */
  readonly shown: ActivityStep
  /** Absent while it has not started. */
  readonly row: JobRow | undefined
  readonly event: Pick<ActivityRow, 'payload' | 'overrides' | 'is_test'>
  readonly createdAt: string
  readonly integrationStatuses: readonly IntegrationStatus[]
  readonly digests: ReadonlyMap<string, readonly Record<string, unknown>[]>
}

export function activityJobOf({
  id,
  step,
  shown,
  row,
  event,
  createdAt,
  integrationStatuses,
  digests,
}: JobFacts): ActivityJob {
  const { type } = step.template
  const events = digests.get(row?.state?.windowId ?? '') ?? []
  const digest = type === 'digest' ? digestOf(step.metadata, row?.state ?? {}, events) : undefined
  // No spreads, here and in the details: hundreds of these are made and written for one page.
  return {
    _id: id,
    type,
    digest,
    executionDetails: row === undefined ? [] : executionDetailsOf(row, type, event.is_test),
    step: shown,
    payload: event.payload,
    overrides: event.overrides,
    providerId: row?.state?.providerId ?? wouldBeProvider(type, integrationStatuses),
    status: row?.status ?? 'pending',
    captured: row?.details.some(({ isTest }) => isTest === true) === true ? true : undefined,
    updatedAt: row?.updated_at.toISOString() ?? createdAt,
    scheduleExtensionsCount: type === 'digest' || type === 'delay' ? (row?.state?.scheduleExtensions ?? 0) : undefined,
  }
}

function digestOf(
  metadata: StepMetadata | undefined,
  state: JobState,
  events: readonly Record<string, unknown>[],
): ActivityDigest | undefined {
  if (!isDigest(metadata)) return undefined
  const digest = metadata
  if (digest.type !== 'timed') return { ...digest, events }
  return { ...digest, events, timed: timedOf(digest, state) }
}

const digestTypes: ReadonlySet<string> = new Set(['regular', 'backoff', 'timed'])

const isDigest = (metadata: StepMetadata | undefined): metadata is DigestMetadata =>
  metadata !== undefined && digestTypes.has(metadata.type)

function timedOf(digest: Extract<DigestMetadata, { type: 'timed' }>, state: JobState): ActivityTimedConfig {
  const { monthDays, ...timed } = digest.timed ?? {}
  const cronExpression = cronExpressionOf(digest)
  return {
    ...timed,
    ...(monthDays === undefined ? {} : { monthDays: monthDays.map(Number) }),
    ...(cronExpression === undefined ? {} : { cronExpression }),
    ...(state.until === undefined ? {} : { untilDate: state.until }),
  }
}

/** Who would send if it were decided now: the interface wants a provider of every job. */
function wouldBeProvider(type: StepType, integrationStatuses: readonly IntegrationStatus[]): string {
  if (type === 'in_app' || !isChannel(type)) return 'platform'
  const active = integrationStatuses.filter((standing) => standing.channel === type && standing.active)
  return (active.find((standing) => standing.primary) ?? active[0])?.providerId ?? withoutIntegration[type]
}

/** The value if a channel has no active integration: the public one, or that of no particular provider. */
const withoutIntegration: Readonly<Record<Channel, string>> = {
  in_app: 'platform',
  email: 'platform-email',
  sms: 'platform-sms',
  chat: 'platform-slack',
  push: 'platform',
}
