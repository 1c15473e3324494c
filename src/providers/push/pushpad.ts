// Pushpad, web push for a site's own users: one request for all users with the same message.
// https://pushpad.xyz/docs/rest_api
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { Fields } from '../../domain/merged.ts'
import { merged } from '../../domain/merged.ts'
import type { PushMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { ofVisibleAscii, secret, text } from '../form.ts'
import { httpProvider, outcomeOfStatus } from '../http-provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { snakeCase } from './letter-case.ts'
import { contentKey, filled, mistakeOfPush, pushSettings } from './push-message.ts'

const api = 'https://pushpad.xyz/api/v1'
/** Pushpad names no limit; this many are safe, and more would gain little. */
const usersMax = 100
/** The pause if Pushpad states none. */
const quotaWaitMs = 60_000
const recipientMembers = ['uids', 'tags']

interface Item {
  readonly target: string
  readonly notification: Fields
}

export const pushpad = httpProvider({
  id: 'pushpad',
  channel: 'push',
  name: 'Pushpad',
  docsUrl: 'https://pushpad.xyz/docs/rest_api',
  evidence: {
    source: 'vendor',
    unsure: 'How many users one request may contain, the format of error responses, and the rate limits.',
  },
  features: ['title', 'data', 'image'],
  form: {
    apiKey: secret('Access token', { description: 'From the account’s settings.', mistake: ofTokenText }),
    applicationId: text('Project ID', {
      description: 'Device tokens are the uids by which the project knows its users.',
      placeholder: '123',
      mistake: (value) => (/^\d{1,18}$/.test(value) ? undefined : 'must be a project ID, which is a number'),
    }),
  },
  recipientMembers,

  request(message, account) {
    const item = itemOf(message)
    return 'kind' in item ? item : requestOf([item], account)
  },

  outcome: outcomeFor,

  batch: {
    max: usersMax,
    key: contentKey,
    item: itemOf,
    request: (items, account) => requestOf(items as readonly Item[], account),
    outcomes: (answer, messages) => messages.map((message) => outcomeFor(answer, message)),
  },

  probe: {
    request: (account) => ({ url: projectAddress(account), method: 'GET', headers: headersOf(account) }),
    result(answer) {
      if (answer.status === 200) return { kind: 'good' }
      const words = wordsOf('Pushpad', answer, 'error')
      if (answer.status === 401 || answer.status === 403) return { kind: 'bad', words, field: 'apiKey' }
      return answer.status === 404 ? { kind: 'bad', words, field: 'applicationId' } : { kind: 'bad', words }
    },
  },
})

interface Account {
  readonly apiKey: string
  readonly applicationId: string
}

/** It is quoted in a header. */
function ofTokenText(value: string): string | undefined {
  return value.includes('"') ? 'must not contain quotes' : ofVisibleAscii(value)
}

const projectAddress = ({ applicationId }: Account): string => `${api}/projects/${encodeURIComponent(applicationId)}`

const headersOf = ({ apiKey }: Account): Record<string, string> => ({
  authorization: `Token token="${apiKey}"`,
  accept: 'application/json',
})

function itemOf(message: PushMessage): Item | Outcome {
  const mistake = mistakeOfPush(message)
  if (mistake !== undefined) return mistake
  const { target, title, content, payload } = message
  const own = filled({
    // The body is required; if there is only a title, that is the body.
    body: content === '' ? title : content,
    title: content === '' ? '' : title,
    custom_data: Object.keys(payload).length === 0 ? '' : JSON.stringify(payload),
  })
  const settings = Object.entries(pushSettings(message, recipientMembers))
  const named = Object.fromEntries(settings.map(([name, value]) => [snakeCase(name), value]))
  return { target, notification: merged(own, named) }
}

function requestOf(items: readonly Item[], account: Account): OutboundRequest {
  return {
    url: `${projectAddress(account)}/notifications`,
    method: 'POST',
    headers: { ...headersOf(account), 'content-type': 'application/json' },
    // Without uids it would go to all users.
    body: JSON.stringify({ notification: items[0]?.notification, uids: items.map(({ target }) => target) }),
  }
}

/** What the answer to one request means for one of its users. */
function outcomeFor(answer: ProviderAnswer, { target }: PushMessage): Outcome {
  const { status } = answer
  const words = wordsOf('Pushpad', answer, 'error')
  if (status === 201) {
    const id = answer.id('id')
    if (id === undefined) return unsure('Pushpad answered 201 without the id of a notification')
    const isKnown = !Array.isArray(answer.value('uids')) || answer.list('uids').map(String).includes(target)
    // Whoever is not subscribed today may be tomorrow, under the same uid.
    return isKnown ? sent(id) : refused('bad-recipient', 'Pushpad has no subscription for this user')
  }
  if (status === 402 || status === 404) return misconfigured(words)
  if (status === 400 || status === 413 || status === 422) return refused('bad-content', words)
  if (status === 429) return busy(words, retryAfterMsOf(answer) ?? quotaWaitMs)
  return outcomeOfStatus(answer, words)
}
