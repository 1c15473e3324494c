// Twilio Programmable Messaging, "Create a Message".
// https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource
import { baseAddress, ofBaseUrl, optional, secret, text } from '../form.ts'
import { bad, good, provider, unreachable } from '../provider.ts'
import { answerOf, wordsOf } from '../provider-answer.ts'
import { basicAuth } from '../signing.ts'

export const twilio = provider({
  id: 'twilio',
  channel: 'sms',
  name: 'Twilio',
  docsUrl: 'https://www.twilio.com/docs/messaging/api/message-resource',
  form: {
    accountSid: text('Account SID', {
      placeholder: 'AC…',
      mistake: (value) => (/^AC\w+$/.test(value) ? undefined : 'must be an account SID, which begins with AC'),
    }),
    token: secret('Auth token'),
    from: text('From', {
      description: 'A number in E.164, a sender name, or a Messaging Service SID (MG…).',
      placeholder: '+14155550100',
    }),
    messageProfileId: optional(
      text('Messaging Service SID', {
        placeholder: 'MG…',
        mistake: (value) =>
          /^MG\w+$/.test(value) ? undefined : 'must be a Messaging Service SID, which begins with MG',
      }),
    ),
    apiKey: optional(
      text('API key SID', { description: 'With its secret, used instead of the auth token.', placeholder: 'SK…' }),
    ),
    secretKey: optional(secret('API key secret')),
    region: optional(
      text('Region', {
        description: 'A region, or an edge and a region: `ie1`, `dublin.ie1`.',
        mistake: (value) =>
          /^[a-z0-9-]+(\.[a-z0-9-]+)?$/.test(value) ? undefined : 'must be a region such as ie1 or dublin.ie1',
      }),
    ),
    baseUrl: optional(
      text('Base address', { description: 'Another place than Twilio’s own, such as a proxy.', mistake: ofBaseUrl }),
    ),
  },

  async check(world, { accountSid, token, region, baseUrl }) {
    const own = region === undefined || region === '' ? 'https://api.twilio.com' : `https://api.${region}.twilio.com`
    // Always by the auth token: an ordinary API key may not read the account, however good it is.
    const request = new Request(
      `${baseUrl === undefined ? own : baseAddress(baseUrl)}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}.json`,
      { headers: { authorization: basicAuth(accountSid, token), accept: 'application/json' } },
    )
    try {
      const answer = answerOf(await world.fetch(request, { reach: baseUrl === undefined ? 'guarded' : 'operator' }))
      if (answer.status === 401) return bad(wordsOf('Twilio', answer, 'message'), 'token')
      if (answer.status === 404) return bad(wordsOf('Twilio', answer, 'message'), 'accountSid')
      if (answer.status !== 200) return bad(wordsOf('Twilio', answer, 'message'))
      const state = answer.string('status')
      return state === 'active' ? good : bad(`The Twilio account is ${state ?? 'in an unknown state'}`, 'accountSid')
    } catch (error) {
      return unreachable(error)
    }
  },
})
