// Execution details: what happened to a job, stored in short form and worded when read.
import { isoTextOf } from '../time/iso-timestamp.ts'

export const detailStatuses = ['Success', 'Warning', 'Failed', 'Pending', 'Queued', 'ReadConfirmation'] as const
export type DetailStatus = (typeof detailStatuses)[number]
export type DetailSource = 'Credentials' | 'Internal' | 'Payload' | 'Webhook'

interface Wording {
  readonly detail: string
  readonly status: DetailStatus
  readonly source: DetailSource
}

const internal = (detail: string, status: DetailStatus): Wording => ({ detail, status, source: 'Internal' })

const webhook = (detail: string, status: DetailStatus): Wording => ({ detail, status, source: 'Webhook' })

/** Clients compare these words: they do not change. */
export const wordings = {
  queued: internal('Step queued', 'Pending'),
  providerSelected: internal('Integration instance selected', 'Pending'),
  messageCreated: internal('Message created', 'Pending'),
  messageSent: internal('Message sent', 'Success'),
  providerError: internal('Unexpected provider error', 'Failed'),
  providerBusy: internal('Unexpected provider error', 'Queued'),
  perhapsSent: internal('Unexpected provider error', 'Warning'),
  misconfigured: { detail: 'Unexpected provider error', status: 'Failed', source: 'Credentials' },
  retryScheduled: internal('The message will be tried again', 'Queued'),
  providerDown: internal('The message is held: its provider is down', 'Queued'),
  leftUnsure: internal('It is unknown whether the message was sent; it is not sent again', 'Warning'),
  noIntegration: {
    detail: 'Subscriber does not have an active integration',
    status: 'Failed',
    source: 'Credentials',
  },
  noEmail: internal('Subscriber missing email address', 'Failed'),
  noPhone: internal('Subscriber missing phone number', 'Failed'),
  noChannel: internal('Subscriber does not have a configured channel', 'Failed'),
  noPushChannel: internal('Subscriber does not have a configured channel', 'Warning'),
  noWebhookUrl: internal('Webhook URL for the chat channel is missing', 'Failed'),
  payloadAddressIgnored: {
    detail: 'The webhookUrl of the payload was ignored: the integration lets no payload choose',
    status: 'Warning',
    source: 'Payload',
  },
  payloadAddressRefused: {
    detail: 'The webhookUrl of the payload is on none of the hosts that the integration lists',
    status: 'Failed',
    source: 'Payload',
  },
  someChatSkipped: internal('Some chat channels skipped to send the message', 'Warning'),
  allChatFailed: internal('All chat channels failed to send the message', 'Failed'),
  noDeviceTokens: internal(
    'Subscriber credentials is missing the tokens for sending a push notification message',
    'Failed',
  ),
  somePushSkipped: internal('Some push channels skipped to send the message', 'Warning'),
  deviceTokenRemoved: internal('Invalid push device token was removed from subscriber', 'Warning'),
  suppressed: internal('Nothing was sent: the address is on the suppression list', 'Warning'),
  contentFailed: { detail: 'Message content could not be generated', status: 'Failed', source: 'Payload' },
  conditionsFailed: internal('Step was skipped based on steps conditions', 'Success'),
  conditionsBroken: internal('Processing step filter failed', 'Failed'),
  variantChosen: internal('Variant was chosen by the provided condition criteria', 'Pending'),
  workflowPreference: internal('Step filtered by workflow preferences', 'Success'),
  tenantPreference: internal('Step filtered by the tenant’s override of the workflow', 'Success'),
  globalPreference: internal('Step filtered by subscriber global preferences', 'Success'),
  subscriberPreference: internal('Step filtered by subscriber workflow preferences', 'Success'),
  outsideSchedule: internal("The step was skipped as it fell outside the subscriber's schedule", 'Success'),
  scheduleExtended: internal('Step was extended to the next available time in the subscriber schedule', 'Pending'),
  scheduleExtensionsMax: internal(
    'Step was executed due to maximum number of subscriber schedule extensions reached',
    'Success',
  ),
  held: internal('Step was held back until the subscriber wants to hear of it', 'Pending'),
  heldMerged: internal('Step was bundled with others that were held back', 'Success'),
  heldReleased: internal('What was held back is sent now', 'Success'),
  webhookRetried: {
    detail: 'Webhook filter failed, retry will be executed',
    status: 'Pending',
    source: 'Webhook',
  },
  webhookFailed: {
    detail: 'Failed to get response from remote webhook filter on last retry',
    status: 'Failed',
    source: 'Webhook',
  },
  throttled: internal('Throttle limit exceeded for the given window', 'Success'),
  throttlePassed: internal('Throttle let the step through', 'Success'),
  throttlePast: { detail: 'Throttle window date is in the past', status: 'Failed', source: 'Payload' },
  throttleInvalid: { detail: 'Invalid throttle configuration', status: 'Failed', source: 'Payload' },
  callStarted: internal('Custom step called its service', 'Pending'),
  callFinished: internal('Custom step was answered', 'Success'),
  callBusy: internal('Custom step got no answer, it will be called again', 'Queued'),
  callFailed: internal('Custom step failed', 'Failed'),
  layoutNotFound: internal('Layout not found ', 'Failed'),
  layoutSelected: internal('Layout selected', 'Pending'),
  replyCallbackMissing: internal('Inbound mail - Missing replay callback URL', 'Warning'),
  canceled: internal('Step was canceled by request', 'Success'),
  workflowOff: internal('The tenant’s override switches the workflow off', 'Success'),
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
  allPushFailed: internal('There was one or more errors when trying to execute the notification', 'Failed'),
  receiptGood: webhook('Message delivered', 'Success'),
  receiptWaiting: webhook('Message deferred', 'Pending'),
  receiptQueued: webhook('Message queued', 'Queued'),
  receiptFailed: webhook('Message not delivered', 'Failed'),
  receiptRead: webhook('Message opened', 'ReadConfirmation'),
  replyReceived: webhook('Inbound mail - Reply received', 'Success'),
  replyCalled: internal('Inbound mail - Reply handed to its callback', 'Success'),
  replyFailed: internal('Inbound mail - Reply callback failed', 'Failed'),
  replyDomainMissing: internal('Inbound mail - Missing MX route domain configuration', 'Warning'),
  testLeftOut: internal('Step was left out of the test', 'Success'),
  testNotWaited: internal('Step did not wait, as it is a test', 'Success'),
  testNotThrottled: internal('Throttle let the test through and did not count it', 'Success'),
  redriven: internal('Step was redriven by request', 'Pending'),
  retracted: internal('Step was retracted by request', 'Success'),
} as const satisfies Record<string, Wording>

export type DetailCode = keyof typeof wordings

/** As it lies in the job's row. */
export interface StoredDetail {
  readonly code: DetailCode
  readonly at: string
  /** Instead of the code's own text, if it names a provider or an address. */
  readonly words?: string
  readonly providerId?: string
  /** The request and the response, as text. */
  readonly raw?: string
  readonly isRetry?: true
  readonly isTest?: true
}

/** Longer provider text is cut off. */
export const rawBytesMax = 16 * 1024

export function detail(
  at: Date,
  code: DetailCode,
  more: { words?: string; providerId?: string; raw?: unknown; isRetry?: boolean; isTest?: boolean } = {},
): StoredDetail {
  const { words, providerId, raw, isRetry, isTest } = more
  // Field by field, as there are several for every job: a spread costs ten times as much.
  const stored: { -readonly [Name in keyof StoredDetail]: StoredDetail[Name] } = { code, at: isoTextOf(at) }
  if (words !== undefined) stored.words = words
  if (providerId !== undefined) stored.providerId = providerId
  if (raw !== undefined) stored.raw = rawText(raw)
  if (isRetry === true) stored.isRetry = isRetry
  if (isTest === true) stored.isTest = isTest
  return stored
}

/** No character takes more of UTF-8, a unit of UTF-16 each. */
const bytesPerUnitMax = 3

function rawText(raw: unknown): string {
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw)
  if (text.length * bytesPerUnitMax <= rawBytesMax || Buffer.byteLength(text) <= rawBytesMax) return text
  return `${Buffer.from(text)
    .subarray(0, rawBytesMax - 3)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`
}
