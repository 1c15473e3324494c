// Firebase Cloud Messaging, the HTTP v1 API.
// https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured } from '../../domain/delivery/outcome.ts'
import { http2CallsMax } from '../../world/outbound/outbound-http2-pool.ts'
import type { OutboundRequest, World } from '../../world/world.ts'
import { secret } from '../form.ts'
import { ofAnswer } from '../http-provider.ts'
import { withPassthrough } from '../passthrough.ts'
import { bad, good, provider, sendTimeoutMs, unreachable } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf, wordsOf } from '../provider-answer.ts'
import { withoutRecipient } from '../recipient-words.ts'
import type { AccessToken } from './access-token.ts'
import { accessTokenOf, forgetAccessToken, heldAccount } from './access-token.ts'
import { answered } from './answered.ts'
import { fcmMessage } from './fcm-message.ts'
import { fcmOutcome, isStaleToken } from './fcm-outcome.ts'
import type { ServiceAccount } from './service-account.ts'
import { askAccessToken, readServiceAccount } from './service-account.ts'

const contentType = 'application/json; charset=utf-8'
/** A person may be waiting for the check. */
const checkTimeoutMs = 10_000
/** A send that has less time left is not started. */
const sendMsMin = 1_000
const recipientMembers = ['message.token', 'message.fid', 'message.topic', 'message.condition']

export const fcm = provider({
  id: 'fcm',
  channel: 'push',
  name: 'Firebase Cloud Messaging',
  docsUrl: 'https://firebase.google.com/docs/cloud-messaging',
  evidence: {
    source: 'vendor',
    unsure: 'Whether newly issued Firebase installation ids must be sent as `fid`; every token is sent as `token`.',
  },
  features: ['title', 'data', 'badge', 'sound', 'image'],
  concurrency: () => http2CallsMax,
  form: {
    serviceAccount: secret('Service account', {
      description: 'The whole key file of a service account, as JSON.',
      placeholder: '{"type":"service_account","project_id":"…","client_email":"…","private_key":"…"}',
      mistake: (file) => {
        const account = readServiceAccount(file)
        return 'mistake' in account ? account.mistake : undefined
      },
    }),
  },

  recipientMembers,

  async send(world, message, credentials) {
    const { serviceAccount } = credentials
    const endsAtMs = world.now().getTime() + sendTimeoutMs
    const held = heldAccount(world, serviceAccount)
    if ('mistake' in held) return misconfigured(`credentials.serviceAccount ${held.mistake}`)
    const content = fcmMessage(message)
    if ('kind' in content) return content
    const request = withPassthrough(
      {
        url: sendAddress(held.account),
        method: 'POST',
        headers: { 'content-type': contentType },
        body: JSON.stringify(content),
      },
      message.passthrough,
      recipientMembers,
    )
    if ('kind' in request) return request
    const token = await accessTokenOf(world, held)
    if ('kind' in token) return token
    let answer = await posted(world, request, token, { endsAtMs, credentials })
    if ('string' in answer && isStaleToken(answer)) {
      forgetAccessToken(held, token)
      const fresh = await accessTokenOf(world, held)
      if ('kind' in fresh) return fresh
      answer = await posted(world, request, fresh, { endsAtMs, credentials })
    }
    return 'kind' in answer ? answer : withoutRecipient(ofAnswer(answer, fcmOutcome(answer)), message)
  },

  async check(world, credentials) {
    const { serviceAccount } = credentials
    const account = readServiceAccount(serviceAccount)
    if ('mistake' in account) return bad(account.mistake, 'serviceAccount')
    try {
      const granted = await askAccessToken(world, account, checkTimeoutMs)
      const accessToken = granted.string('access_token')
      if (granted.status !== 200 || accessToken === undefined) {
        return bad(wordsOf('Google', granted, 'error_description', 'error'), 'serviceAccount')
      }
      // Validated by Firebase and not sent.
      const request = new Request(sendAddress(account), {
        method: 'POST',
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': contentType },
        body: JSON.stringify({ message: { topic: 'credential-check' }, validate_only: true }),
      })
      const answer = answerOf(
        await world.fetch(request, { timeoutMs: checkTimeoutMs, account: credentials, http2: true }),
      )
      return answer.status === 200 ? good : bad(wordsOf('Firebase', answer, 'error.message'), 'serviceAccount')
    } catch (error) {
      return unreachable(error)
    }
  },
})

const sendAddress = ({ projectId }: ServiceAccount): string =>
  `https://fcm.googleapis.com/v1/projects/${encodeURIComponent(projectId)}/messages:send`

async function posted(
  world: World,
  request: OutboundRequest,
  token: AccessToken,
  { endsAtMs, credentials }: { readonly endsAtMs: number; readonly credentials: object },
): Promise<ProviderAnswer | Outcome> {
  const timeoutMs = endsAtMs - world.now().getTime()
  if (timeoutMs < sendMsMin) return busy('Nothing was sent because Google took too long to grant an access token')
  const headers = { ...request.headers, authorization: `Bearer ${token.value}` }
  return answered(world, { ...request, headers }, { timeoutMs, account: credentials, http2: true })
}
