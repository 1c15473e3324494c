// Pusher Beams' webhooks: who could be sent a message, who received it, who opened it.
// https://pusher.com/docs/beams/reference/webhooks
import { carriesKey } from '../inbound/inbound.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { Receipt, ReceiptReader } from '../inbound/receipt.ts'
import { hmac, isSame } from '../signing/signing.ts'

/** Hex digits of a digest, and the hash that makes as many. */
const hashes = { 40: 'sha1', 64: 'sha256' } as const

/** What each list of users in the report of a publish means. */
const attempts = [
  ['users_delivered_to_gateway', 'sent', undefined],
  // A user is no device: one without any today may have one tomorrow.
  ['users_no_devices', 'failed', 'The user has no device'],
  ['users_gateway_failed', 'failed', 'The push service of the device did not accept it'],
] as const
const userEvents: Readonly<Record<string, Receipt['status']>> = {
  'v1.UserNotificationAcknowledgement': 'delivered',
  'v1.UserNotificationOpen': 'opened',
}

export const beamsReceipts: ReceiptReader<object> = {
  setUp:
    'Add a webhook in the settings of the instance, with the integration’s key as its secret. If its signature is not ' +
    'accepted, put the key into the URL as `?token=…` and leave the secret empty.',

  verify(call, { key }) {
    if (key === undefined || key === '') return false
    const given = call.headers['webhook-signature']
    if (given === undefined) return carriesKey(call, key)
    const digest = given.replace(/^sha\d+=/, '').toLowerCase()
    const hash = hashes[digest.length as keyof typeof hashes]
    return hash !== undefined && isSame(digest, hmac(hash, key, call.body).toString('hex'))
  },

  read(call) {
    const event = jsonOf(call)
    const type = event.string('metadata.event_type') ?? call.headers['webhook-event-type'] ?? ''
    const providerMessageId = event.id('payload.publish_id')
    if (providerMessageId === undefined) return []
    const at = timestampOf(event.string('metadata.created_at'))
    const shared = { providerMessageId, ...(at === undefined ? {} : { at }), row: event.value('') }
    if (type === 'v1.PublishToUsersAttempt') {
      return attempts.flatMap(([list, status, words]) =>
        event.items(`payload.${list}`).flatMap((one) => {
          const address = one.id('')
          return address === undefined
            ? []
            : [{ status, address, ...(words === undefined ? {} : { words }), ...shared }]
        }),
      )
    }
    const status = Object.hasOwn(userEvents, type) ? userEvents[type] : undefined
    const address = event.id('payload.user_id')
    return status === undefined || address === undefined ? [] : [{ status, address, ...shared }]
  },
}
