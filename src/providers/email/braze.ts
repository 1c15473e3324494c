// Braze, "Send messages immediately": to users of its own, who are looked up by their addresses first.
// https://www.braze.com/docs/api/endpoints/messaging/send_messages/post_send_messages/
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { certainlyNotSent, refused } from '../../domain/delivery/outcome.ts'
import { isFields } from '../../domain/merged.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { OutboundError } from '../../world/outbound/outbound-error.ts'
import type { World } from '../../world/world.ts'
import { baseAddress, emailSender, ofBaseUrl, ofVisibleAscii, secret, text } from '../form.ts'
import { outcomeOfFailure } from '../http-provider.ts'
import { letIn } from '../negative-probe.ts'
import { withPassthrough } from '../passthrough.ts'
import { provider, unreachable } from '../provider.ts'
import { answerOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import type { BrazeUser } from './braze-outcome.ts'
import { brazeOutcome, outcomeOfLookup, usersIn } from './braze-outcome.ts'
import { filled, htmlOf, variablesOf } from './email-body.ts'
import type { AddressedEmail } from './email-message.ts'
import { addressed } from './email-message.ts'
import { mailbox } from './mailbox.ts'

/** Both calls together must end before their caller times out. */
const lookupTimeoutMs = 8_000
const sendTimeoutMs = 11_000
const checkTimeoutMs = 10_000
/** Users per call. */
const recipientsMax = 50
const requestBytesMax = 4 * 1024 * 1024
const recipientMembers = [
  'external_user_ids',
  'user_aliases',
  'segment_id',
  'audience',
  'broadcast',
  'messages.email.bcc',
]
const ownMembers = ['external_user_ids', 'user_aliases', 'segment_id', 'audience', 'broadcast', 'messages']
const ownEmailMembers = [
  ...['app_id', 'from', 'reply_to', 'subject', 'body', 'plaintext_body', 'bcc', 'headers', 'extras', 'attachments'],
]

interface Account {
  readonly apiKey: string
  readonly baseUrl: string
  readonly applicationId: string
  readonly from: string
  readonly senderName?: string
}

export const braze = provider({
  id: 'braze',
  channel: 'email',
  name: 'Braze',
  docsUrl: 'https://www.braze.com/docs/api/endpoints/messaging/send_messages/post_send_messages/',
  evidence: {
    source: 'partly',
    unsure:
      'The limit of user lookups per minute differs between accounts. Attachments are rejected: Braze accepts only URLs of files.',
  },
  form: {
    apiKey: secret('REST API key', {
      description: 'It needs the permissions `messages.send` and `users.export.ids`.',
      mistake: ofVisibleAscii,
    }),
    baseUrl: text('REST endpoint', { placeholder: 'https://rest.iad-01.braze.com', mistake: ofBaseUrl }),
    applicationId: text('App identifier', {
      description: 'The identifier of the e-mail app, from the workspace settings.',
      mistake: ofVisibleAscii,
    }),
    ...emailSender,
  },
  features: ['several recipients', 'reply-to', 'headers', 'metadata', 'sender per message'],
  limits: { recipientsMax, requestBytesMax },
  recipientMembers,

  async check(world, account) {
    try {
      const answer = await called(world, account, '/messages/send', {}, checkTimeoutMs)
      return letIn('Braze', 'apiKey', 'message')(answer)
    } catch (error) {
      return unreachable(error)
    }
  },

  async send(world, message, account) {
    const email = brazeMail(message, account)
    if ('kind' in email) return email
    const found = await lookedUp(world, account, [...email.to, ...email.cc])
    if ('kind' in found) return found
    return sentTo(world, account, email, found)
  },
})

function brazeMail(message: EmailMessage, account: Account): AddressedEmail | Outcome {
  const email = addressed(message, account)
  if ('kind' in email) return email
  if (email.attachments.length > 0)
    return refused('bad-content', 'Braze does not accept attachments, only URLs of files')
  return email.bcc.length > 1 ? refused('bad-content', 'Braze accepts at most one blind copy') : email
}

interface Found {
  readonly users: readonly BrazeUser[]
  /** Addresses that belong to no user. */
  readonly unknown: number
}

/**
 * Braze does not send to addresses: the owner must be a user there. Nothing was sent, whatever the result of the
 * lookup.
 */
async function lookedUp(world: World, account: Account, addresses: readonly string[]): Promise<Found | Outcome> {
  const asking = addresses.map((address) => userOf(world, account, address))
  const users: BrazeUser[] = []
  for (const user of await Promise.all(asking)) {
    if (user === undefined) continue
    if ('kind' in user) return user
    users.push(user)
  }
  if (users.length === 0) return refused('bad-recipient', 'No user of Braze has this address')
  return { users, unknown: addresses.length - users.length }
}

async function userOf(world: World, account: Account, address: string): Promise<BrazeUser | Outcome | undefined> {
  const question = { email_address: address, fields_to_export: ['external_id', 'user_aliases', 'email'] }
  try {
    const answer = await called(world, account, '/users/export/ids', question, lookupTimeoutMs)
    return outcomeOfLookup(answer) ?? usersIn(answer)[0]
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return certainlyNotSent(outcomeOfFailure(error))
  }
}

async function sentTo(world: World, account: Account, email: AddressedEmail, found: Found): Promise<Outcome> {
  const made = withPassthrough(
    asked(account, '/messages/send', bodyOf(email, account, found.users)),
    email.passthrough,
    recipientMembers,
  )
  if ('kind' in made) return made
  if (Buffer.byteLength(made.body ?? '') > requestBytesMax) {
    return refused('bad-content', `The request would be larger than ${requestBytesMax} bytes`)
  }
  try {
    const answer = await world.fetch(made, { reach: 'operator', timeoutMs: sendTimeoutMs, account })
    return brazeOutcome(answerOf(answer, world.now()), found.unknown)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return outcomeOfFailure(error)
  }
}

function asked({ apiKey, baseUrl }: Account, path: string, body: object) {
  return {
    url: `${baseAddress(baseUrl)}${path}`,
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

/** A lookup: whatever its result, nothing was sent. */
async function called(world: World, account: Account, path: string, body: object, timeoutMs: number) {
  const options = { reach: 'operator', timeoutMs, account, sendsNothing: true } as const
  return answerOf(await world.fetch(asked(account, path, body), options), world.now())
}

function bodyOf(email: AddressedEmail, account: Account, users: readonly BrazeUser[]): object {
  const messages = email.customData?.['messages']
  const settings = isFields(messages) ? messages['email'] : undefined
  return {
    recipient_subscription_state: 'all',
    ...settingsOf(email, ownMembers),
    ...filled({
      external_user_ids: [...new Set(users.flatMap((user) => ('externalId' in user ? [user.externalId] : [])))],
      user_aliases: users.flatMap((user) => ('alias' in user ? [user.alias] : [])),
    }),
    messages: {
      email: {
        ...settingsOf({ customData: isFields(settings) ? settings : {} }, ownEmailMembers),
        app_id: account.applicationId,
        from: mailbox(email.from, email.senderName),
        subject: literal(email.subject),
        ...filled({
          body: literal(htmlOf(email)),
          plaintext_body: literal(email.text),
          reply_to: email.replyTo,
          bcc: email.bcc[0],
          headers: email.headers,
          extras: variablesOf(email),
        }),
      },
    },
  }
}

/** Braze evaluates Liquid in every text; the content of a message must not be evaluated. */
const literal = (said: string): string => said.replaceAll(/\{[{%]/g, (begin) => `{{ '${begin}' }}`)
