// SendGrid, "Mail Send" of the v3 API.
// https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
import { baseAddress, choice, ofBaseUrl, ofEmailAddress, ofVisibleAscii, optional, secret, text } from '../form.ts'
import { bad, good, provider, unreachable } from '../provider.ts'
import { answerOf, wordsOf } from '../provider-answer.ts'

const origins = { global: 'https://api.sendgrid.com', eu: 'https://api.eu.sendgrid.com' }

export const sendgrid = provider({
  id: 'sendgrid',
  channel: 'email',
  name: 'SendGrid',
  docsUrl: 'https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send',
  form: {
    apiKey: secret('API key', { placeholder: 'SG.…', mistake: ofVisibleAscii }),
    from: text('From address', { placeholder: 'hello@example.com', mistake: ofEmailAddress }),
    senderName: optional(text('Sender name')),
    region: optional(
      choice('Region', ['global', 'eu'], { description: '`eu` for accounts whose mail stays in Europe.' }),
    ),
    ipPoolName: optional(text('IP pool')),
    secretKey: optional(
      secret('Event webhook verification key', { description: 'Proves that delivery receipts come from SendGrid.' }),
    ),
    baseUrl: optional(
      text('Base address', { description: 'Another place than SendGrid’s own, such as a proxy.', mistake: ofBaseUrl }),
    ),
  },

  async check(world, { apiKey, region, baseUrl }) {
    const own = region === 'eu' ? origins.eu : origins.global
    const request = new Request(`${baseUrl === undefined ? own : baseAddress(baseUrl)}/v3/scopes`, {
      headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json' },
    })
    try {
      const answer = answerOf(await world.fetch(request, { reach: baseUrl === undefined ? 'guarded' : 'operator' }))
      if (answer.status === 401) return bad(wordsOf('SendGrid', answer, 'errors.0.message'), 'apiKey')
      // A key that may not list its own scopes is real, only narrow.
      if (answer.status === 403) return good
      if (answer.status !== 200) return bad(wordsOf('SendGrid', answer, 'errors.0.message'))
      return answer.list('scopes').includes('mail.send')
        ? good
        : bad('This key may not send: it lacks the scope mail.send', 'apiKey')
    } catch (error) {
      return unreachable(error)
    }
  },
})
