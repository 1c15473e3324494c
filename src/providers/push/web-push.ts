// Web push to browsers, through whichever push service each of them uses: encrypted, and signed with VAPID.
// https://www.rfc-editor.org/rfc/rfc8030
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, ofRecipient, refused, sent } from '../../domain/delivery/outcome.ts'
import type { Fields } from '../../domain/merged.ts'
import { merged } from '../../domain/merged.ts'
import type { PushMessage } from '../../domain/messages/outbound-message.ts'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import type { OutboundRequest, World } from '../../world/world.ts'
import { ofEmailAddress, secret, text } from '../form.ts'
import { outcomeOfFailure, outcomeOfStatus } from '../http-provider.ts'
import { withPassthrough } from '../passthrough.ts'
import { bad, good, provider, sendTimeoutMs } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf, retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { parsedJson, readingOf } from '../reading.ts'
import { filled, mistakeOfPush, pushSettings } from './push-message.ts'
import { mistakeOfPair, vapidHeader, vapidKeyOf } from './vapid.ts'
import type { BrowserKeys } from './web-push-encryption.ts'
import { browserKeysOf, encrypted, plainBytesMax } from './web-push-encryption.ts'

/** How long a push service keeps a message for a browser that is away; the large ones do not keep them longer. */
const defaultTtlSeconds = 28 * 86_400
/** A push service that asks for more is one of many. */
const waitMsMax = 60_000
const urgencies: readonly unknown[] = ['very-low', 'low', 'normal', 'high']
/** Settings that the push service reads; all others are for the page's service worker. */
const headerSettings = ['ttl', 'urgency', 'topic']

export const webPush = provider({
  id: 'web-push',
  channel: 'push',
  name: 'Web Push',
  docsUrl: 'https://www.rfc-editor.org/rfc/rfc8030',
  evidence: { source: 'vendor' },
  features: ['title', 'data', 'badge', 'image'],
  form: {
    apiKey: text('VAPID public key', {
      description:
        'The `applicationServerKey` for `pushManager.subscribe` in your pages. Device tokens are the resulting ' +
        'subscriptions as JSON: `{"endpoint":"…","keys":{"p256dh":"…","auth":"…"}}`.',
      placeholder: 'BNc…',
      mistake: (value) => (isPoint(value) ? undefined : 'must be a public key on P-256 in base64url, 65 bytes'),
    }),
    secretKey: secret('VAPID private key', {
      mistake: (value) =>
        vapidKeyOf(value) === undefined ? 'must be a private key on P-256 in base64url, 32 bytes' : undefined,
    }),
    from: text('Contact', {
      description: 'A contact for operators of push services: an e-mail address, or a web page.',
      placeholder: 'ops@example.com',
      mistake: ofContact,
    }),
  },
  recipientMembers: [],

  async send(world, message, account) {
    const mistake = mistakeOfPush(message)
    if (mistake !== undefined) return mistake
    const subscription = subscriptionOf(message.target)
    if (subscription === undefined) {
      return refused('bad-recipient', 'The device token must be a push subscription as JSON, with endpoint and keys')
    }
    // The caller's additions are a part of what is encrypted.
    const plain = withPassthrough(requestOf(message, subscription.endpoint), message.passthrough, [])
    if ('kind' in plain) return plain
    const authorization = vapidHeader(world, account, subscription.endpoint)
    if (typeof authorization !== 'string') return misconfigured(authorization.mistake)
    const request = encryptedRequest(plain, subscription.keys, authorization)
    if ('kind' in request) return request
    const answer = await posted(world, request, account)
    // The address is chosen by the subscriber: its response says nothing about the account.
    const outcome = ofRecipient('kind' in answer ? answer : outcomeOf(answer, message))
    return withoutSubscription(outcome, message.target)
  },

  async check(_world, account) {
    // There are as many push services as browsers, and none to ask without a subscription.
    const mistake = mistakeOfPair(account)
    return mistake === undefined ? good : bad(mistake, 'apiKey')
  },
})

const isPoint = (value: string): boolean => {
  const point = Buffer.from(value, 'base64url')
  return /^[\w+/=-]+$/.test(value) && point.length === 65 && point[0] === 4
}

function ofContact(value: string): string | undefined {
  if (/^https:\/\/[\x21-\x7e]+$/.test(value) && URL.canParse(value)) return undefined
  return ofEmailAddress(value.replace(/^mailto:/, '')) && 'must be an e-mail address or an https URL'
}

interface Subscription {
  readonly endpoint: URL
  readonly keys: BrowserKeys
}

function subscriptionOf(target: string): Subscription | undefined {
  const given = readingOf(parsedJson(target))
  const endpoint = given.string('endpoint') ?? ''
  const keys = browserKeysOf(given.string('keys.p256dh') ?? '', given.string('keys.auth') ?? '')
  if (keys === undefined || !URL.canParse(endpoint)) return undefined
  const url = new URL(endpoint)
  const isPlain = url.protocol === 'https:' && url.username === '' && url.password === ''
  return isPlain ? { endpoint: url, keys } : undefined
}

function requestOf(message: PushMessage, endpoint: URL): OutboundRequest {
  const { ttl, urgency, topic } = message.customData ?? {}
  const isTtl = /^\d{1,10}$/.test(String(ttl))
  return {
    url: endpoint.href,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ttl: isTtl ? String(ttl) : String(defaultTtlSeconds),
      ...(urgencies.includes(urgency) ? { urgency: String(urgency) } : {}),
      // A later message of the same topic replaces one that is still waiting.
      ...(typeof topic === 'string' && /^[\w-]{1,32}$/.test(topic) ? { topic } : {}),
    },
    body: JSON.stringify(contentOf(message)),
  }
}

/** What the page's service worker is given. */
function contentOf(message: PushMessage): Fields {
  const { id, title, content, payload } = message
  const own = filled({ title, body: content, data: payload })
  return { ...merged(own, pushSettings(message, headerSettings)), messageId: id }
}

function encryptedRequest(
  { headers, body = '', ...plain }: OutboundRequest,
  keys: BrowserKeys,
  authorization: string,
): OutboundRequest | Outcome {
  const content = Buffer.from(body)
  if (content.length > plainBytesMax) {
    return refused(
      'bad-content',
      `The message has ${content.length} bytes; push services accept at most ${plainBytesMax}`,
    )
  }
  try {
    return {
      ...plain,
      headers: {
        authorization,
        ...headers,
        'content-type': 'application/octet-stream',
        'content-encoding': 'aes128gcm',
      },
      body: encrypted(content, keys),
    }
  } catch {
    return refused('bad-recipient', 'The key of the subscription is not a public key on P-256')
  }
}

async function posted(world: World, request: OutboundRequest, account: object): Promise<ProviderAnswer | Outcome> {
  try {
    const options = { reach: 'guarded', isTheirs: true, timeoutMs: sendTimeoutMs, account } as const
    return answerOf(await world.fetch(request, options), world.now())
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    // The address is the subscriber's own: one that may not be called says nothing about our account.
    return error.kind === 'refused-address' ? refused('bad-recipient', error.message) : outcomeOfFailure(error)
  }
}

function outcomeOf(answer: ProviderAnswer, { id }: PushMessage): Outcome {
  const { status } = answer
  if (status >= 200 && status < 300) return sent(answer.headers.get('location') || id)
  const words = wordsOf('The push service', answer, 'message', 'reason', 'error')
  if (status === 404 || status === 410) return refused('dead-token', words)
  // A subscription that was created with another key pair, and valid for that one.
  if (answer.string('reason') === 'VapidPkHashMismatch') return refused('bad-recipient', words)
  if (status === 400 || status === 413) return refused('bad-content', words)
  // Only the address of the subscription can lead elsewhere.
  if (status >= 300 && status < 400) return refused('bad-recipient', words)
  // How Microsoft's service says that one browser gets too many.
  if (status === 406) return bounded(busy(words, retryAfterMsOf(answer)))
  return bounded(outcomeOfStatus(answer, words))
}

/** The address is chosen by the subscriber: what it reports must not stop this message for long. */
function bounded(outcome: Outcome): Outcome {
  if (outcome.kind !== 'busy') return outcome
  const { retryAfterMs } = outcome
  return retryAfterMs === undefined ? outcome : { ...outcome, retryAfterMs: Math.min(retryAfterMs, waitMsMax) }
}

/** A subscription's address and keys are its owner's secrets. */
function withoutSubscription(outcome: Outcome, target: string): Outcome {
  if (outcome.detail === undefined) return outcome
  const given = readingOf(parsedJson(target))
  const endpoint = given.string('endpoint') ?? ''
  const path = URL.canParse(endpoint) ? new URL(endpoint).pathname : ''
  const secrets = [target, endpoint, path, given.string('keys.p256dh') ?? '', given.string('keys.auth') ?? '']
  const redacted = secrets
    .filter(({ length }) => length > 5)
    .reduce((words, one) => words.replaceAll(one, '…'), outcome.detail)
  return { ...outcome, detail: redacted }
}
