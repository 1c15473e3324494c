// OneSignal, "Create notification": one request for all devices with the same message.
// https://documentation.onesignal.com/reference/push-notification
import { createHash } from 'node:crypto'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { Fields } from '../../domain/merged.ts'
import { isFields, merged } from '../../domain/merged.ts'
import type { PushMessage } from '../../domain/messages/outbound-message.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { ofVisibleAscii, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { contentKey, filled, mistakeOfPush, pushSettings } from './push-message.ts'

const api = 'https://api.onesignal.com/notifications'
/** What OneSignal's own library names; newer pages may allow more. */
const devicesMax = 2_000

/** The recipients (subscriptions, people, segments, filters), the app, and what identifies a repeat. */
const ownMembers = [
  'include_subscription_ids',
  'include_player_ids',
  'include_aliases',
  'include_external_user_ids',
  'include_email_tokens',
  'include_phone_numbers',
  'include_ios_tokens',
  'include_android_reg_ids',
  'include_amazon_reg_ids',
  'include_chrome_reg_ids',
  'include_chrome_web_reg_ids',
  'include_wp_wns_uris',
  'include_unsubscribed',
  'email_to',
  'included_segments',
  'excluded_segments',
  'filters',
  'target_channel',
  'channel_for_external_user_ids',
  'app_id',
  'idempotency_key',
  'external_id',
]
/** Settings by the names that all push vendors share, which OneSignal names differently. */
const sharedSettings = ['subtitle', 'sound', 'mutableContent', 'channelId', 'icon', 'categoryId', 'badge']

interface Item {
  readonly id: string
  readonly target: string
  readonly content: Fields
}

export const oneSignal = httpProvider({
  id: 'one-signal',
  channel: 'push',
  name: 'OneSignal',
  docsUrl: 'https://documentation.onesignal.com/reference/push-notification',
  evidence: {
    source: 'vendor',
    unsure:
      'How many devices one request may contain: 2,000 according to OneSignal’s library, more according to newer pages.',
  },
  features: ['title', 'data', 'badge', 'sound', 'image'],
  limits: { perSecond: 150 },
  form: {
    applicationId: text('App ID', {
      placeholder: '8250eaf6-1a58-489e-b136-7c74a864b434',
      mistake: (value) => (isUuid(value) ? undefined : 'must be an app ID, which is a UUID'),
    }),
    apiKey: secret('App API key', {
      description: 'The key of the app, from Settings, Keys & IDs. Device tokens are subscription ids or external ids.',
      placeholder: 'os_v2_app_…',
      mistake: ofVisibleAscii,
    }),
  },
  recipientMembers: ownMembers,

  request(message, account) {
    const item = itemOf(message)
    return 'kind' in item ? item : requestOf([item], account)
  },

  outcome: (answer, message) => outcomeFor(answer, message),

  batch: {
    max: devicesMax,
    key: (message) => {
      const key = contentKey(message)
      return key === undefined ? undefined : `${isUuid(message.target) ? 'subscription' : 'person'} ${key}`
    },
    item: itemOf,
    request: (items, account) => requestOf(items as readonly Item[], account),
    outcomes: (answer, messages) => messages.map((message) => outcomeFor(answer, message)),
  },

  probe: {
    request: ({ applicationId, apiKey }) => ({
      url: `${api}?app_id=${encodeURIComponent(applicationId)}&limit=1`,
      method: 'GET',
      headers: { authorization: `Key ${apiKey}`, accept: 'application/json' },
    }),
    field: 'apiKey',
    words: ['errors.0'],
  },
})

function itemOf(message: PushMessage): Item | Outcome {
  const mistake = mistakeOfPush(message)
  if (mistake !== undefined) return mistake
  const { id, target } = message
  return { id, target, content: contentOf(message) }
}

function requestOf(items: readonly Item[], account: { applicationId: string; apiKey: string }): OutboundRequest {
  const targets = items.map(({ target }) => target)
  const [first] = items
  return {
    url: api,
    method: 'POST',
    headers: {
      authorization: `Key ${account.apiKey}`,
      accept: 'application/json',
      'content-type': 'application/json; charset=utf-8',
    },
    body: JSON.stringify({
      app_id: account.applicationId,
      ...(isUuid(first?.target ?? '')
        ? { include_subscription_ids: targets }
        : { include_aliases: { external_id: targets }, target_channel: 'push' }),
      ...first?.content,
      idempotency_key: keyOf(items.map(({ id }) => id)),
    }),
  }
}

/** A message's own id if it goes alone; otherwise that of the whole group, whatever its order. */
function keyOf(ids: readonly string[]): string {
  const [only, ...others] = ids
  if (only !== undefined && others.length === 0 && isUuid(only)) return only
  const hash = createHash('sha256').update(ids.toSorted().join(' ')).digest()
  // A UUID of version 8 holds arbitrary bits, except for the six that mark it as one.
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8)
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function contentOf(message: PushMessage): Fields {
  const { title, content, payload, customData = {} } = message
  const { subtitle, sound, mutableContent, channelId, icon, categoryId, badge } = customData
  const own = filled({
    headings: inEnglish(title),
    // English is required; if there is only a title, that is the content.
    contents: inEnglish(content === '' ? title : content),
    subtitle: typeof subtitle === 'string' ? inEnglish(subtitle) : subtitle,
    data: payload,
    ios_badgeType: badge === undefined ? 'Increase' : 'SetTo',
    ios_badgeCount: badge ?? 1,
    ios_sound: sound,
    android_sound: sound,
    mutable_content: mutableContent,
    android_channel_id: channelId,
    small_icon: icon,
    large_icon: icon,
    chrome_icon: icon,
    firefox_icon: icon,
    ios_category: categoryId,
  })
  return merged(own, pushSettings(message, [...ownMembers, ...sharedSettings]))
}

const inEnglish = (words: string): Fields => filled({ en: words })

/** What the answer to one request means for one of its devices. */
function outcomeFor(answer: ProviderAnswer, { target }: PushMessage): Outcome {
  const words = wordsOf('OneSignal', answer, 'errors.0')
  if (answer.status === 200) {
    const lists = ['invalid_player_ids', 'invalid_subscription_ids'].flatMap((name) => answer.list(`errors.${name}`))
    if (lists.includes(target)) return refused('dead-token', 'OneSignal does not know this subscription')
    const people = [answer.list('errors.invalid_aliases.external_id'), answer.list('errors.invalid_external_user_ids')]
    // The app's own id, which OneSignal may know tomorrow: not permanently gone.
    if (people.flat().includes(target)) return refused('bad-recipient', 'OneSignal does not know this external id')
    const id = answer.id('id')
    if (id !== undefined) return sent(id)
    const errorText = answer.string('errors.0') ?? ''
    if (/not subscribed/i.test(errorText)) return refused('opted-out', words)
    // Errors and no id: nothing was created.
    const hasErrors = errorText !== '' || isFields(answer.value('errors'))
    return hasErrors ? refused('other', words) : unsure(words)
  }
  if (answer.status === 400 && /app_id/i.test(answer.string('errors.0') ?? '')) return misconfigured(words)
  if (answer.status === 400 || answer.status === 413) return refused('bad-content', words)
  return outcomeOfStatus(answer, words)
}
