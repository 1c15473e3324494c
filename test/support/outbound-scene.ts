// Outbound messages for tests of providers, and the mail servers and vendors they are sent to.
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { SMTPServerOptions } from 'smtp-server'
import { SMTPServer } from 'smtp-server'
import type { EmailMessage } from '../../src/domain/messages/outbound-message.ts'

export const emailMessage: EmailMessage = {
  id: '0197f3a0-0000-7000-8000-000000000001',
  to: ['zoe@example.org'],
  cc: [],
  bcc: [],
  subject: 'Invoice 7',
  html: '<p>Hi</p>',
  text: 'Hi',
  headers: {},
  attachments: [],
  tags: [],
  metadata: {},
}

export const email = (change: Partial<EmailMessage> = {}): EmailMessage => ({ ...emailMessage, ...change })

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

export interface ReceivedMail {
  readonly from: string
  readonly recipients: readonly string[]
  readonly raw: string
  readonly user: string | undefined
  readonly isSecure: boolean
  /** Which of the server's connections it came by. */
  readonly connectionId: string
}

export interface MailServer {
  readonly port: string
  readonly mails: ReceivedMail[]
  /** Every connection that was opened. */
  readonly sockets: Socket[]
}

/** A real mail server on this machine that keeps what it gets. The password is `right`. */
export async function startMailServer(t: TestContext, options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const sockets: Socket[] = []
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    logger: false,
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth: (auth, _session, done) => {
      if (auth.password === 'right') done(null, { user: auth.username })
      else done(new Error('Wrong name or password'))
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          recipients: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
          user: session.user,
          isSecure: session.secure === true,
          connectionId: session.id,
        })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  server.server.on('connection', (socket: Socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { port: String((server.server.address() as AddressInfo).port), mails, sockets }
}

/** What a server says when it refuses. */
export function reply(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode })
}
