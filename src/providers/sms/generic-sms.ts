// SMS by webhook: the message goes as JSON to an address of the customer, which sends it on.
// https://docs.novu.co/platform/integrations/sms/sms-webhook
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, misconfigured, sent } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import type { OutboundRequest, World } from '../../world/world.ts'
import { flag, ofVisibleAscii, optional, secret, text } from '../form.ts'
import type { HeldToken } from '../held-token.ts'
import { outcomeOfFailure, outcomeOfStatus } from '../http-provider.ts'
import { withPassthrough } from '../passthrough.ts'
import { bad, good, provider, sendTimeoutMs } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { checkWebhook, ofWebhookUrl } from '../webhook.ts'
import type { TokenSource } from './generic-sms-token.ts'
import { askTimeoutMs, askToken, forgetToken, tokenOf } from './generic-sms-token.ts'
import { mistakeOfSms, senderOf } from './sms-message.ts'

/** A send that has less time left is not started. */
const sendMsMin = 1_000
/** A shorter token is not a valuable secret, and redacting it would leave nothing readable. */
const struckOutLengthMin = 4
/** Headers that one of the account must not replace. */
const ownHeaders: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'host',
  'connection',
  'transfer-encoding',
  'idempotency-key',
])
/** Where receivers put the id, where no path was given. */
const usualIdPaths = ['data.id', 'id']
const recipientMembers = ['to']

interface Account {
  readonly baseUrl: string
  readonly apiKeyRequestHeader: string
  readonly apiKey: string
  readonly from: string
  readonly secretKeyRequestHeader?: string
  readonly secretKey?: string
  readonly idPath?: string
  readonly authenticateByToken?: boolean
  readonly domain?: string
  readonly authenticationTokenKey?: string
}

export const genericSms = provider({
  id: 'generic-sms',
  channel: 'sms',
  name: 'SMS Webhook',
  docsUrl: 'https://docs.novu.co/platform/integrations/sms/sms-webhook',
  evidence: {
    source: 'others',
    unsure: 'The processing of messages and the detection of repeats are up to the receiver.',
  },
  features: ['sender per message', 'Unicode', 'metadata'],
  form: {
    baseUrl: text('Address', {
      description: 'Receives each SMS as JSON. A private address must be listed in POSTHORN_OUTBOUND_ALLOW.',
      placeholder: 'https://sms.example.com/send',
      mistake: ofWebhookUrl,
    }),
    apiKeyRequestHeader: text('Header of the API key', { placeholder: 'X-API-KEY', mistake: ofHeaderName }),
    apiKey: secret('API key', { mistake: ofVisibleAscii }),
    from: text('From'),
    secretKeyRequestHeader: optional(
      text('Header of the secret key', { placeholder: 'X-SECRET-KEY', mistake: ofHeaderName }),
    ),
    secretKey: optional(secret('Secret key', { mistake: ofVisibleAscii })),
    idPath: optional(
      text('Path of the id', {
        description: 'The path of the message id in the JSON response. Default: `data.id` or `id`.',
        placeholder: 'data.id',
        mistake: ofPath,
      }),
    ),
    datePath: optional(
      text('Path of the date', {
        description: 'Kept for compatibility; Posthorn uses the time of the response.',
        placeholder: 'data.date',
        mistake: ofPath,
      }),
    ),
    authenticateByToken: flag('Exchange the keys for a token first'),
    domain: optional(
      text('Token URL', {
        description: 'The URL that exchanges the keys for a token, by a POST with the same headers.',
        mistake: ofWebhookUrl,
      }),
    ),
    authenticationTokenKey: optional(
      text('Name of the token', {
        description: 'The name of the token in `data` of the response, and of the header that carries it.',
        mistake: ofHeaderName,
      }),
    ),
  },

  recipientMembers,

  async send(world, message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const request = withPassthrough(requestOf(message, account), message.passthrough, recipientMembers)
    if ('kind' in request) return request
    if (account.authenticateByToken === true) return sentByToken(world, message, account, request)
    return outcomeFrom(await posted(world, account, request, sendTimeoutMs), message, account)
  },

  async check(world, account) {
    if (account.authenticateByToken !== true) {
      const result = await checkWebhook(world, account.baseUrl)
      return result.kind === 'bad' ? bad(result.words, 'baseUrl') : result
    }
    const source = sourceOf(account)
    if ('kind' in source) return bad(source.detail, 'domain')
    const granted = await askToken(world, source)
    if (!('kind' in granted)) return good
    return bad(granted.detail ?? '', granted.kind === 'misconfigured' ? 'apiKey' : 'domain')
  },
})

/** A cached token may have expired: then another is requested, once, since nothing was sent. */
async function sentByToken(
  world: World,
  message: SmsMessage,
  account: Account,
  request: OutboundRequest,
): Promise<Outcome> {
  const endsAtMs = world.now().getTime() + sendTimeoutMs
  const source = sourceOf(account)
  if ('kind' in source) return source
  const postedWith = ({ value }: HeldToken): Promise<ProviderAnswer | Outcome> => {
    const headers = { ...request.headers, [source.name.toLowerCase()]: value }
    return posted(world, account, { ...request, headers }, endsAtMs - world.now().getTime())
  }
  let token = await tokenOf(world, source)
  if ('kind' in token) return token
  let answer = await postedWith(token)
  if (isRefusedToken(answer)) {
    forgetToken(world, source, token)
    if (endsAtMs - world.now().getTime() < askTimeoutMs + sendMsMin)
      return busy('The token was rejected, and no time is left to get another')
    token = await tokenOf(world, source)
    if ('kind' in token) return token
    answer = await postedWith(token)
    if (isRefusedToken(answer)) forgetToken(world, source, token)
  }
  return withoutToken(outcomeFrom(answer, message, account), token)
}

const isRefusedToken = (answer: ProviderAnswer | Outcome): boolean => 'status' in answer && answer.status === 401

/** The receiver may repeat it, and no form marks it as a secret. */
function withoutToken(outcome: Outcome, { value }: HeldToken): Outcome {
  return outcome.detail === undefined || value.length < struckOutLengthMin
    ? outcome
    : { ...outcome, detail: outcome.detail.replaceAll(value, '[redacted]') }
}

function sourceOf(account: Account): TokenSource | Extract<Outcome, { kind: 'misconfigured' }> {
  const { domain, authenticationTokenKey } = account
  if (domain === undefined || authenticationTokenKey === undefined) {
    return {
      kind: 'misconfigured',
      detail: 'A token is required: set credentials.domain and credentials.authenticationTokenKey',
    }
  }
  return { url: domain, name: authenticationTokenKey, headers: keyHeaders(account) }
}

function keyHeaders(account: Account): Record<string, string> {
  const { apiKeyRequestHeader, apiKey, secretKeyRequestHeader, secretKey } = account
  const hasSecret = secretKeyRequestHeader !== undefined && secretKey !== undefined
  return {
    [apiKeyRequestHeader.toLowerCase()]: apiKey,
    ...(hasSecret ? { [secretKeyRequestHeader.toLowerCase()]: secretKey } : {}),
  }
}

function requestOf(message: SmsMessage, account: Account): OutboundRequest {
  const { id, to, from, content, metadata } = message
  return {
    url: account.baseUrl,
    method: 'POST',
    headers: {
      ...keyHeaders(account),
      accept: 'application/json',
      'content-type': 'application/json',
      'idempotency-key': id,
    },
    body: JSON.stringify({
      ...settingsOf(message, ['id', 'to', 'from', 'sender', 'content', 'metadata']),
      id,
      to,
      from,
      sender: senderOf(message, account),
      content,
      metadata,
    }),
  }
}

async function posted(
  world: World,
  account: Account,
  request: OutboundRequest,
  timeoutMs: number,
): Promise<ProviderAnswer | Outcome> {
  if (timeoutMs < sendMsMin) return busy('Nothing was sent because it took too long to get a token')
  try {
    return answerOf(await world.fetch(request, { timeoutMs, account }), world.now())
  } catch (error) {
    if (error instanceof OutboundError) return outcomeOfFailure(error)
    throw error
  }
}

/** Any success counts; a response without an id gets ours. */
function outcomeFrom(answer: ProviderAnswer | Outcome, message: SmsMessage, { idPath }: Account): Outcome {
  if ('kind' in answer) return answer
  if (answer.status >= 200 && answer.status < 300) {
    const paths = idPath === undefined ? usualIdPaths : [idPath]
    return sent(paths.map((path) => answer.id(path)).find((id) => id !== undefined) ?? message.id)
  }
  const words = wordsOf('The webhook', answer, 'message', 'error.message', 'error')
  // The address is wrong, or accepts no POST: another integration may work.
  if (answer.status === 404 || answer.status === 405) return misconfigured(words)
  return outcomeOfStatus(answer, words)
}

function ofHeaderName(value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(value)) return 'must be a valid header name'
  return ownHeaders.has(value.toLowerCase()) ? 'must not be a header that every request already has' : undefined
}

function ofPath(value: string): string | undefined {
  return /^[\w-]+(\.[\w-]+)*$/.test(value) ? undefined : 'must be a path such as data.id'
}
