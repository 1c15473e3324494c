// IO, the app of Italy's public services: whether the citizen accepts messages, then the message.
// https://docs.pagopa.it/io-guida-tecnica/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { busy, certainlyNotSent, misconfigured, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { Fields } from '../../domain/merged.ts'
import { merged } from '../../domain/merged.ts'
import type { PushMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest, World } from '../../world/world.ts'
import { baseAddress, ofVisibleAscii, optional, secret, text } from '../form.ts'
import { outcomeOfStatus } from '../http-provider.ts'
import { withPassthrough } from '../passthrough.ts'
import { bad, good, provider, sendTimeoutMs, unreachable } from '../provider.ts'
import type { ProviderAnswer } from '../provider-answer.ts'
import { answerOf, retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { withoutRecipient } from '../recipient-words.ts'
import { answered } from './answered.ts'
import { filled, pushSettings } from './push-message.ts'

const addresses: readonly string[] = ['https://api.io.pagopa.it/api/v1', 'https://api.io.italia.it/api/v1']
/** What IO accepts, in characters. */
const subjectLength = { min: 10, max: 120 }
const markdownLength = { min: 80, max: 10_000 }
const profileTimeoutMs = 8_000
/** A person may be waiting for the check. */
const checkTimeoutMs = 10_000
/** A message that has less time left is not started. */
const sendMsMin = 1_000
/** The pause if IO states none. */
const quotaWaitMs = 30_000
/** IO's own test citizen. */
const testCitizen = 'AAAAAA00A00A000A'
const fiscalCode = /^[A-Z]{6}[\dLMNP-V]{2}[A-Z][\dLMNP-V]{2}[A-Z][\dLMNP-V]{3}[A-Z]$/
const recipientMembers = ['fiscal_code', 'default_addresses']
/** Settings beside the content; all others are part of it. */
const outerSettings: ReadonlySet<string> = new Set(['time_to_live', 'feature_level_type'])

export const appio = provider({
  id: 'appio',
  channel: 'push',
  name: 'App IO',
  docsUrl: 'https://docs.pagopa.it/io-guida-tecnica/',
  evidence: {
    source: 'vendor',
    unsure: 'Whether both URLs of IO stay available, and how long to back off when it is overloaded.',
  },
  features: ['title'],
  form: {
    AppIOBaseUrl: text('Base URL', {
      description: 'The URL of the IO API. Device tokens are the fiscal codes of citizens.',
      placeholder: addresses[0] ?? '',
      mistake: (value) =>
        addresses.includes(baseAddress(value)) ? undefined : `must be one of ${addresses.join(', ')}`,
    }),
    apiKey: optional(
      secret('Subscription key', {
        description: 'The key of the sending IO service. Without it, each trigger must set `overrides.appio.apiKey`.',
        mistake: ofVisibleAscii,
      }),
    ),
  },
  recipientMembers,

  async send(world, message, account) {
    const endsAtMs = world.now().getTime() + sendTimeoutMs
    const mistake = mistakeOf(message)
    if (mistake !== undefined) return mistake
    const { apiKey: named } = message.customData ?? {}
    const apiKey =
      account.apiKey ?? (typeof named === 'string' && ofVisibleAscii(named) === undefined ? named : undefined)
    if (apiKey === undefined)
      return misconfigured('IO needs a subscription key, but neither the integration nor the trigger has one')
    const safe = (outcome: Outcome): Outcome => withoutKey(withoutRecipient(outcome, message), apiKey)
    const base = baseOf(account)
    if (base === undefined) return misconfigured('credentials.AppIOBaseUrl is not a URL of IO')
    const request = withPassthrough(
      jsonRequest(`${base}/messages`, apiKey, bodyOf(message)),
      message.passthrough,
      recipientMembers,
    )
    if ('kind' in request) return request
    const refusal = await refusalOfProfile(world, base, apiKey, message.target)
    if (refusal !== undefined) return safe(refusal)
    const timeoutMs = endsAtMs - world.now().getTime()
    if (timeoutMs < sendMsMin) return busy('Nothing was sent because IO took too long to find the citizen')
    const answer = await answered(world, request, { timeoutMs })
    return 'kind' in answer ? answer : safe(outcomeOf(answer))
  },

  async check(world, account) {
    const base = baseOf(account)
    if (base === undefined) return bad('This is not a URL of IO', 'AppIOBaseUrl')
    if (account.apiKey === undefined) return bad('Without a subscription key, each trigger must set one', 'apiKey')
    try {
      const request = jsonRequest(`${base}/profiles`, account.apiKey, { fiscal_code: testCitizen })
      const answer = answerOf(await world.fetch(request, { timeoutMs: checkTimeoutMs }), world.now())
      if (answer.status === 200 || answer.status === 404) return good
      const isUnknown = answer.status === 401 || answer.status === 403
      return isUnknown ? bad(ioWords(answer), 'apiKey') : bad(ioWords(answer))
    } catch (error) {
      return unreachable(error)
    }
  },
})

function baseOf({ AppIOBaseUrl }: { readonly AppIOBaseUrl: string }): string | undefined {
  return addresses.find((address) => address === baseAddress(AppIOBaseUrl))
}

function mistakeOf({ target, title, content }: PushMessage): Outcome | undefined {
  if (!fiscalCode.test(target))
    return refused('bad-recipient', 'The device token must be a fiscal code of 16 characters')
  const beyond = (what: string, words: string, { min, max }: { min: number; max: number }): Outcome | undefined => {
    const { length } = [...words]
    if (length >= min && length <= max) return undefined
    return refused('bad-content', `The ${what} has ${length} characters; IO accepts ${min} to ${max}`)
  }
  return beyond('title', title, subjectLength) ?? beyond('content', content, markdownLength)
}

function bodyOf(message: PushMessage): Fields {
  const { target, title, content } = message
  const settings = Object.entries(pushSettings(message, [...recipientMembers, 'apiKey', 'content']))
  const outer = Object.fromEntries(settings.filter(([name]) => outerSettings.has(name)))
  const inner = Object.fromEntries(settings.filter(([name]) => !outerSettings.has(name)))
  return { fiscal_code: target, ...outer, content: merged(filled({ subject: title, markdown: content }), inner) }
}

function jsonRequest(url: string, apiKey: string, body: object): OutboundRequest {
  return {
    url,
    method: 'POST',
    headers: { 'ocp-apim-subscription-key': apiKey, accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

/** Why no message is sent to the citizen. */
async function refusalOfProfile(
  world: World,
  base: string,
  apiKey: string,
  target: string,
): Promise<Outcome | undefined> {
  const question = jsonRequest(`${base}/profiles`, apiKey, { fiscal_code: target })
  const answer = await answered(world, question, { timeoutMs: profileTimeoutMs, sendsNothing: true })
  if ('kind' in answer) return certainlyNotSent(answer)
  if (answer.status === 200) {
    const isAllowed = answer.flag('sender_allowed')
    if (isAllowed === undefined) return busy('IO did not report whether the citizen can be contacted')
    return isAllowed ? undefined : refused('opted-out', 'The citizen does not want messages from this service')
  }
  // They may install the app tomorrow.
  if (answer.status === 404) return refused('bad-recipient', 'The citizen does not use IO')
  return certainlyNotSent(troubleOf(answer))
}

const ioWords = (answer: ProviderAnswer): string => wordsOf('IO', answer, 'detail', 'title')

function outcomeOf(answer: ProviderAnswer): Outcome {
  if (answer.status !== 201) return troubleOf(answer)
  const id = answer.id('id')
  return id === undefined ? unsure('IO answered 201 without the id of a message') : sent(id)
}

function troubleOf(answer: ProviderAnswer): Outcome {
  const words = ioWords(answer)
  if (answer.status === 400 || answer.status === 413) return refused('bad-content', words)
  if (answer.status === 429) return busy(words, retryAfterMsOf(answer) ?? quotaWaitMs)
  return outcomeOfStatus(answer, words)
}

/** A key in a trigger is not one of the account's secrets, which are redacted anyway. */
function withoutKey(outcome: Outcome, apiKey: string): Outcome {
  if (outcome.detail === undefined) return outcome
  return { ...outcome, detail: outcome.detail.replaceAll(apiKey, '[redacted]') }
}
