// Pusher Beams, publishing to authenticated users: one request for all users with the same message.
// https://pusher.com/docs/beams/reference/publish-api/
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
import { contentKey, filled, mistakeOfPush, pushSettings, texts } from './push-message.ts'
import { beamsReceipts } from './pusher-beams-receipts.ts'

/** The most that Beams accepts in one request. */
const usersMax = 1_000
const userIdLengthMax = 164
const recipientMembers = ['users', 'interests']
/** The platform-specific parts of a request. */
const platforms = ['apns', 'fcm', 'web'] as const

interface Item {
  readonly target: string
  readonly content: Fields
}

export const pusherBeams = httpProvider({
  id: 'pusher-beams',
  channel: 'push',
  name: 'Pusher Beams',
  docsUrl: 'https://pusher.com/docs/beams/reference/publish-api/',
  evidence: { source: 'vendor', unsure: 'The header and hash with which Beams signs its webhooks.' },
  features: ['title', 'data', 'badge', 'sound'],
  form: {
    instanceId: text('Instance ID', {
      description: 'Device tokens are the ids by which Beams knows your users.',
      placeholder: '9c83c1b2-77ac-49c5-94c2-bfc96f9bec49',
      // It becomes part of a host name.
      mistake: (value) => (isUuid(value) ? undefined : 'must be an instance ID, which is a UUID'),
    }),
    secretKey: secret('Secret key', { mistake: ofVisibleAscii }),
  },
  recipientMembers,

  request(message, account) {
    const item = itemOf(message)
    return 'kind' in item ? item : publishRequest(account, 'users', { users: [item.target], ...item.content })
  },

  outcome: outcomeOf,

  batch: {
    max: usersMax,
    key: contentKey,
    item: itemOf,
    request(items, account) {
      const all = items as readonly Item[]
      return publishRequest(account, 'users', { users: all.map(({ target }) => target), ...all[0]?.content })
    },
    outcomes: (answer, messages) => messages.map(() => outcomeOf(answer)),
  },

  probe: {
    // No user has this interest, so no one is notified; a request that Beams rejects might be rejected before it checks
    // the key.
    request: (account) =>
      publishRequest(account, 'interests', {
        interests: ['posthorn-credential-check'],
        web: { notification: { title: 'Check' } },
      }),
    result(answer) {
      if (answer.status === 200) return { kind: 'good' }
      const words = beamsWords(answer)
      if (answer.status === 401 || answer.status === 403) return { kind: 'bad', words, field: 'secretKey' }
      return answer.status === 404 ? { kind: 'bad', words, field: 'instanceId' } : { kind: 'bad', words }
    },
  },

  receipts: beamsReceipts,
})

function publishRequest(
  { instanceId, secretKey }: { readonly instanceId: string; readonly secretKey: string },
  to: 'users' | 'interests',
  body: object,
): OutboundRequest {
  if (!isUuid(instanceId)) throw new Error('the instance ID is not a UUID')
  return {
    url: `https://${instanceId}.pushnotifications.pusher.com/publish_api/v1/instances/${instanceId}/publishes/${to}`,
    method: 'POST',
    headers: { authorization: `Bearer ${secretKey}`, accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

function itemOf(message: PushMessage): Item | Outcome {
  const mistake = mistakeOfPush(message)
  if (mistake !== undefined) return mistake
  const { target } = message
  if (target.length > userIdLengthMax) {
    return refused('bad-recipient', `A user id has at most ${userIdLengthMax} characters`)
  }
  return { target, content: contentOf(message) }
}

function contentOf(message: PushMessage): Fields {
  const { title, content, payload } = message
  const settings = pushSettings(message, recipientMembers)
  const { badge, categoryId, sound, channelId, clickAction, color, icon, tag, ttl, webhookUrl } = settings
  const { aps: _aps, ...custom } = payload
  const own: Record<(typeof platforms)[number], Fields> = {
    apns: { aps: filled({ alert: filled({ title, body: content }), badge, category: categoryId, sound }), ...custom },
    fcm: filled({
      notification: filled({
        title,
        body: content,
        android_channel_id: channelId,
        click_action: clickAction,
        color,
        icon,
        sound,
        tag,
      }),
      data: texts(payload),
      time_to_live: ttl,
    }),
    web: filled({ notification: filled({ title, body: content, icon }), data: payload, time_to_live: ttl }),
  }
  const parts = platforms.map((name) => {
    const given = settings[name]
    return [name, isFields(given) ? merged(own[name], given) : own[name]] as const
  })
  return { ...Object.fromEntries(parts), ...(typeof webhookUrl === 'string' ? { webhookUrl } : {}) }
}

const beamsWords = (answer: ProviderAnswer): string => wordsOf('Pusher Beams', answer, 'description', 'error')

function outcomeOf(answer: ProviderAnswer): Outcome {
  const words = beamsWords(answer)
  if (answer.status === 200) {
    const id = answer.id('publishId')
    return id === undefined ? unsure('Pusher Beams answered 200 without the id of a publish') : sent(id)
  }
  if (answer.status === 404) return misconfigured(words)
  if ([400, 413, 422].includes(answer.status)) return refused('bad-content', words)
  return outcomeOfStatus(answer, words)
}
