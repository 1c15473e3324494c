// The built-in e-mail: captured, or sent through the operator's mail server if there is one.

import type { Credentials } from '../../domain/delivery/integration.ts'
import { captured, misconfigured } from '../../domain/delivery/outcome.ts'
import type { EmailMessage } from '../../domain/messages/outbound-message.ts'
import { formMistakes } from '../form.ts'
import { provider } from '../provider.ts'
import { domainOf } from './email-message.ts'
import { nodemailer } from './nodemailer.ts'

export const platformEmail = provider({
  id: 'platform-email',
  channel: 'email',
  name: 'Platform Email',
  docsUrl: '/docs',
  evidence: { source: 'ours' },
  form: {},
  marksItself: true,
  concurrency: (credentials: Credentials) =>
    hasMailServer(credentials) ? nodemailer.concurrency?.(credentials) : undefined,
  keepConnections: (credentials: Credentials, max) => nodemailer.keepConnections?.(credentials, max),

  async send(world, message, credentials: Credentials) {
    if (!hasMailServer(credentials)) return captured(message.id)
    const mistakes = Object.values(formMistakes(nodemailer.form, credentials)).flatMap(({ messages }) => messages)
    if (mistakes.length > 0 || nodemailer.send === undefined) return misconfigured(mistakes.join('; '))
    return nodemailer.send(world, fromOperator(message, credentials.from ?? ''), credentials)
  },
})

/** Whether the account is one of the operator's mail server: then e-mail is really sent. */
export function hasMailServer(credentials: Credentials): boolean {
  return credentials.host !== undefined && credentials.host !== ''
}

/** The operator's server sends only for the operator's domain: another sender becomes the reply-to address. */
function fromOperator(message: EmailMessage, operatorFrom: string): EmailMessage {
  const { from, ...rest } = message
  if (from === undefined || domainOf(from) === domainOf(operatorFrom)) return message
  return { ...rest, replyTo: message.replyTo ?? from }
}
