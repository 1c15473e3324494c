// Execution details in plain sentences: what happened, why, and with which values.
import type { DetailCode } from '../../domain/insight/execution-detail.ts'
import type { StepType } from '../../domain/workflows/workflow.ts'

export type Data = Readonly<Record<string, unknown>>

/** What a sentence is built from. */
export interface SentenceFacts {
  readonly type: StepType
  /** What was stored as raw, read. */
  readonly data: Data
  readonly words?: string | undefined
  readonly providerId?: string | undefined
  readonly isTest?: true | undefined
  /** When the step runs again, if it has not finished. */
  readonly nextAttemptAt?: string | undefined
}

type Sentence = (detail: SentenceFacts) => string

const always =
  (sentence: string): Sentence =>
  () =>
    sentence

const things: Readonly<Record<StepType, string>> = {
  in_app: 'in-app message',
  email: 'e-mail',
  sms: 'SMS',
  push: 'push message',
  chat: 'chat message',
  digest: 'digest',
  delay: 'delay',
  throttle: 'throttle',
  custom: 'custom step',
  trigger: 'trigger',
}

/** As sentences call it. A type that only a damaged version can have is called by its name. */
export const thingOf = (type: StepType): string => things[type] ?? type

/** Longer foreign texts are cut in a sentence; they are complete in the data. */
const quotedLengthMax = 300

export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return `“${text.length > quotedLengthMax ? `${text.slice(0, quotedLengthMax).toWellFormed()}…` : text}”`
}

const textIn = (data: Data, name: string): string | undefined => {
  const value = data[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

const said = (data: Data, lead = ': '): string => {
  const message = textIn(data, 'message') ?? textIn(data, 'answer') ?? textIn(data, 'error')
  const status = typeof data['status'] === 'number' ? `status ${data['status']}` : undefined
  const parts = [status, message === undefined ? undefined : quoted(message)].filter((part) => part !== undefined)
  return parts.length === 0 ? '' : `${lead}${parts.join(', ')}`
}

const provider = ({ providerId }: SentenceFacts): string => providerId ?? 'The provider'
const untilOf = ({ data, nextAttemptAt }: SentenceFacts): string =>
  textIn(data, 'untilDate') ?? nextAttemptAt ?? 'an unknown time'

const preference =
  (who: string): Sentence =>
  ({ type, data }) =>
    `Skipped: ${who} switched ${thingOf(type)} off${saidBySources(data)}.`

const sourceNames = {
  workflow: 'workflow',
  tenant: 'tenant',
  global: 'subscriber, for all',
  subscriber: 'subscriber, for this workflow',
}

/** What each source says about the channel. */
function saidBySources(data: Data): string {
  const parts = Object.entries(sourceNames).flatMap(([name, shown]) => {
    const value = data[name]
    return value === undefined
      ? []
      : [`${shown}: ${typeof value === 'boolean' ? (value ? 'on' : 'off') : JSON.stringify(value)}`]
  })
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

const times = (count: unknown): string => (count === 1 ? 'once' : `${count} times`)

/** More conditions than this make no sentence; all are in the data. */
const conditionsShownMax = 3

interface Compared {
  readonly filter?: unknown
  readonly field?: unknown
  readonly operator?: unknown
  readonly expected?: unknown
  readonly actual?: unknown
  readonly passed?: unknown
}

function conditionsSentence({ data }: SentenceFacts): string {
  const [evaluated, isSkipRule] = data['skip'] === undefined ? [data['filter'], false] : [data['skip'], true]
  const all = listIn(evaluated, 'conditions') as readonly Compared[]
  const deciding = all.filter(({ passed }) => passed === isSkipRule)
  // In a negated group those that held are what decided.
  const relevant = deciding.length === 0 ? all : deciding
  const shown = relevant.slice(0, conditionsShownMax).map(comparison)
  const more = relevant.length > conditionsShownMax ? [`and ${relevant.length - conditionsShownMax} more`] : []
  const lead = isSkipRule ? 'Skipped: its skip condition was true' : 'Skipped: its conditions were not met'
  return shown.length === 0 ? `${lead}.` : `${lead}: ${[...shown, ...more].join('; ')}.`
}

const comparison = ({ filter, field, operator, expected, actual }: Compared): string =>
  `${[filter, field].filter((part) => typeof part === 'string' && part !== '').join(' ')} was ${quoted(actual)}, expected ${operator} ${quoted(expected)}`

function listIn(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const list = (value as Data)[name]
  return Array.isArray(list) ? list : []
}

const heldBy: Readonly<Record<string, string>> = {
  schedule: 'it is outside the subscriber’s hours',
  doNotDisturb: 'the subscriber has set do not disturb',
  frequency: 'the subscriber receives this workflow as a digest',
}
const reasonOfHold = ({ data }: SentenceFacts): string =>
  heldBy[String(data['by'])] ?? 'the subscriber wants to be notified later'

/** Which notification goes on for this one. */
function mergedInto(data: Data): string {
  const notificationId = textIn(data, 'mergedIntoNotificationId')
  if (notificationId === undefined) return 'an earlier notification'
  const transactionId = textIn(data, 'mergedIntoTransactionId')
  return `notification ${notificationId}${transactionId === undefined ? '' : ` (transaction ${transactionId})`}`
}

const windowEnd = (data: Data): string => {
  const [closedAt, dueAt] = [textIn(data, 'windowClosedAt'), textIn(data, 'windowEndsAt')]
  if (closedAt !== undefined) return `, which continued at ${closedAt}`
  return dueAt === undefined ? '' : `, which continues at ${dueAt}`
}

const throttleSentence: Sentence = ({ data }) =>
  `Skipped: the throttle had allowed ${data['executionCount']} of ${data['threshold']} runs, and allows no more until ${data['throttledUntil']}.`

function throttlePassed({ data }: SentenceFacts): string {
  const { executionCount, threshold, throttledUntil } = data
  if (executionCount === undefined) return `Allowed: the throttle’s window had ended at ${throttledUntil}.`
  return `Allowed: run ${executionCount} of ${threshold} that the throttle allows until ${throttledUntil}.`
}

function suppressedSentence({ data, words }: SentenceFacts): string {
  const one = textIn(data, 'address') === undefined ? [] : [data]
  const listed = [...one, ...(listIn(data, 'addresses') as readonly Data[])]
  const shown = listed.map(({ address, reason, since }) => `${address} (${reason}, since ${since})`).join('; ')
  const lead =
    words === undefined
      ? 'Skipped: on the suppression list'
      : 'Some addresses were left out because they are on the suppression list'
  return `${lead}: ${shown}.`
}

const broken =
  (lead: string): Sentence =>
  ({ data }) => {
    const field = textIn(data, 'field')
    const message = said(data, '')
    const rest = message === '' ? (Object.keys(data).length === 0 ? '' : quoted(data)) : message
    return `${lead}${field === undefined ? '' : ` (${field})`}${rest === '' ? '' : `: ${rest}`}.`
  }

const captured = ({ isTest }: SentenceFacts): string => (isTest === true ? ' It was captured instead of sent.' : '')
const receipt =
  (lead: string): Sentence =>
  (detail) =>
    `${provider(detail)} reported that it ${lead}${detail.words === undefined ? '' : `: ${quoted(detail.words)}`}.`

/** One for each code, so that none can be forgotten. */
const sentences: Readonly<Record<DetailCode, Sentence>> = {
  queued: always('The step was queued.'),
  providerSelected: (detail) =>
    `${provider(detail)} was selected to send it${textIn(detail.data, 'integrationIdentifier') === undefined ? '' : `, through the integration ${detail.data['integrationIdentifier']}`}.`,
  messageCreated: ({ type }) => `The ${thingOf(type)} was created.`,
  messageSent: (detail) =>
    detail.type === 'in_app'
      ? 'Sent: the message is in the subscriber’s feed.'
      : `Sent: ${provider(detail)} accepted the ${thingOf(detail.type)}${textIn(detail.data, 'id') === undefined ? '' : ` with the id ${detail.data['id']}`}.${captured(detail)}`,
  providerError: (detail) => `${provider(detail)} rejected the ${thingOf(detail.type)}${refusalOf(detail.data)}.`,
  providerBusy: (detail) =>
    `${provider(detail)} could not accept the ${thingOf(detail.type)} for now${said(detail.data)}.`,
  perhapsSent: (detail) =>
    `${provider(detail)} did not confirm the ${thingOf(detail.type)}${said(detail.data)}: it may have been sent.`,
  retryScheduled: ({ type, data }) =>
    `The ${thingOf(type)} will be tried again${textIn(data, 'nextAttemptAt') === undefined ? '' : ` at ${data['nextAttemptAt']}`}.`,
  providerDown: (detail) =>
    `The ${thingOf(detail.type)} is held: ${provider(detail)} has been down${textIn(detail.data, 'downSince') === undefined ? '' : ` since ${detail.data['downSince']}`}.`,
  leftUnsure: ({ type }) =>
    `It is unknown whether the ${thingOf(type)} was sent. It is not sent again, to avoid sending it twice.`,
  misconfigured: (detail) =>
    `${provider(detail)} rejected the account${said(detail.data)}: its credentials or settings are wrong.`,
  noIntegration: ({ type, data }) =>
    textIn(data, 'integrationIdentifier') === undefined
      ? `There is no active integration to send the ${thingOf(type)}.`
      : `The requested integration ${data['integrationIdentifier']} does not exist or is not active.`,
  noEmail: always('Skipped: the subscriber has no e-mail address.'),
  noPhone: (detail) =>
    detail.type === 'sms'
      ? 'Skipped: the subscriber has no phone number.'
      : `${provider(detail)} was left out: the subscriber has no phone number.`,
  noChannel: always('Skipped: the subscriber has no chat account that an active integration could reach.'),
  noPushChannel: always('Skipped: the subscriber has no device that an active integration could reach.'),
  noWebhookUrl: (detail) => `${provider(detail)} was left out: the subscriber’s chat address is missing.`,
  payloadAddressIgnored: always(
    'The address in the payload was ignored: the integration has no payloadWebhookHosts, so payloads cannot choose where messages go.',
  ),
  payloadAddressRefused: (detail) =>
    `${provider(detail)} was left out: the address in the payload is not on any of the integration’s payloadWebhookHosts.`,
  someChatSkipped: always('Some of the subscriber’s chat accounts were left out.'),
  allChatFailed: always('None of the chat messages was accepted.'),
  noDeviceTokens: (detail) => `${provider(detail)} was left out: the subscriber has no device tokens there.`,
  somePushSkipped: always('Some of the subscriber’s push accounts were left out.'),
  deviceTokenRemoved: (detail) =>
    `${provider(detail)} reported that a device is no longer registered: its token was removed from the subscriber.`,
  suppressed: suppressedSentence,
  contentFailed: broken('Failed: its content could not be generated'),
  conditionsFailed: conditionsSentence,
  conditionsBroken: broken('Failed: its conditions could not be evaluated'),
  variantChosen: ({ data }) => `The variant ${data['variantId']} was selected because its conditions were met.`,
  workflowPreference: preference('the workflow’s own preferences have'),
  tenantPreference: preference('the tenant’s override of the workflow has'),
  globalPreference: preference('the subscriber’s preferences for all workflows have'),
  subscriberPreference: preference('the subscriber’s preferences for this workflow have'),
  outsideSchedule: ({ data }) =>
    typeof data['opensAt'] === 'string'
      ? `Skipped: it is outside the subscriber’s hours, which begin again at ${data['opensAt']} (time zone ${data['timezone'] ?? 'UTC'}).`
      : `Skipped: it is outside the subscriber’s hours, which never begin (time zone ${data['timezone'] ?? 'UTC'}).`,
  scheduleExtended: (detail) =>
    `Waits until ${untilOf(detail)}: it would have ended outside the subscriber’s hours (postponed ${times(detail.data['scheduleExtensionsCount'])}).`,
  scheduleExtensionsMax: ({ data }) =>
    `It continued outside the subscriber’s hours because it had been postponed ${times(data['scheduleExtensionsCount'])}.`,
  held: (detail) => `Held back until ${untilOf(detail)}: ${reasonOfHold(detail)}.`,
  heldMerged: (detail) =>
    `Held back and combined with others by ${mergedInto(detail.data)}${windowEnd(detail.data)}: ${reasonOfHold(detail)}.`,
  heldReleased: ({ data }) =>
    `The messages that were held back were released${typeof data['total_count'] === 'number' ? `, ${data['total_count']} in total` : ''}.`,
  webhookRetried: ({ data }) => `The webhook of its conditions did not respond${said(data)}; it will be called again.`,
  webhookFailed: ({ data }) => `Failed: the webhook of its conditions did not respond after all retries${said(data)}.`,
  throttled: throttleSentence,
  throttlePassed,
  throttlePast: broken('Failed: the end of the throttle’s window had passed'),
  throttleInvalid: broken('Failed: the throttle’s settings are wrong'),
  callStarted: ({ data }) => `Your service was called${textIn(data, 'url') === undefined ? '' : ` at ${data['url']}`}.`,
  callFinished: ({ data }) => `Your service responded${said(data)}.`,
  callBusy: ({ data }) =>
    `Your service returned no usable response${said(data)} (call ${data['attempt']}); it will be called again at ${data['nextAttemptAt']}.`,
  callFailed: ({ data }) =>
    `Failed: the call to your service did not succeed${said(data)}${typeof data['attempt'] === 'number' ? ` (call ${data['attempt']})` : ''}.`,
  layoutNotFound: ({ data }) =>
    `The layout ${quoted(data['layoutId'])} does not exist, so the default layout was used.`,
  layoutSelected: ({ data }) => `The trigger selected the layout ${data['identifier'] ?? data['layoutId']}.`,
  replyCallbackMissing: always('Replies to it are not forwarded: the step has no callback URL.'),
  canceled: ({ data }) =>
    `Canceled: the ${textIn(data, 'notificationId') === undefined ? 'event' : 'notification'} was canceled by request.`,
  workflowOff: always('Skipped: the tenant’s override switches the workflow off.'),
  delayed: (detail) => `Waits until ${untilOf(detail)}.`,
  delayFinished: always('The delay is over.'),
  delayInvalid: broken('Failed: the delay’s settings are wrong'),
  digested: (detail) =>
    `Collects events until ${untilOf(detail)}${typeof detail.data['windowEvents'] === 'number' ? `, ${detail.data['windowEvents']} so far` : ''}.`,
  digestMerged: ({ data }) => `Merged into the digest of ${mergedInto(data)}${windowEnd(data)}.`,
  digestSkipped: always('Not digested: it is the first event after a quiet period and is processed at once.'),
  digestTriggered: ({ data }) => `The digest is finished and collected ${data['total_count'] ?? 'its'} events.`,
  digestInvalid: broken('Failed: the digest’s settings are wrong'),
  previousFailed: ({ data }) =>
    `Canceled: ${textIn(data, 'failedStep') ?? 'a step before it'} failed, and the workflow stops on failure.`,
  severityOverridden: ({ data }) => `The event’s severity is ${data['severity']}, not the workflow’s.`,
  tenantSelected: ({ data }) => `The event is for the tenant ${data['identifier']}.`,
  buried: ({ data }) => `Failed because of an internal error, and was buried${said(data)}.`,
  subscriberGone: always('Canceled: the subscriber was deleted before the step ran.'),
  snoozed: always('The subscriber snoozed it.'),
  unsnoozed: always('It returned after it was snoozed.'),
  seen: always('The subscriber saw it.'),
  read: always('The subscriber read it.'),
  allPushFailed: always('None of the push messages was accepted.'),
  receiptGood: receipt('was delivered or forwarded'),
  receiptWaiting: receipt('could not deliver it yet'),
  receiptQueued: receipt('is queued'),
  receiptFailed: receipt('was not delivered or was unwanted'),
  receiptRead: receipt('was opened'),
  replyReceived: (detail) => `A reply to it arrived through ${provider(detail)}.`,
  replyCalled: always('The reply was forwarded to your callback URL.'),
  replyFailed: ({ data }) => `The reply could not be forwarded to your callback URL${said(data)}.`,
  replyDomainMissing: always('Replies to it are not forwarded: no domain receives them.'),
  testLeftOut: always('Skipped: the test was limited to other steps.'),
  testNotWaited: (detail) =>
    `Did not wait because this is a test: a real run would have waited until ${untilOf(detail)}.`,
  testNotThrottled: always('Allowed: throttles neither count nor stop tests.'),
  redriven: ({ data }) =>
    `Redriven: the failed messages are tried again (requested with the key ${data['by'] ?? 'unknown'}).`,
  retracted: retractedSentence,
}

function retractedSentence({ type, data }: SentenceFacts): string {
  const by = ` (key ${data['by'] ?? 'unknown'})`
  if (Number(data['removed'] ?? 0) > 0) return `Retracted: the message was removed from the feed${by}.`
  if (Number(data['sent'] ?? 0) > 0)
    return `It was retracted too late${by}: the ${thingOf(type)} had already been sent.`
  return `Retracted${by}: nothing more is sent.`
}

const refusals: Readonly<Record<string, string>> = {
  'bad-recipient': 'the address is invalid',
  'dead-token': 'the device is no longer registered',
  'opted-out': 'the recipient opted out',
  'bad-content': 'the content was rejected',
}

function refusalOf(data: Data): string {
  const reason = refusals[String(data['reason'])]
  return `${reason === undefined ? '' : ` because ${reason}`}${said(data)}`
}

export const sentenceOf = (code: DetailCode, detail: SentenceFacts): string => sentences[code](detail)
