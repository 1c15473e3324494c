// Twilio Programmable Messaging, "Create a Message".
// https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource
import { refused } from '../../domain/delivery/outcome.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { baseAddress, optional, ownBaseUrl, secret, text } from '../form.ts'
import { httpProvider } from '../http-provider.ts'
import type { CheckResult } from '../provider.ts'
import { bad, good } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { wordsOf } from '../provider-answer.ts'
import { basicAuth } from '../signing/signing.ts'
import { signedStatusCallback } from './status-callback.ts'
import { twilioOutcome } from './twilio-outcome.ts'
import { twilioReceipts } from './twilio-receipts.ts'

/** What the message and the account determine, in lower case; settings cannot change it, however they spell it. */
const ownParameters: ReadonlySet<string> = new Set(['to', 'from', 'messagingservicesid', 'body'])

export const twilio = httpProvider({
  id: 'twilio',
  channel: 'sms',
  name: 'Twilio',
  docsUrl: 'https://www.twilio.com/docs/messaging/api/message-resource',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode', 'media', 'templates'],
  limits: { contentCharactersMax: 1_600 },
  form: {
    accountSid: text('Account SID', {
      placeholder: 'AC…',
      mistake: (value) => (/^AC\w+$/.test(value) ? undefined : 'must be an account SID, which begins with AC'),
    }),
    token: secret('Auth token'),
    from: text('From', {
      description: 'A number in E.164, a sender name, or a Messaging Service SID (MG…).',
      placeholder: '+14155550100',
    }),
    messageProfileId: optional(
      text('Messaging Service SID', {
        placeholder: 'MG…',
        mistake: (value) =>
          /^MG\w+$/.test(value) ? undefined : 'must be a Messaging Service SID, which begins with MG',
      }),
    ),
    apiKey: optional(
      text('API key SID', { description: 'Used with its secret instead of the auth token.', placeholder: 'SK…' }),
    ),
    secretKey: optional(secret('API key secret')),
    webhookUrl: signedStatusCallback('Twilio'),
    region: optional(
      text('Region', {
        description: 'A region, or an edge and a region: `ie1`, `dublin.ie1`.',
        mistake: (value) =>
          /^[a-z0-9-]+(\.[a-z0-9-]+)?$/.test(value) ? undefined : 'must be a region such as ie1 or dublin.ie1',
      }),
    ),
    baseUrl: ownBaseUrl('Twilio'),
  },

  recipientMembers: ['To'],

  request(message, account) {
    if (message.to === '') return refused('bad-recipient', 'The message has no phone number')
    const parameters = parametersOf(message, account)
    if (!['Body', 'MediaUrl', 'ContentSid'].some((name) => parameters.has(name))) {
      return refused('bad-content', 'The message has no content')
    }
    const { accountSid, token, apiKey, secretKey } = account
    const hasKey = apiKey !== undefined && secretKey !== undefined
    return {
      url: `${accountAddress(account)}/Messages.json`,
      method: 'POST',
      headers: {
        authorization: hasKey ? basicAuth(apiKey, secretKey) : basicAuth(accountSid, token),
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: parameters.toString(),
    }
  },

  outcome: twilioOutcome,

  probe: {
    // Always by the auth token: an ordinary API key may not read the account, however valid it is.
    request: (account) => ({
      url: `${accountAddress(account)}.json`,
      method: 'GET',
      headers: { authorization: basicAuth(account.accountSid, account.token), accept: 'application/json' },
    }),
    result: accountState,
  },

  receipts: twilioReceipts,
})

function accountState(answer: ProviderAnswer): CheckResult {
  const words = wordsOf('Twilio', answer, 'message')
  if (answer.status === 401) return bad(words, 'token')
  if (answer.status === 404) return bad(words, 'accountSid')
  if (answer.status !== 200) return bad(words)
  const state = answer.string('status')
  return state === 'active' ? good : bad(`The Twilio account is ${state ?? 'in an unknown state'}`, 'accountSid')
}

interface Account {
  readonly accountSid: string
  readonly from: string
  readonly messageProfileId?: string | undefined
  readonly region?: string | undefined
  readonly baseUrl?: string | undefined
  readonly webhookUrl?: string | undefined
}

function accountAddress({ accountSid, region, baseUrl }: Account): string {
  const own = region === undefined ? 'https://api.twilio.com' : `https://api.${region}.twilio.com`
  const origin = baseUrl === undefined ? own : baseAddress(baseUrl)
  return `${origin}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}`
}

function parametersOf(message: SmsMessage, account: Account): URLSearchParams {
  const sender = message.from ?? account.messageProfileId ?? account.from
  const parameters = new URLSearchParams({
    To: message.to,
    [sender.startsWith('MG') ? 'MessagingServiceSid' : 'From']: sender,
  })
  if (message.content !== '') parameters.set('Body', message.content)
  if (account.webhookUrl !== undefined) parameters.set('StatusCallback', account.webhookUrl)
  for (const [given, value] of Object.entries(message.customData ?? {})) {
    const name = parameterName(given)
    if (ownParameters.has(name.toLowerCase()) || value === undefined || value === null) continue
    parameters.delete(name)
    // `MediaUrl` may occur many times; `ContentVariables` is a JSON object.
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, written(one))
  }
  return parameters
}

/** `statusCallback` and `status_callback` are `StatusCallback`, as in Twilio's own libraries. */
function parameterName(given: string): string {
  return given.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}

const written = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
