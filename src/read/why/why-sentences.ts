// Execution details in plain sentences: what happened, why, and with which values.
import type { DetailCode } from '../../domain/insight/execution-detail.ts'
import type { StepType } from '../../domain/workflows/workflow.ts'

export type Data = Readonly<Record<string, unknown>>

/** What a sentence is made of. */
export interface ToldDetail {
  readonly type: StepType
  /** What was stored as raw, read. */
  readonly data: Data
  readonly words?: string | undefined
  readonly providerId?: string | undefined
  readonly isTest?: true | undefined
  /** When the step is looked at again, where it is not over. */
  readonly nextAttemptAt?: string | undefined
}

type Sentence = (told: ToldDetail) => string

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

/** Longer answers of others are cut in a sentence; they are whole in the data. */
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

const provider = ({ providerId }: ToldDetail): string => providerId ?? 'The provider'
const untilOf = ({ data, nextAttemptAt }: ToldDetail): string =>
  textIn(data, 'untilDate') ?? nextAttemptAt ?? 'a moment that is not known'

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

/** What each source says of the channel. */
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
const conditionsTold = 3

interface Compared {
  readonly filter?: unknown
  readonly field?: unknown
  readonly operator?: unknown
  readonly expected?: unknown
  readonly actual?: unknown
  readonly passed?: unknown
}

function conditionsSentence({ data }: ToldDetail): string {
  const [evaluated, isSkipRule] = data['skip'] === undefined ? [data['filter'], false] : [data['skip'], true]
  const all = listIn(evaluated, 'conditions') as readonly Compared[]
  const deciding = all.filter(({ passed }) => passed === isSkipRule)
  // In a negated group those that held are what decided.
  const told = deciding.length === 0 ? all : deciding
  const shown = told.slice(0, conditionsTold).map(comparison)
  const more = told.length > conditionsTold ? [`and ${told.length - conditionsTold} more`] : []
  const lead = isSkipRule ? 'Skipped: its rule for skipping held' : 'Skipped: its conditions did not hold'
  return shown.length === 0 ? `${lead}.` : `${lead}: ${[...shown, ...more].join('; ')}.`
}

const comparison = ({ filter, field, operator, expected, actual }: Compared): string =>
  `${[filter, field].filter((part) => typeof part === 'string' && part !== '').join(' ')} was ${quoted(actual)}, asked for ${operator} ${quoted(expected)}`

function listIn(value: unknown, name: string): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const list = (value as Data)[name]
  return Array.isArray(list) ? list : []
}

const heldBy: Readonly<Record<string, string>> = {
  schedule: 'it is outside the subscriber’s hours',
  doNotDisturb: 'the subscriber wants no disturbance',
  frequency: 'the subscriber wants this workflow gathered',
}
const reasonOfHold = ({ data }: ToldDetail): string =>
  heldBy[String(data['by'])] ?? 'the subscriber wants to hear of it later'

/** Which notification goes on for this one. */
function mergedInto(data: Data): string {
  const notificationId = textIn(data, 'mergedIntoNotificationId')
  if (notificationId === undefined) return 'an earlier notification'
  const transactionId = textIn(data, 'mergedIntoTransactionId')
  return `notification ${notificationId}${transactionId === undefined ? '' : ` (transaction ${transactionId})`}`
}

const windowEnd = (data: Data): string => {
  const [closedAt, dueAt] = [textIn(data, 'windowClosedAt'), textIn(data, 'windowEndsAt')]
  if (closedAt !== undefined) return `, which went on at ${closedAt}`
  return dueAt === undefined ? '' : `, which goes on at ${dueAt}`
}

const throttleSentence: Sentence = ({ data }) =>
  `Skipped: the throttle had let ${data['executionCount']} of ${data['threshold']} runs through, and lets none through until ${data['throttledUntil']}.`

function throttlePassed({ data }: ToldDetail): string {
  const { executionCount, threshold, throttledUntil } = data
  if (executionCount === undefined) return `Let through: the throttle’s window had ended at ${throttledUntil}.`
  return `Let through: run ${executionCount} of ${threshold} that the throttle lets through until ${throttledUntil}.`
}

function suppressedSentence({ data, words }: ToldDetail): string {
  const one = textIn(data, 'address') === undefined ? [] : [data]
  const listed = [...one, ...(listIn(data, 'addresses') as readonly Data[])]
  const shown = listed.map(({ address, reason, since }) => `${address} (${reason}, since ${since})`).join('; ')
  const lead =
    words === undefined ? 'Skipped: on the suppression list' : 'Left out, as they are on the suppression list'
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

const captured = ({ isTest }: ToldDetail): string => (isTest === true ? ' It was kept instead of sent.' : '')
const receipt =
  (lead: string): Sentence =>
  (told) =>
    `${provider(told)} reported that it ${lead}${told.words === undefined ? '' : `: ${quoted(told.words)}`}.`

/** One for each code, so that none can be forgotten. */
const sentences: Readonly<Record<DetailCode, Sentence>> = {
  queued: always('Its turn came.'),
  providerSelected: (told) =>
    `${provider(told)} was chosen to send it${textIn(told.data, 'integrationIdentifier') === undefined ? '' : `, by the integration ${told.data['integrationIdentifier']}`}.`,
  messageCreated: ({ type }) => `The ${thingOf(type)} was made.`,
  messageSent: (told) =>
    told.type === 'in_app'
      ? 'Sent: the message is in the subscriber’s feed.'
      : `Sent: ${provider(told)} took the ${thingOf(told.type)}${textIn(told.data, 'id') === undefined ? '' : ` and calls it ${told.data['id']}`}.${captured(told)}`,
  providerError: (told) => `${provider(told)} did not take the ${thingOf(told.type)}${refusalOf(told.data)}.`,
  providerBusy: (told) => `${provider(told)} could not take the ${thingOf(told.type)} for now${said(told.data)}.`,
  perhapsSent: (told) =>
    `${provider(told)} did not say whether it took the ${thingOf(told.type)}${said(told.data)}: perhaps it was sent.`,
  retryScheduled: ({ type, data }) =>
    `The ${thingOf(type)} will be tried again${textIn(data, 'nextAttemptAt') === undefined ? '' : ` at ${data['nextAttemptAt']}`}.`,
  providerDown: (told) =>
    `The ${thingOf(told.type)} is held: ${provider(told)} has been down${textIn(told.data, 'downSince') === undefined ? '' : ` since ${told.data['downSince']}`}.`,
  leftUnsure: ({ type }) =>
    `It is unknown whether the ${thingOf(type)} was sent. It is not sent again, as a second one would do more harm.`,
  misconfigured: (told) =>
    `${provider(told)} refused our account${said(told.data)}: its credentials or settings are wrong.`,
  noIntegration: ({ type, data }) =>
    textIn(data, 'integrationIdentifier') === undefined
      ? `There is no active integration to send the ${thingOf(type)} by.`
      : `The integration ${data['integrationIdentifier']}, which was asked for, is not there or not active.`,
  noEmail: always('Skipped: the subscriber has no e-mail address.'),
  noPhone: (told) =>
    told.type === 'sms'
      ? 'Skipped: the subscriber has no phone number.'
      : `${provider(told)} was left out: the subscriber has no phone number.`,
  noChannel: always('Skipped: the subscriber has no chat account that an active integration could reach.'),
  noPushChannel: always('Skipped: the subscriber has no device that an active integration could reach.'),
  noWebhookUrl: (told) => `${provider(told)} was left out: the subscriber’s chat address is missing.`,
  payloadAddressIgnored: always(
    'The address in the payload was ignored: the integration has no payloadWebhookHosts, so that no payload chooses where messages go.',
  ),
  payloadAddressRefused: (told) =>
    `${provider(told)} was left out: the address in the payload is on none of the integration’s payloadWebhookHosts.`,
  someChatSkipped: always('Some of the subscriber’s chat accounts were left out.'),
  allChatFailed: always('None of the chat messages was taken.'),
  noDeviceTokens: (told) => `${provider(told)} was left out: the subscriber has no device tokens there.`,
  somePushSkipped: always('Some of the subscriber’s push accounts were left out.'),
  deviceTokenRemoved: (told) =>
    `${provider(told)} says that a device is gone: its token was removed from the subscriber.`,
  suppressed: suppressedSentence,
  contentFailed: broken('Failed: its content could not be made'),
  conditionsFailed: conditionsSentence,
  conditionsBroken: broken('Failed: its conditions could not be judged'),
  variantChosen: ({ data }) => `The variant ${data['variantId']} was chosen, whose conditions held.`,
  workflowPreference: preference('the workflow’s own preferences have'),
  tenantPreference: preference('the tenant’s override of the workflow has'),
  globalPreference: preference('the subscriber’s preferences for all workflows have'),
  subscriberPreference: preference('the subscriber’s preferences for this workflow have'),
  outsideSchedule: ({ data }) =>
    typeof data['opensAt'] === 'string'
      ? `Skipped: it is outside the subscriber’s hours, which begin again at ${data['opensAt']} (time zone ${data['timezone'] ?? 'UTC'}).`
      : `Skipped: it is outside the subscriber’s hours, which never begin (time zone ${data['timezone'] ?? 'UTC'}).`,
  scheduleExtended: (told) =>
    `Waits until ${untilOf(told)}: it would have ended outside the subscriber’s hours (put off ${times(told.data['scheduleExtensionsCount'])}).`,
  scheduleExtensionsMax: ({ data }) =>
    `It went on outside the subscriber’s hours, as it had been put off ${times(data['scheduleExtensionsCount'])}.`,
  held: (told) => `Held back until ${untilOf(told)}: ${reasonOfHold(told)}.`,
  heldMerged: (told) =>
    `Held back and told together with others by ${mergedInto(told.data)}${windowEnd(told.data)}: ${reasonOfHold(told)}.`,
  heldReleased: ({ data }) =>
    `What was held back was let go${typeof data['total_count'] === 'number' ? `, ${data['total_count']} in all` : ''}.`,
  webhookRetried: ({ data }) => `The service that its conditions ask gave no answer${said(data)}; it is asked again.`,
  webhookFailed: ({ data }) =>
    `Failed: the service that its conditions ask gave no answer, however often it was asked${said(data)}.`,
  throttled: throttleSentence,
  throttlePassed,
  throttlePast: broken('Failed: the end of the throttle’s window had passed'),
  throttleInvalid: broken('Failed: the throttle’s settings are wrong'),
  callStarted: ({ data }) => `Your service was called${textIn(data, 'url') === undefined ? '' : ` at ${data['url']}`}.`,
  callFinished: ({ data }) => `Your service answered${said(data)}.`,
  callBusy: ({ data }) =>
    `Your service gave no answer that could be used${said(data)} (call ${data['attempt']}); it is called again at ${data['nextAttemptAt']}.`,
  callFailed: ({ data }) =>
    `Failed: your service did not do it${said(data)}${typeof data['attempt'] === 'number' ? ` (call ${data['attempt']})` : ''}.`,
  layoutNotFound: ({ data }) => `The layout ${quoted(data['layoutId'])} is not there, so the default one was used.`,
  layoutSelected: ({ data }) => `The trigger chose the layout ${data['identifier'] ?? data['layoutId']}.`,
  replyCallbackMissing: always('Replies to it go nowhere: the step has no callback address.'),
  canceled: ({ data }) =>
    `Canceled: the ${textIn(data, 'notificationId') === undefined ? 'event' : 'notification'} was called off by request.`,
  workflowOff: always('Skipped: the tenant’s override switches the workflow off.'),
  delayed: (told) => `Waits until ${untilOf(told)}.`,
  delayFinished: always('The delay is over.'),
  delayInvalid: broken('Failed: the delay’s settings are wrong'),
  digested: (told) =>
    `Gathers events until ${untilOf(told)}${typeof told.data['windowEvents'] === 'number' ? `, ${told.data['windowEvents']} so far` : ''}.`,
  digestMerged: ({ data }) => `Merged into the digest of ${mergedInto(data)}${windowEnd(data)}.`,
  digestSkipped: always('Not gathered: it is the first event after a silence, and goes on at once.'),
  digestTriggered: ({ data }) => `The digest is over and gathered ${data['total_count'] ?? 'its'} events.`,
  digestInvalid: broken('Failed: the digest’s settings are wrong'),
  previousFailed: ({ data }) =>
    `Canceled: ${textIn(data, 'failedStep') ?? 'a step before it'} failed, and nothing was to run after that.`,
  severityOverridden: ({ data }) => `The event’s severity is ${data['severity']}, not the workflow’s.`,
  tenantSelected: ({ data }) => `The event is for the tenant ${data['identifier']}.`,
  buried: ({ data }) => `Failed by a fault of the service itself, and given up${said(data)}.`,
  subscriberGone: always('Canceled: the subscriber was deleted before the step ran.'),
  snoozed: always('The subscriber snoozed it.'),
  unsnoozed: always('It came back after it was snoozed.'),
  seen: always('The subscriber saw it.'),
  read: always('The subscriber read it.'),
  allPushFailed: always('None of the push messages was taken.'),
  receiptGood: receipt('arrived or went on'),
  receiptWaiting: receipt('could not deliver it yet'),
  receiptQueued: receipt('has it in its queue'),
  receiptFailed: receipt('was not delivered or not wanted'),
  receiptRead: receipt('was opened'),
  replyReceived: (told) => `A reply to it came by ${provider(told)}.`,
  replyCalled: always('The reply was handed to your callback address.'),
  replyFailed: ({ data }) => `The reply could not be handed to your callback address${said(data)}.`,
  replyDomainMissing: always('Replies to it go nowhere: no domain receives them.'),
  testLeftOut: always('Skipped: the test was asked for other steps only.'),
  testNotWaited: (told) => `Not waited for, as this is a test: a real run would have waited until ${untilOf(told)}.`,
  testNotThrottled: always('Let through: tests are neither counted nor held up by throttles.'),
  redriven: ({ data }) => `Redriven: what had failed is tried again, as the key ${data['by'] ?? 'of somebody'} asked.`,
  retracted: retractedSentence,
}

function retractedSentence({ type, data }: ToldDetail): string {
  const by = ` (key ${data['by'] ?? 'unknown'})`
  if (Number(data['removed'] ?? 0) > 0) return `Retracted: the message was taken out of the feed${by}.`
  if (Number(data['sent'] ?? 0) > 0)
    return `It was retracted too late${by}: the ${thingOf(type)} had been sent, and cannot be taken back.`
  return `Retracted${by}: nothing more of it is sent.`
}

const refusals: Readonly<Record<string, string>> = {
  'bad-recipient': 'the address is bad',
  'dead-token': 'the device is gone',
  'opted-out': 'the recipient opted out',
  'bad-content': 'the content was refused',
}

function refusalOf(data: Data): string {
  const reason = refusals[String(data['reason'])]
  return `${reason === undefined ? '' : `, as ${reason}`}${said(data)}`
}

export const sentenceOf = (code: DetailCode, told: ToldDetail): string => sentences[code](told)
