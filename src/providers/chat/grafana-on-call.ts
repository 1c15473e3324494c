// Grafana OnCall and IRM: a formatted webhook that raises an alert; its address belongs to the subscriber.
// https://grafana.com/docs/oncall/latest/configure/integrations/references/webhook/
import { busy, refused, sent, unsure } from '../../domain/delivery/outcome.ts'
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import { optional, text } from '../form.ts'
import { httpProvider } from '../http-provider.ts'
import { retryAfterMsOf, wordsOf } from '../provider-answer.ts'
import { settingsOf } from '../settings.ts'
import { addressOf, hasAddress } from './chat-address.ts'
import { givenText, jsonRequest, mistakeOfSilence, textAs } from './chat-message.ts'
import { outcomeOfAddress } from './chat-outcome.ts'

const addressRule = {
  example: 'https://oncall-prod-us-central-0.grafana.net/oncall/integrations/v1/formatted_webhook/…/',
  path: /\/integrations\/v1\/./,
} as const
/** Limits are counted over five minutes, and Grafana does not say how many of them are left. */
const rateLimitWaitMs = 60_000

/** Grafana's names for them, and those of entries, settings and accounts, in order of precedence. */
const members = {
  alert_uid: ['alertUid'],
  title: ['title'],
  image_url: ['imageUrl'],
  state: ['state'],
  link_to_upstream_details: ['externalUrl', 'externalLink'],
} as const

const ofLink = (value: string): string | undefined =>
  URL.canParse(value) && /^https?:/i.test(value) ? undefined : 'must be an http(s) URL'

export const grafanaOnCall = httpProvider({
  id: 'grafana-on-call',
  channel: 'chat',
  name: 'Grafana On Call',
  docsUrl: 'https://grafana.com/docs/oncall/latest/configure/integrations/references/webhook/',
  evidence: { source: 'vendor' },
  features: ['title', 'image'],
  form: {
    alertUid: optional(
      text('Alert UID', {
        description: 'Messages with the same UID belong to one alert. The UID of the subscriber takes precedence.',
      }),
    ),
    title: optional(text('Title')),
    imageUrl: optional(text('Image URL', { placeholder: 'https://example.com/chart.png', mistake: ofLink })),
    state: optional(
      text('State', {
        description: '`alerting` raises the alert, `ok` resolves it.',
        mistake: (value) => (/^(alerting|ok)$/i.test(value) ? undefined : 'must be alerting or ok'),
      }),
    ),
    externalLink: optional(
      text('Link', {
        description: 'A link to more details.',
        placeholder: 'https://example.com/orders',
        mistake: ofLink,
      }),
    ),
  },
  callsRecipient: hasAddress,

  request(message, account) {
    const url = addressOf(message, addressRule)
    if (!(url instanceof URL)) return url
    // Without the slash at its end it answers with a redirect, which loses the message.
    if (!url.pathname.endsWith('/')) url.pathname += '/'
    const body = bodyOf(message, account)
    return mistakeOfSilence(body, ['message', 'title']) ?? jsonRequest(url, body)
  },

  outcome(answer, message, account) {
    const { status } = answer
    const words = wordsOf('Grafana', answer, 'detail')
    if (status === 200) {
      const isTaken = /^"?Ok\."?$/i.test(answer.body.trim())
      return isTaken ? sent(givenText(bodyOf(message, account)['alert_uid']) ?? message.id) : unsure(words)
    }
    // Its other reasons are files and an empty message, which we never send: it is the address of another kind of webhook.
    if (status === 400) return refused('bad-recipient', words)
    return status === 429 ? busy(words, retryAfterMsOf(answer) ?? rateLimitWaitMs) : outcomeOfAddress(answer, words)
  },
})

function bodyOf(message: ChatMessage, account: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const ownNames = Object.values(members).flat()
  const settings = message.customData ?? {}
  const chosen = Object.entries(members).flatMap(([wire, names]) => {
    const places = [settings, message.entry, account]
    const value = places
      .flatMap((place) => names.map((name) => givenText(place[name])))
      .find((one) => one !== undefined)
    return value === undefined ? [] : [[wire, value]]
  })
  return {
    ...Object.fromEntries(chosen),
    ...textAs('message', message.content),
    ...settingsOf(message, [...ownNames.filter((name) => !(name in members)), 'webhookUrl']),
  }
}
