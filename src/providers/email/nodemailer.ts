// Custom SMTP: any mail server that takes a name and a password, or neither.
// https://nodemailer.com/smtp/ (RFC 5321, 3207, 4954)
import { flag, object, ofEmailAddress, ofHost, ofPort, optional, secret, text } from '../form.ts'
import { bad, good, provider } from '../provider.ts'
import { greetSmtp } from './smtp.ts'

export const nodemailer = provider({
  id: 'nodemailer',
  channel: 'email',
  name: 'Custom SMTP',
  docsUrl: 'https://nodemailer.com/smtp/',
  form: {
    host: text('Host', { placeholder: 'smtp.example.com', mistake: ofHost }),
    port: text('Port', { placeholder: '587', mistake: ofPort }),
    from: text('From address', { placeholder: 'hello@example.com', mistake: ofEmailAddress }),
    senderName: optional(text('Sender name')),
    user: optional(text('User')),
    password: optional(secret('Password')),
    secure: flag('TLS from the start', {
      description: 'As on port 465. Otherwise the connection is upgraded when the server offers it.',
    }),
    requireTls: flag('Require TLS', { description: 'Fail when the server does not offer to upgrade the connection.' }),
    ignoreTls: flag('Never upgrade to TLS', { description: 'Even the password is then sent in the clear.' }),
    tlsOptions: object('TLS options', {
      description: '`rejectUnauthorized`, `ca`, `cert`, `key`, `servername`, `minVersion` and the like.',
    }),
    domain: optional(
      text('DKIM domain', {
        description: 'Mail is signed when domain, key and selector are all set.',
        mistake: ofHost,
      }),
    ),
    secretKey: optional(secret('DKIM private key', { description: 'In PEM.', mistake: ofPem })),
    accountSid: optional(text('DKIM selector')),
  },

  async check(_world, account) {
    try {
      await greetSmtp(account)
      return good
    } catch (error) {
      // Whatever fails here is the account or the way to it: a wrong option throws as a refused password does.
      const { code, message } = error as { code?: unknown; message?: unknown }
      return bad(
        typeof message === 'string' ? message : 'The server could not be asked',
        code === 'EAUTH' ? 'password' : undefined,
      )
    }
  },
})

function ofPem(value: string): string | undefined {
  return /^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value.trim()) ? undefined : 'must be a private key in PEM'
}
