// A push message as Firebase takes it, whether the caller's settings use the names of its protocol or of its libraries.
// https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused } from '../../domain/delivery/outcome.ts'
import type { Fields } from '../../domain/merged.ts'
import { isFields } from '../../domain/merged.ts'
import type { PushMessage } from '../../domain/messages/outbound-message.ts'
import { kebabCase, snakeCase } from './letter-case.ts'
import { texts } from './push-message.ts'

/** Of the caller's settings, those that are no part of the visible notification. */
const settings: ReadonlySet<string> = new Set([
  'type',
  'data',
  'android',
  'apns',
  'webPush',
  'webpush',
  'fcmOptions',
  'fcm_options',
  'deviceTokens',
  'integrationIdentifier',
])
/** Firebase rejects a message that has them in its data. */
const reservedKey = /^(from|message_type|google\..*|gcm\..*)$/

/**
 * Settings of the type `data` make a message the app itself shows: all of the payload, as texts, and no notification.
 * Otherwise the payload is not sent, and `data` contains what the settings name.
 */
export function fcmMessage(message: PushMessage): { readonly message: Fields } | Outcome {
  const given = message.customData ?? {}
  if (message.target === '') return refused('bad-recipient', 'The device token is empty')
  const named = objectOr(given['data'])
  const reserved = Object.keys(named).find((key) => reservedKey.test(key))
  if (reserved !== undefined) return refused('bad-content', `The data key "${reserved}" is reserved by Firebase`)
  const isData = given['type'] === 'data'
  const data = isData ? dataOf(message, named) : texts(named)
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !settings.has(name)))
  return {
    message: {
      token: message.target,
      ...(isData ? {} : { notification: notificationOf(message, rest) }),
      ...(Object.keys(data).length === 0 ? {} : { data }),
      ...part('android', given['android'], androidOf),
      ...part('apns', given['apns'], apnsOf),
      ...part('webpush', given['webpush'] ?? given['webPush'], webpushOf),
      ...part('fcm_options', given['fcm_options'] ?? given['fcmOptions'], snakeCased),
    },
  }
}

function notificationOf({ title, content }: PushMessage, rest: Fields): Fields {
  return withImage({
    ...(title === '' ? {} : { title }),
    ...(content === '' ? {} : { body: content }),
    ...rest,
  })
}

function dataOf({ title, content, payload }: PushMessage, named: Fields): Fields {
  // The payload was not written for Firebase: what it would reject is omitted.
  const fit = Object.fromEntries(Object.entries(payload).filter(([key]) => !reservedKey.test(key)))
  return { ...texts(fit), ...texts(named), title, body: content, message: content }
}

function part(name: string, given: unknown, written: (given: Fields) => Fields): Fields {
  return isFields(given) ? { [name]: written(given) } : {}
}

function androidOf(given: Fields): Fields {
  const { ttl, data, notification, ...rest } = given
  return {
    ...snakeCased(rest),
    // Firebase's libraries use milliseconds, its protocol a duration.
    ...(ttl === undefined ? {} : { ttl: typeof ttl === 'number' ? seconds(ttl) : ttl }),
    ...(isFields(data) ? { data: texts(data) } : {}),
    ...(isFields(notification) ? { notification: androidNotificationOf(notification) } : {}),
  }
}

function androidNotificationOf(given: Fields): Fields {
  const { priority, vibrateTimingsMillis, eventTimestamp, ...rest } = given
  return {
    ...withImage(snakeCased(rest)),
    ...(typeof priority === 'string' ? { notification_priority: `PRIORITY_${priority.toUpperCase()}` } : {}),
    ...(Array.isArray(vibrateTimingsMillis) ? { vibrate_timings: vibrateTimingsMillis.map(seconds) } : {}),
    ...(eventTimestamp === undefined ? {} : { event_time: eventTimestamp }),
  }
}

function apnsOf(given: Fields): Fields {
  const { headers, payload, fcmOptions, fcm_options: options = fcmOptions, ...rest } = given
  return {
    ...rest,
    ...(isFields(headers) ? { headers: texts(headers) } : {}),
    ...(isFields(payload)
      ? { payload: { ...payload, ...(isFields(payload['aps']) ? { aps: apsOf(payload['aps']) } : {}) } }
      : {}),
    ...(isFields(options) ? { fcm_options: withImage(snakeCased(options)) } : {}),
  }
}

function apsOf(given: Fields): Fields {
  const aps = renamed(given, kebabCase)
  const { alert } = aps
  const flagged = ['content-available', 'mutable-content'].flatMap((name) =>
    typeof aps[name] === 'boolean' ? [[name, aps[name] ? 1 : 0] as const] : [],
  )
  return { ...aps, ...Object.fromEntries(flagged), ...(isFields(alert) ? { alert: renamed(alert, kebabCase) } : {}) }
}

function webpushOf(given: Fields): Fields {
  const { headers, data, fcmOptions, fcm_options: options = fcmOptions, ...rest } = given
  return {
    ...rest,
    ...(isFields(headers) ? { headers: texts(headers) } : {}),
    ...(isFields(data) ? { data: texts(data) } : {}),
    ...(isFields(options) ? { fcm_options: snakeCased(options) } : {}),
  }
}

const objectOr = (value: unknown): Fields => (isFields(value) ? value : {})

const seconds = (ms: unknown): string => `${Number(ms) / 1000}s`

const renamed = (values: Fields, name: (given: string) => string): Fields =>
  Object.fromEntries(Object.entries(values).map(([given, value]) => [name(given), value]))

/** The options an object holds have such names too. */
function snakeCased(values: Fields): Fields {
  const inner = Object.entries(values).map(
    ([name, value]) => [name, isFields(value) ? snakeCased(value) : value] as const,
  )
  return renamed(Object.fromEntries(inner), snakeCase)
}

/** The picture has another name in Firebase's libraries. */
function withImage({ imageUrl, image_url: snaked = imageUrl, ...rest }: Fields): Fields {
  return snaked === undefined ? rest : { image: snaked, ...rest }
}
