// The HTTP providers: SendGrid (one message per call), Postmark (many per call) and Twilio, as far as a sender sees them.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from './behaviour.ts'
import type { Message, Receipts } from './record.ts'

interface Route {
  readonly name: string
  messagesOf(body: string): readonly Message[]
  /** The provider's own words for success. */
  success(count: number): { status: number; headers?: Record<string, string>; body: string }
}

const newId = (): string => `sink-${Math.random().toString(36).slice(2)}`

interface SendgridMail {
  readonly personalizations: readonly { readonly to: readonly { readonly email: string }[] }[]
  readonly subject: string
  readonly content: readonly { readonly value: string }[]
}
const ofSendgrid = (mail: SendgridMail): Message => ({
  channel: 'email',
  to: mail.personalizations.flatMap(({ to }) => to.map(({ email }) => email)),
  subject: mail.subject,
  body: mail.content.map(({ value }) => value).join('\n'),
})

interface PostmarkMail {
  readonly To: string
  readonly Subject: string
  readonly HtmlBody: string
}
const ofPostmark = (mail: PostmarkMail): Message => ({
  ...{ channel: 'email', to: [mail.To], subject: mail.Subject, body: mail.HtmlBody },
})
const postmarkResult = () => ({
  ErrorCode: 0,
  Message: 'OK',
  MessageID: newId(),
  SubmittedAt: new Date().toISOString(),
})

function ofTwilio(form: URLSearchParams): Message {
  const text = form.get('Body') ?? ''
  return { channel: 'sms', to: [form.get('To') ?? ''], subject: text, body: text }
}

const routes: readonly (readonly [prefix: string, Route])[] = [
  [
    '/sendgrid/v3/mail/send',
    {
      name: 'single',
      messagesOf: (body) => [ofSendgrid(JSON.parse(body) as SendgridMail)],
      success: () => ({ status: 202, headers: { 'x-message-id': newId() }, body: '' }),
    },
  ],
  [
    '/postmark/email/batch',
    {
      name: 'batch',
      messagesOf: (body) => (JSON.parse(body) as PostmarkMail[]).map(ofPostmark),
      success: (count) => ({ status: 200, body: JSON.stringify(Array.from({ length: count }, postmarkResult)) }),
    },
  ],
  [
    '/postmark/email',
    {
      name: 'batch',
      messagesOf: (body) => [ofPostmark(JSON.parse(body) as PostmarkMail)],
      success: () => ({ status: 200, body: JSON.stringify(postmarkResult()) }),
    },
  ],
  [
    '/twilio/',
    {
      name: 'sms',
      messagesOf: (body) => [ofTwilio(new URLSearchParams(body))],
      success: () => ({ status: 201, body: JSON.stringify({ sid: newId(), status: 'queued', error_code: null }) }),
    },
  ],
]

/** What no provider says: a page of another server, half an answer, text. */
const garbage = ['<html><body>It works!</body></html>', '{"sid": "half an ans', 'ok', '[]']

export async function answerProviderCall(
  request: IncomingMessage,
  response: ServerResponse,
  receipts: Receipts,
  next: () => Answer,
): Promise<void> {
  const body = await bodyOf(request)
  const route = routes.find(([prefix]) => request.url?.startsWith(prefix))?.[1]
  if (route === undefined) {
    response.writeHead(404).end()
    return
  }
  const messages = route.messagesOf(body)
  const answer = next()
  if (answer.kind === 'take' || ('taken' in answer && answer.taken)) {
    for (const message of messages) receipts.add(route.name, message)
  }
  switch (answer.kind) {
    case 'take': {
      await sleep(answer.afterMs)
      const { status, headers, body: text } = route.success(messages.length)
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
      return
    }
    case 'busy':
      response.writeHead(503, { 'content-type': 'application/json' }).end('{"message": "try later"}')
      return
    case 'cut':
      request.socket.resetAndDestroy()
      return
    case 'garbage':
      response.writeHead(200).end(garbage[Math.floor(Math.random() * garbage.length)])
      return
    case 'hang':
      // The caller ends it.
      return
  }
}

/** Rejects when the connection ends before the body does: such a message never arrived. */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  if (!request.complete) throw new Error('The request was cut')
  return Buffer.concat(parts).toString('utf8')
}
