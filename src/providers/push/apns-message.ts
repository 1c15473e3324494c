// A push message as Apple takes it, whether the caller's settings use the names of its protocol or of Node libraries.
// https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused } from '../../domain/delivery/outcome.ts'
import type { Fields } from '../../domain/merged.ts'
import { isFields, merged } from '../../domain/merged.ts'
import type { PushMessage } from '../../domain/messages/outbound-message.ts'
import { kebabCase } from './letter-case.ts'
import { filled, pushSettings } from './push-message.ts'

/** What Apple accepts in a payload; calls may have a little more. */
const payloadBytesMax = 4_096
const callPayloadBytesMax = 5_120

/** Settings that are part of the visible text, by their names in the protocol. */
const alertMembers: ReadonlySet<string> = new Set([
  'title',
  'subtitle',
  'body',
  'title-loc-key',
  'title-loc-args',
  'subtitle-loc-key',
  'subtitle-loc-args',
  'loc-key',
  'loc-args',
  'action',
  'action-loc-key',
  'launch-image',
])
const headerSettings = ['topic', 'expiry', 'priority', 'pushType', 'collapseId']
/** The id is ours, and the rest is decided elsewhere. */
const ownSettings = ['id', 'notificationIdentifiers', 'alert', 'aps', 'payload', ...headerSettings]

export interface ApnsMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Fields
}

export function apnsMessage(message: PushMessage, topic: string): ApnsMessage | Outcome {
  const aps = apsOf(message)
  if (Object.keys(aps).length === 0) return refused('bad-content', 'The message has no content')
  const { aps: _aps, ...custom } = customOf(message)
  const headers = headersOf(message, aps, topic)
  const strange = Object.entries(headers).find(([, value]) => !/^[\x20-\x7e]{1,300}$/.test(value))
  if (strange !== undefined) return refused('bad-content', `${strange[0]} must be a short ASCII string`)
  return { headers, body: { ...custom, aps } }
}

/** Of the whole body, after whatever a passthrough added to it. */
export function beyondPayload(body: string, pushType: string | undefined): Outcome | undefined {
  const max = pushType === 'voip' ? callPayloadBytesMax : payloadBytesMax
  const bytes = Buffer.byteLength(body)
  return bytes <= max
    ? undefined
    : refused('bad-content', `The message has ${bytes} bytes; Apple accepts at most ${max}`)
}

function customOf({ payload, customData = {} }: PushMessage): Fields {
  const given = customData['payload']
  return isFields(given) ? given : payload
}

function apsOf(message: PushMessage): Fields {
  const { title, content, customData = {} } = message
  const settings = Object.entries(pushSettings(message, ownSettings)).map(([name, value]) => [kebabCase(name), value])
  const isAlert = ([name]: unknown[]): boolean => alertMembers.has(String(name))
  const { alert: givenAlert, aps: givenAps } = customData
  const own = filled({ title, body: content })
  const alert =
    typeof givenAlert === 'string'
      ? givenAlert
      : filled({
          ...own,
          ...Object.fromEntries(settings.filter(isAlert)),
          ...(isFields(givenAlert) ? kebabCased(givenAlert) : {}),
        })
  const others = Object.fromEntries(
    settings.filter((one) => !isAlert(one)).map(([name, value]) => [name, asFlag(value)]),
  )
  return merged(filled({ alert, ...others }), isFields(givenAps) ? givenAps : {})
}

function headersOf({ id, customData = {} }: PushMessage, aps: Fields, topic: string): Record<string, string> {
  const { pushType, priority, expiry, collapseId, topic: ownTopic } = customData
  const isSilent = aps['content-available'] === 1 && !['alert', 'badge', 'sound'].some((name) => name in aps)
  const type = textOr(pushType, isSilent ? 'background' : 'alert')
  return {
    'apns-topic': textOr(ownTopic, topic),
    'apns-push-type': type,
    'apns-priority': textOr(priority, type === 'background' ? '5' : '10'),
    ...(isTimestamp(expiry) ? { 'apns-expiration': String(expiry) } : {}),
    'apns-id': id,
    // A repeat replaces what the device already shows.
    ...(type === 'alert' || collapseId !== undefined ? { 'apns-collapse-id': textOr(collapseId, id) } : {}),
  }
}

/** Unix time in seconds; 0 means now or never. */
const isTimestamp = (value: unknown): boolean => /^\d{1,12}$/.test(String(value))

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise

/** Apple encodes flags as 1. */
const asFlag = (value: unknown): unknown => (typeof value === 'boolean' ? Number(value) : value)

const kebabCased = (values: Fields): Fields =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [kebabCase(name), value]))
