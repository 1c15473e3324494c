// Custom SMTP: any mail server, with a user name and password or without.
// https://nodemailer.com/smtp/ (RFC 5321, 3207, 4954)
import { ofHost, optional, secret, text } from '../form.ts'
import { provider } from '../provider.ts'
import { connectionsMax, keepSmtpConnections } from './smtp.ts'
import { checkMail, sendMail, smtpFeatures, smtpServer } from './smtp-send.ts'

export const nodemailer = provider({
  id: 'nodemailer',
  channel: 'email',
  name: 'Custom SMTP',
  docsUrl: 'https://nodemailer.com/smtp/',
  evidence: { source: 'vendor' },
  form: {
    ...smtpServer,
    domain: optional(
      text('DKIM domain', {
        description: 'E-mails are signed if domain, key and selector are all set.',
        mistake: ofHost,
      }),
    ),
    secretKey: optional(secret('DKIM private key', { description: 'In PEM.', mistake: ofPem })),
    accountSid: optional(text('DKIM selector')),
  },
  features: smtpFeatures,
  marksItself: true,
  concurrency: () => connectionsMax,
  keepConnections: keepSmtpConnections,

  send: sendMail,
  check: checkMail,
})

function ofPem(value: string): string | undefined {
  return /^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value.trim()) ? undefined : 'must be a private key in PEM'
}
