// Microsoft 365: SMTP submission by a mailbox of Exchange Online.
// https://learn.microsoft.com/exchange/mail-flow-best-practices/how-to-set-up-a-multifunction-device-or-application-to-send-email-using-microsoft-365-or-office-365
import { emailSender, ofHost, ofPort, ofVisibleAscii, optional, secret, text } from '../form.ts'
import { provider } from '../provider.ts'
import { keepSmtpConnections } from './smtp.ts'
import type { MailAccount } from './smtp-send.ts'
import { checkMail, sendMail, smtpFeatures } from './smtp-send.ts'

/** A mailbox allows few connections, and 30 messages per minute. */
const connectionsMax = 1

export const outlook365 = provider({
  id: 'outlook365',
  channel: 'email',
  name: 'Microsoft Outlook365',
  docsUrl:
    'https://learn.microsoft.com/exchange/mail-flow-best-practices/how-to-set-up-a-multifunction-device-or-application-to-send-email-using-microsoft-365-or-office-365',
  evidence: {
    source: 'vendor',
    unsure: 'How long Microsoft accepts passwords: it has postponed the end several times.',
  },
  form: {
    ...emailSender,
    password: secret('Password', { description: 'The password of the mailbox, or an app password.' }),
    user: optional(text('User', { description: 'The mailbox to log in with, if it is not the from address.' })),
    token: optional(secret('Access token', { description: 'OAuth, instead of a password.', mistake: ofVisibleAscii })),
    host: optional(text('Host', { placeholder: 'smtp.office365.com', mistake: ofHost })),
    port: optional(text('Port', { placeholder: '587', mistake: ofPort })),
  },
  features: smtpFeatures,
  limits: { recipientsMax: 500 },
  marksItself: true,
  concurrency: () => connectionsMax,
  keepConnections: (account, max) => keepSmtpConnections(mailboxAccount(account), max),

  send: (world, message, account) => sendMail(world, message, mailboxAccount(account)),
  check: (world, account) => checkMail(world, mailboxAccount(account)),
})

interface Mailbox {
  readonly from: string
  readonly senderName?: string
  readonly password: string
  readonly user?: string
  readonly token?: string
  readonly host?: string
  readonly port?: string
}

/** Never unencrypted. */
export function mailboxAccount(mailbox: Mailbox): MailAccount {
  return {
    host: 'smtp.office365.com',
    port: '587',
    user: mailbox.from,
    ...mailbox,
    requireTls: true,
    connectionsMax,
  }
}
