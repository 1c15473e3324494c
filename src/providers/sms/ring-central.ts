// RingCentral, "Create SMS Message", with an access token from a JWT credential.
// https://developers.ringcentral.com/api-reference/SMS/createSMSMessage

import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy } from '../../domain/delivery/outcome.ts'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import type { OutboundRequest, World } from '../../world/world.ts'
import { flag, ownBaseUrl, secret, text } from '../form.ts'
import type { HeldToken } from '../held-token.ts'
import { outcomeOfFailure } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { timestampOf } from '../inbound/inbound-body.ts'
import type { Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import { withPassthrough } from '../passthrough.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good, provider, sendTimeoutMs, unreachable } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { ringCentralOutcome } from './ring-central-outcome.ts'
import type { RingCentralAccount } from './ring-central-token.ts'
import {
  accessTokenOf,
  askAccessToken,
  askTimeoutMs,
  forgetAccessToken,
  hostOf,
  reachOf,
  wordsOfRefusal,
} from './ring-central-token.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'

/** A person may be waiting for the check. */
const checkTimeoutMs = 10_000
/** A send that has less time left is not started. */
const sendMsMin = 1_000
const recipientMembers = ['to']

const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([
  ['Queued', 'queued'],
  ['Sent', 'sent'],
  ['Delivered', 'delivered'],
  ['SendingFailed', 'failed'],
  ['DeliveryFailed', 'failed'],
])

export const ringCentral = provider({
  id: 'ring-central',
  channel: 'sms',
  name: 'RingCentral',
  docsUrl: 'https://developers.ringcentral.com/api-reference/SMS/createSMSMessage',
  evidence: { source: 'partly', unsure: 'Error codes are known from examples only.' },
  features: ['sender per message', 'Unicode'],
  limits: { contentCharactersMax: 1_000 },
  form: {
    clientId: text('Client ID'),
    secretKey: secret('Client secret'),
    token: secret('JWT', { description: 'A JWT credential of the sending user, from the developer console.' }),
    from: text('From number', {
      description: 'A number of the user’s extension that is allowed to send SMS.',
      placeholder: '+14155550100',
    }),
    secure: flag('Sandbox', { description: 'Sends through RingCentral’s sandbox.' }),
    baseUrl: ownBaseUrl('RingCentral'),
  },

  recipientMembers,

  async send(world, message, account) {
    const endsAtMs = world.now().getTime() + sendTimeoutMs
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const request = withPassthrough(
      {
        url: `${extensionOf(account)}/sms`,
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify({
          from: { phoneNumber: senderOf(message, account) },
          to: [{ phoneNumber: internationalOf(message.to) }],
          text: message.content,
          ...settingsOf(message, ['from', 'to', 'text']),
        }),
      },
      message.passthrough,
      recipientMembers,
    )
    if ('kind' in request) return request
    const answer = await asked(world, request, account, endsAtMs)
    return 'kind' in answer ? answer : ringCentralOutcome(answer, message)
  },

  check,

  polling: {
    // Reports would only say that something has changed, so each message would have to be queried all the same.
    firstAfterMs: 60_000,
    againAfterMs: 600_000,
    givesUpAfterMs: 86_400_000,
    max: 1,
    ask: polled,
  },
})

const extensionOf = (account: RingCentralAccount): string => `${hostOf(account)}/restapi/v1.0/account/~/extension/~`

/** With a token; with another one, if the first is no longer valid. The response, or an Outcome if there was none. */
async function asked(
  world: World,
  request: OutboundRequest,
  account: RingCentralAccount,
  endsAtMs: number,
): Promise<ProviderAnswer | Outcome> {
  const token = await accessTokenOf(world, account)
  if ('kind' in token) return token
  const answer = await called(world, request, account, token, endsAtMs)
  if ('kind' in answer || answer.status !== 401) return answer
  forgetAccessToken(world, account, token)
  if (endsAtMs - world.now().getTime() < askTimeoutMs + sendMsMin) {
    return busy('RingCentral rejected the access token, and no time is left to get another')
  }
  const fresh = await accessTokenOf(world, account)
  return 'kind' in fresh ? fresh : called(world, request, account, fresh, endsAtMs)
}

async function called(
  world: World,
  request: OutboundRequest,
  account: RingCentralAccount,
  token: HeldToken,
  endsAtMs: number,
): Promise<ProviderAnswer | Outcome> {
  const timeoutMs = endsAtMs - world.now().getTime()
  if (timeoutMs < sendMsMin) return busy('Nothing was sent because RingCentral took too long to grant an access token')
  try {
    const headers = { ...request.headers, authorization: `Bearer ${token.value}` }
    const answer = await world.fetch({ ...request, headers }, { timeoutMs, account, reach: reachOf(account) })
    // A token is a secret that the form does not know of.
    return answerOf({ ...answer, body: answer.body.replaceAll(token.value, '[redacted]') }, world.now())
  } catch (error) {
    if (error instanceof OutboundError) return outcomeOfFailure(error)
    throw error
  }
}

async function check(world: World, account: RingCentralAccount): Promise<CheckResult> {
  const endsAtMs = world.now().getTime() + checkTimeoutMs
  try {
    // Always a new one: the check is about the credentials.
    const granted = await askAccessToken(world, account, checkTimeoutMs)
    const value = granted.string('access_token')
    if (granted.status !== 200 || value === undefined || value === '') {
      const isRefused = [400, 401, 403].includes(granted.status)
      return bad(wordsOfRefusal(granted), isRefused ? 'token' : undefined)
    }
    const request = { url: extensionOf(account), method: 'GET', headers: { accept: 'application/json' } }
    const token = { value, endsAt: world.now() }
    const answer = await called(world, request, account, token, endsAtMs)
    if ('kind' in answer) return bad('detail' in answer ? (answer.detail ?? '') : '')
    return answer.status === 200 ? good : bad(wordsOf('RingCentral', answer, 'errors.0.message', 'message'))
  } catch (error) {
    return unreachable(error)
  }
}

async function polled(
  world: World,
  providerMessageIds: readonly string[],
  account: RingCentralAccount,
): Promise<readonly Receipt[] | undefined> {
  const receipts: Receipt[] = []
  for (const id of providerMessageIds) {
    const url = `${extensionOf(account)}/message-store/${encodeURIComponent(id)}`
    const request = { url, method: 'GET', headers: { accept: 'application/json' } }
    const answer = await asked(world, request, account, world.now().getTime() + checkTimeoutMs)
    if ('kind' in answer || (answer.status !== 200 && answer.status !== 404)) return undefined
    receipts.push(
      ...receiptOf({
        status: statuses.get(answer.string('messageStatus') ?? ''),
        providerMessageId: id,
        address: answer.string('to.0.phoneNumber'),
        at: timestampOf(answer.string('lastModifiedTime')),
        words: answer.string('deliveryErrorCode'),
        row: answer.value(''),
      }),
    )
  }
  return receipts
}
