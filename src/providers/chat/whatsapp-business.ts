// WhatsApp Business Platform, the Cloud API: texts within the service window, and templates at any time.
// https://developers.facebook.com/documentation/business-messaging/whatsapp
import { refused } from '../../domain/delivery/outcome.ts'
import { isFields, merged } from '../../domain/merged.ts'
import type { ChatMessage } from '../../domain/messages/outbound-message.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { ofVisibleAscii, optional, secret, text } from '../form.ts'
import { httpProvider } from '../http-provider.ts'
import { bad, good } from '../provider.ts'
import { settingsOf } from '../settings.ts'
import { hmacSha256Hex } from '../signing/signing.ts'
import { digitsOf } from '../sms/sms-text.ts'
import { jsonRequest, mistakeOfSilence } from './chat-message.ts'
import { isUnknownNumberId, isUnknownToken, whatsappOutcome, whatsappWords } from './whatsapp-business-outcome.ts'
import { whatsappReceipts } from './whatsapp-business-receipts.ts'

/** Meta keeps a version for about two years. */
const api = 'https://graph.facebook.com/v22.0'
/** What a message can be other than a text: settings that hold one of them are that message, in this order. */
const kinds = [
  'template',
  'interactive',
  'image',
  'document',
  'video',
  'audio',
  'location',
  'contacts',
  'sticker',
  'reaction',
] as const
const ownMembers = [
  'messaging_product',
  'recipient_type',
  'to',
  'recipient',
  'type',
  'biz_opaque_callback_data',
  'text',
]

export const whatsappBusiness = httpProvider({
  id: 'whatsapp-business',
  channel: 'chat',
  name: 'WhatsApp Business',
  docsUrl: 'https://developers.facebook.com/documentation/business-messaging/whatsapp',
  evidence: { source: 'partly', unsure: 'The latest version of the Graph API, and some of the rarer error codes.' },
  features: ['templates', 'media'],
  limits: { contentCharactersMax: 4_096, perSecond: 80 },
  form: {
    apiToken: secret('Access token', {
      description: 'The token of a system user with the permission `whatsapp_business_messaging`.',
      placeholder: 'EAA…',
      mistake: ofVisibleAscii,
    }),
    phoneNumberIdentification: text('Phone number ID', {
      description: 'The id of the number, not the number itself.',
      placeholder: '106540352242922',
      mistake: (value) =>
        /^\d{1,30}$/.test(value) ? undefined : 'must be digits: the id that Meta assigned to the number',
    }),
    secretKey: optional(
      secret('App secret', { description: 'Authenticates the app to Meta, and receipts from Meta to Posthorn.' }),
    ),
    token: optional(
      secret('Verify token', { description: 'Any text; must be the same as in the webhook settings at Meta.' }),
    ),
  },
  recipientMembers: ['to', 'recipient', 'recipient_type', 'access_token'],

  request(message, account) {
    const digits = digitsOf(message.phone ?? '')
    if (digits === '') return refused('bad-recipient', 'The subscriber has no phone number')
    const said = saidOf(message)
    const silence = 'text' in said && mistakeOfSilence(said.text, ['body'])
    if (silence) return silence
    const body = {
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: `+${digits}`,
      ...said,
      // Returned with every receipt.
      biz_opaque_callback_data: message.id,
    }
    const { apiToken, phoneNumberIdentification } = account
    return jsonRequest(`${api}/${phoneNumberIdentification}/messages${proofOf(account)}`, body, {
      authorization: `Bearer ${apiToken}`,
    })
  },

  outcome: whatsappOutcome,

  probe: {
    request(account): OutboundRequest {
      const { apiToken, phoneNumberIdentification } = account
      const proof = proofOf(account).replace('?', '&')
      return {
        url: `${api}/${phoneNumberIdentification}?fields=display_phone_number,verified_name,quality_rating${proof}`,
        method: 'GET',
        headers: { authorization: `Bearer ${apiToken}` },
      }
    },
    result(answer) {
      if (answer.status === 200 && answer.id('id') !== undefined) return good
      const words = whatsappWords(answer)
      if (isUnknownNumberId(answer)) return bad(words, 'phoneNumberIdentification')
      return isUnknownToken(answer) ? bad(words, 'apiToken') : bad(words)
    },
  },

  receipts: whatsappReceipts,
})

/** Apps may require it: a stolen token is worthless without the app's secret. */
function proofOf({ apiToken, secretKey }: { readonly apiToken: string; readonly secretKey?: string }): string {
  return secretKey === undefined ? '' : `?appsecret_proof=${hmacSha256Hex(secretKey, apiToken)}`
}

/** The type of the message, its content, and what settings add to it. */
function saidOf(message: ChatMessage) {
  const { customData = {}, content } = message
  const kind = kinds.find((one) => typeof customData[one] === 'object' && customData[one] !== null)
  if (kind !== undefined) {
    const others = kinds.filter((one) => one !== kind)
    return { ...settingsOf(message, [...ownMembers, ...others, 'preview_url']), type: kind }
  }
  const { preview_url = false, ...settings } = settingsOf(message, ownMembers)
  const text = merged({ body: content, preview_url }, isFields(customData['text']) ? customData['text'] : {})
  return { ...settings, type: 'text', text }
}
