// Expo's push service: up to a hundred messages per request, and receipts that must be polled.
// https://docs.expo.dev/push-notifications/sending-notifications/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, refused, unsure } from '../../domain/delivery/outcome.ts'
import type { Fields } from '../../domain/merged.ts'
import { merged } from '../../domain/merged.ts'
import type { PushMessage } from '../../domain/messages/outbound-message.ts'
import { nilId } from '../../domain/nil-id.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { OutboundRequest, World } from '../../world/world.ts'
import { ofVisibleAscii, secret } from '../form.ts'
import { withPassthrough } from '../passthrough.ts'
import { bad, good, provider, sendTimeoutMs, unreachable } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf } from '../provider-answer.ts'
import { withoutRecipient } from '../recipient-words.ts'
import { answered } from './answered.ts'
import { expoOutcomes, expoWords, projectsIn } from './expo-outcome.ts'
import { expoReceipts } from './expo-receipts.ts'
import { filled, mistakeOfPush, pushSettings } from './push-message.ts'

const api = 'https://exp.host/--/api/v2/push'
/** The most that Expo accepts in one request. */
const messagesMax = 100
/** A person may be waiting for the check. */
const checkTimeoutMs = 10_000
/** A request that has less time left is not started. */
const sendMsMin = 1_000
const recipientMembers = ['to']
/** No message has it, so asking for its receipt shows no more than whether we may ask. */
const nobodysReceipt = nilId

export const expo = provider({
  id: 'expo',
  channel: 'push',
  name: 'Expo Push',
  docsUrl: 'https://docs.expo.dev/push-notifications/sending-notifications/',
  evidence: {
    source: 'vendor',
    unsure: 'Whether Expo rejects an invalid access token during the check, which sends nothing.',
  },
  features: ['title', 'data', 'badge', 'sound', 'image'],
  limits: { perSecond: 600 },
  // As many as Expo's own client makes.
  concurrency: () => 6,
  form: {
    apiKey: secret('Access token', {
      description: 'Created in the settings of your Expo account, under Access tokens.',
      mistake: ofVisibleAscii,
    }),
  },
  recipientMembers,

  async send(world, message, account) {
    const mistake = mistakeOf(message)
    if (mistake !== undefined) return mistake
    const request = withPassthrough(sendRequest([message], account), message.passthrough, recipientMembers)
    if ('kind' in request) return request
    const answer = await answered(world, request, { timeoutMs: sendTimeoutMs, account })
    if ('kind' in answer) return answer
    return withoutRecipient(expoOutcomes(answer, 1)[0] ?? noTicket, message)
  },

  batching: {
    max: messagesMax,
    // What is added to a request applies to all of it; and Expo rejects a whole request for one invalid setting.
    key: ({ passthrough, customData }) => (passthrough === undefined ? JSON.stringify(customData ?? null) : undefined),
  },

  async sendMany(world, messages, account) {
    const mistakes = messages.map(mistakeOf)
    const good = messages.filter((_message, index) => mistakes[index] === undefined)
    const outcomes = good.length === 0 ? [] : await sentTogether(world, good, account)
    const remaining = outcomes.values()
    return mistakes.map((mistake) => mistake ?? remaining.next().value ?? noTicket)
  },

  polling: expoReceipts(`${api}/getReceipts`, headersOf),

  async check(world, account) {
    const request = jsonRequest(`${api}/getReceipts`, account, { ids: [nobodysReceipt] })
    try {
      const answer = answerOf(await world.fetch(request, { timeoutMs: checkTimeoutMs }), world.now())
      if (answer.status === 200 && answer.list('errors').length === 0) return good
      const isUnknown = answer.status === 401 || answer.status === 403
      return isUnknown ? bad(expoWords(answer), 'apiKey') : bad(expoWords(answer))
    } catch (error) {
      return unreachable(error)
    }
  },
})

interface Account {
  readonly apiKey: string
}

const noTicket = unsure('Expo did not report a result for the message')

function mistakeOf(message: PushMessage): Outcome | undefined {
  const isToken = /^Expo(nent)?PushToken\[[^\]]+\]$/i.test(message.target) || isUuid(message.target)
  if (message.target !== '' && !isToken) {
    return refused('dead-token', 'This is not a valid Expo push token, which looks like ExponentPushToken[…]')
  }
  return mistakeOfPush(message)
}

/** All in one request; and again, separately for each project, if the devices turn out to belong to several. */
async function sentTogether(world: World, messages: readonly PushMessage[], account: Account): Promise<Outcome[]> {
  const endsAtMs = world.now().getTime() + sendTimeoutMs
  const first = await postedTogether(world, messages, account, endsAtMs)
  const projects = 'kind' in first ? [] : projectsIn(first)
  if (projects.length === 0) return outcomesOf(first, messages)
  const byMessage = new Map<PushMessage, Outcome>()
  for (const tokens of projects) {
    const own = messages.filter(({ target }) => tokens.has(target))
    if (own.length === 0) continue
    const outcomes = outcomesOf(await postedTogether(world, own, account, endsAtMs), own)
    own.forEach((message, index) => void byMessage.set(message, outcomes[index] ?? noTicket))
  }
  const left = busy('Expo sent nothing because the devices belong to several projects')
  return messages.map((message) => byMessage.get(message) ?? left)
}

function outcomesOf(answer: ProviderAnswer | Outcome, messages: readonly PushMessage[]): Outcome[] {
  if ('kind' in answer) return messages.map(() => answer)
  const outcomes = expoOutcomes(answer, messages.length)
  return messages.map((message, index) => withoutRecipient(outcomes[index] ?? noTicket, message))
}

async function postedTogether(
  world: World,
  messages: readonly PushMessage[],
  account: Account,
  endsAtMs: number,
): Promise<ProviderAnswer | Outcome> {
  const timeoutMs = endsAtMs - world.now().getTime()
  if (timeoutMs < sendMsMin) return busy('The rest was not sent because Expo took too long')
  return answered(world, sendRequest(messages, account), { timeoutMs, account })
}

/** Always a list with lists of devices: then Expo answers with a list too. */
function sendRequest(messages: readonly PushMessage[], account: Account): OutboundRequest {
  return jsonRequest(`${api}/send`, account, messages.map(messageOf))
}

function messageOf(message: PushMessage): Fields {
  const { target, title, content, payload } = message
  const own = filled({ title, body: content, data: payload })
  return { to: [target], ...merged(own, pushSettings(message, recipientMembers)) }
}

function jsonRequest(url: string, account: Account, body: object): OutboundRequest {
  return { url, method: 'POST', headers: headersOf(account), body: JSON.stringify(body) }
}

function headersOf({ apiKey }: Account): Record<string, string> {
  return { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' }
}
