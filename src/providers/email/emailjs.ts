// EmailJS: the SMTP client of that name, for any mail server; not the service emailjs.com.
// https://github.com/eleith/emailjs
import { provider } from '../provider.ts'
import { connectionsMax, keepSmtpConnections } from './smtp.ts'
import { checkMail, sendMail, smtpFeatures, smtpServer } from './smtp-send.ts'

export const emailjs = provider({
  id: 'emailjs',
  channel: 'email',
  name: 'EmailJS',
  docsUrl: 'https://github.com/eleith/emailjs',
  evidence: { source: 'vendor' },
  form: smtpServer,
  features: smtpFeatures,
  marksItself: true,
  concurrency: () => connectionsMax,
  keepConnections: keepSmtpConnections,

  send: sendMail,
  check: checkMail,
})
