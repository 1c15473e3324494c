// Apple Push Notification service: one device per request, many requests at once over one HTTP/2 connection.
// https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { misconfigured, refused } from '../../domain/delivery/outcome.ts'
import { http2CallsMax } from '../../world/outbound/outbound-http2-pool.ts'
import type { OutboundRequest, World } from '../../world/world.ts'
import { flag, secret, text } from '../form.ts'
import { ofAnswer } from '../http-provider.ts'
import { withPassthrough } from '../passthrough.ts'
import { bad, good, provider, sendTimeoutMs, unreachable } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf } from '../provider-answer.ts'
import { withoutRecipient } from '../recipient-words.ts'
import { answered } from './answered.ts'
import { apnsMessage, beyondPayload } from './apns-message.ts'
import { apnsOutcome, apnsWords, isExpiredToken } from './apns-outcome.ts'
import type { ApnsKey } from './apns-token.ts'
import { apnsTokenOf } from './apns-token.ts'
import { p256KeyOf } from './ec-key.ts'

const hosts = { production: 'https://api.push.apple.com', sandbox: 'https://api.sandbox.push.apple.com' }
/** A person may be waiting for the check. */
const checkTimeoutMs = 10_000
/** A repeat that has less time left is not started. */
const sendMsMin = 1_000
/** No device has it: Apple rejects it only after accepting our key and our topic. */
const nobodysToken = '0'.repeat(64)

const noKey = 'credentials.secretKey must be an Apple key in PEM (an EC key on P-256)'
const ofAppleId = (what: string) => (value: string) =>
  /^[A-Z0-9]{10}$/.test(value) ? undefined : `must be the ${what}: ten capital letters and digits`

export const apns = provider({
  id: 'apns',
  channel: 'push',
  name: 'Apple Push Notification service',
  docsUrl: 'https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns',
  evidence: {
    source: 'vendor',
    unsure: 'The exact meaning of Apple’s newest reasons about key ids; they count as a misconfigured account.',
  },
  features: ['title', 'data', 'badge', 'sound'],
  concurrency: () => http2CallsMax,
  form: {
    secretKey: secret('Key (.p8)', {
      description: 'The full content of the key file from Apple Developer.',
      placeholder: '-----BEGIN PRIVATE KEY-----…',
      mistake: (pem) => (p256KeyOf(pem) === undefined ? 'must be an EC key on P-256 in PEM' : undefined),
    }),
    apiKey: text('Key ID', { placeholder: 'ABC1234DEF', mistake: ofAppleId('key ID') }),
    projectName: text('Team ID', { placeholder: 'DEF1234GHI', mistake: ofAppleId('team ID') }),
    applicationId: text('Bundle ID', {
      placeholder: 'com.example.app',
      mistake: (value) =>
        /^[A-Za-z0-9.-]{1,155}$/.test(value) ? undefined : 'must be a bundle ID such as com.example.app',
    }),
    secure: flag('Production', { description: 'Off uses Apple’s sandbox, for apps in development.' }),
  },
  recipientMembers: [],

  async send(world, message, account) {
    const device = message.target.replaceAll(/[<>\s]/g, '')
    if (device === '') return refused('bad-recipient', 'The device token is empty')
    const made = apnsMessage(message, account.applicationId)
    if ('kind' in made) return made
    const request = withPassthrough(
      {
        url: deviceAddress(account, device),
        method: 'POST',
        headers: { ...made.headers, 'content-type': 'application/json' },
        body: JSON.stringify(made.body),
      },
      message.passthrough,
      [],
    )
    if ('kind' in request) return request
    const beyond = beyondPayload(String(request.body), made.headers['apns-push-type'])
    if (beyond !== undefined) return beyond
    const answer = await postedOnce(world, request, account)
    return 'kind' in answer ? answer : withoutRecipient(ofAnswer(answer, apnsOutcome(answer, message)), message)
  },

  async check(world, account) {
    const token = apnsTokenOf(world, account)
    if (token === undefined) return bad(noKey, 'secretKey')
    const request = {
      url: deviceAddress(account, nobodysToken),
      method: 'POST',
      headers: {
        authorization: `bearer ${token}`,
        'apns-topic': account.applicationId,
        'apns-push-type': 'alert',
        'content-type': 'application/json',
      },
      body: '{"aps":{"alert":"Check"}}',
    }
    try {
      const options = { timeoutMs: checkTimeoutMs, account, http2: true }
      const answer = answerOf(await world.fetch(request, options), world.now())
      const reason = answer.string('reason') ?? ''
      if (reason === 'BadDeviceToken') return good
      if (/Topic/.test(reason)) return bad(apnsWords(answer), 'applicationId')
      return answer.status === 403 ? bad(apnsWords(answer), 'secretKey') : bad(apnsWords(answer))
    } catch (error) {
      return unreachable(error)
    }
  },
})

interface Account extends ApnsKey {
  readonly secure?: boolean
}

const deviceAddress = ({ secure }: Account, device: string): string =>
  `${secure === true ? hosts.production : hosts.sandbox}/3/device/${encodeURIComponent(device)}`

/** Once more with a new token, if Apple says that ours expired: then it is certain that nothing was sent. */
async function postedOnce(world: World, request: OutboundRequest, account: Account): Promise<ProviderAnswer | Outcome> {
  const endsAtMs = world.now().getTime() + sendTimeoutMs
  const token = apnsTokenOf(world, account)
  if (token === undefined) return misconfigured(noKey)
  const answer = await posted(world, request, { token, account, timeoutMs: sendTimeoutMs })
  if ('kind' in answer || !isExpiredToken(answer)) return answer
  const fresh = apnsTokenOf(world, account, token)
  const timeoutMs = endsAtMs - world.now().getTime()
  if (fresh === undefined || fresh === token || timeoutMs < sendMsMin) return answer
  return posted(world, request, { token: fresh, account, timeoutMs })
}

function posted(
  world: World,
  request: OutboundRequest,
  { token, account, timeoutMs }: { readonly token: string; readonly account: Account; readonly timeoutMs: number },
): Promise<ProviderAnswer | Outcome> {
  const headers = { authorization: `bearer ${token}`, ...request.headers }
  return answered(world, { ...request, headers }, { timeoutMs, account, http2: true })
}
