// Execution details: what happened to a job, kept in short form and worded when read.

export const detailStatuses = ['Success', 'Warning', 'Failed', 'Pending', 'Queued', 'ReadConfirmation'] as const
export type DetailStatus = (typeof detailStatuses)[number]
export type DetailSource = 'Credentials' | 'Internal' | 'Payload' | 'Webhook'

interface Wording {
  readonly detail: string
  readonly status: DetailStatus
  readonly source: DetailSource
}

const internal = (detail: string, status: DetailStatus): Wording => ({ detail, status, source: 'Internal' })

/** The wording of behaviours 10.11. */
export const wordings = {
  queued: internal('Step queued', 'Pending'),
  providerSelected: internal('Integration instance selected', 'Pending'),
  messageCreated: internal('Message created', 'Pending'),
  messageSent: internal('Message sent', 'Success'),
  providerError: internal('Unexpected provider error', 'Failed'),
  providerBusy: internal('Unexpected provider error', 'Queued'),
  perhapsSent: internal('Unexpected provider error', 'Warning'),
  misconfigured: { detail: 'Unexpected provider error', status: 'Failed', source: 'Credentials' },
  noIntegration: {
    detail: 'Subscriber does not have an active integration',
    status: 'Failed',
    source: 'Credentials',
  },
  noEmail: internal('Subscriber missing email address', 'Failed'),
  contentFailed: { detail: 'Message content could not be generated', status: 'Failed', source: 'Payload' },
  conditionsFailed: internal('Step was skipped based on steps conditions', 'Success'),
  conditionsBroken: internal('Processing step filter failed', 'Failed'),
  variantChosen: internal('Variant was chosen by the provided condition criteria', 'Pending'),
  workflowPreference: internal('Step filtered by workflow preferences', 'Success'),
  delayed: internal('Step delayed', 'Pending'),
  delayFinished: internal('Delay is finished', 'Success'),
  delayInvalid: { detail: 'Invalid delay configuration', status: 'Failed', source: 'Payload' },
  digested: internal('Step digested', 'Pending'),
  digestMerged: internal('Digest was merged with other digest', 'Success'),
  digestSkipped: internal('Digest was skipped, first backoff event', 'Success'),
  digestTriggered: internal('Digest triggered events', 'Success'),
  digestInvalid: { detail: 'Invalid digest configuration', status: 'Failed', source: 'Payload' },
  previousFailed: internal('Step was canceled because a previous step failed', 'Failed'),
  severityOverridden: internal('Severity for the message was overridden', 'Pending'),
  tenantSelected: internal('Tenant context selected', 'Pending'),
  buried: internal('There was one or more errors when trying to execute the notification', 'Failed'),
  subscriberGone: internal('Subscriber was deleted before the step ran', 'Failed'),
  snoozed: internal('Message snoozed', 'Pending'),
  unsnoozed: internal('Message unsnoozed', 'Success'),
  seen: { detail: 'Message seen', status: 'ReadConfirmation', source: 'Internal' },
  read: { detail: 'Message read', status: 'ReadConfirmation', source: 'Internal' },
} as const satisfies Record<string, Wording>

export type DetailCode = keyof typeof wordings

/** As it lies in the job's row. */
export interface StoredDetail {
  readonly code: DetailCode
  readonly at: string
  /** Instead of the code's own words, where they name somebody. */
  readonly words?: string
  readonly providerId?: string
  /** What was asked and answered, as text. */
  readonly raw?: string
  readonly isRetry?: true
  readonly isTest?: true
}

/** More of what a provider said is cut off. */
export const rawBytesMax = 16 * 1024

export function detail(
  at: Date,
  code: DetailCode,
  more: { words?: string; providerId?: string; raw?: unknown; isRetry?: boolean; isTest?: boolean } = {},
): StoredDetail {
  const { words, providerId, raw, isRetry, isTest } = more
  return {
    code,
    at: at.toISOString(),
    ...(words === undefined ? {} : { words }),
    ...(providerId === undefined ? {} : { providerId }),
    ...(raw === undefined ? {} : { raw: rawText(raw) }),
    ...(isRetry === true ? { isRetry } : {}),
    ...(isTest === true ? { isTest } : {}),
  }
}

function rawText(raw: unknown): string {
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw)
  if (Buffer.byteLength(text) <= rawBytesMax) return text
  return `${Buffer.from(text)
    .subarray(0, rawBytesMax - 3)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`
}
