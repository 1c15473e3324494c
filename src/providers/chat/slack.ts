// Slack incoming webhooks. The address belongs to the subscriber; the app's own credentials are for connecting one.
// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
import { flag, optional, secret, text } from '../form.ts'
import { provider } from '../provider.ts'

export const slack = provider({
  id: 'slack',
  channel: 'chat',
  name: 'Slack',
  docsUrl: 'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks',
  // No check: an incoming webhook needs no account, so there is nobody to ask.
  form: {
    applicationId: optional(text('App ID', { placeholder: 'A0123456789' })),
    clientId: optional(text('Client ID', { description: 'Needed to let subscribers connect a channel themselves.' })),
    secretKey: optional(secret('Client secret')),
    redirectUrl: optional(
      text('Redirect address', {
        description: 'Where a subscriber lands after connecting a channel.',
        placeholder: 'https://app.example.com/settings',
        mistake: (value) => (URL.canParse(value) && /^https?:/.test(value) ? undefined : 'must be an http(s) address'),
      }),
    ),
    hmac: flag('Require a subscriber hash', {
      description: 'The link that starts connecting must carry the HMAC of the subscriber id.',
    }),
  },
})
