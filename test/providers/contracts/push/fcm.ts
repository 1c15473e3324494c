// The contract of Firebase Cloud Messaging.
import { generateKeyPairSync } from 'node:crypto'
import { fcm } from '../../../../src/providers/push/fcm.ts'
import type { ContractAnswer, ProviderContract } from '../../../support/provider-contract.ts'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const name = 'projects/demo-app/messages/0:1500415314455276%31bd1c9631bd1c96'
const fcmError = (errorCode: string) => ({
  '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError',
  errorCode,
})
const violation = (field: string) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field, description: 'Invalid' }],
})
const failure = (status: number, message: string, ...details: object[]): ContractAnswer => ({
  status,
  body: { error: { code: status, message, status: 'X', details } },
})
const notToken = 'The registration token is not a valid FCM registration token'

export const contract: ProviderContract = {
  signs: true,
  provider: fcm,
  account: {
    serviceAccount: JSON.stringify({
      type: 'service_account',
      project_id: 'demo-app',
      client_email: 'sender@demo-app.iam.gserviceaccount.com',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      private_key_id: 'key-1',
    }),
  },
  message: {
    target: 'fKz1:APA91bFAKE',
    customData: {
      data: { orderId: 42 },
      image: 'https://cdn.example.test/a.png',
      android: { priority: 'HIGH', ttl: 3_600_000, notification: { channelId: 'orders', sound: 'ping' } },
      apns: { headers: { 'apns-priority': 10 }, payload: { aps: { badge: 3, mutableContent: true } } },
      webPush: { headers: { TTL: 60 }, fcmOptions: { link: 'https://shop.example.test/orders/42' } },
      fcmOptions: { analyticsLabel: 'orders' },
    },
  },
  variants: [{ name: 'data for the app alone', message: { customData: { type: 'data', data: { badge: 3 } } } }],
  before: ({ url, body }) =>
    url === 'https://oauth2.googleapis.com/token' || body.startsWith('grant_type=')
      ? { status: 200, body: { access_token: 'ya29.granted', expires_in: 3599, token_type: 'Bearer' } }
      : undefined,
  volatile: [/assertion=[\w-]+\.[\w-]+\.[\w-]+/],
  success: { answer: { status: 200, body: { name } }, id: name },
  errors: [
    ['uninstalled', failure(404, 'Not found', fcmError('UNREGISTERED')), 'refused: dead-token'],
    ['another project', failure(404, 'Not found'), 'misconfigured'],
    ['a token that is none', failure(400, notToken, fcmError('INVALID_ARGUMENT')), 'refused: dead-token'],
    [
      'the field of the token',
      failure(400, 'Invalid value', fcmError('INVALID_ARGUMENT'), violation('message.token')),
      'refused: dead-token',
    ],
    [
      'another field',
      failure(400, 'Invalid value', fcmError('INVALID_ARGUMENT'), violation('message.data[0].value')),
      'refused: bad-content',
    ],
    ['too big', failure(400, 'Message too big', fcmError('INVALID_ARGUMENT')), 'refused: bad-content'],
    ['a token of another sender', failure(403, 'Mismatch', fcmError('SENDER_ID_MISMATCH')), 'refused: bad-recipient'],
    ['no permission', failure(403, 'Permission denied'), 'misconfigured'],
    ['the access token', failure(401, 'Unauthenticated'), 'misconfigured'],
    ['the project’s key for Apple', failure(401, 'APNS', fcmError('THIRD_PARTY_AUTH_ERROR')), 'misconfigured'],
    ['the same by its older name', failure(401, 'APNS', fcmError('APNS_AUTH_ERROR')), 'misconfigured'],
    ['a quota', failure(429, 'Quota exceeded', fcmError('QUOTA_EXCEEDED')), 'busy', 60_000],
    ['trouble', failure(500, 'Internal', fcmError('INTERNAL')), 'busy'],
    ['not available', failure(503, 'Unavailable', fcmError('UNAVAILABLE')), 'busy', 10_000],
    ['a gateway that gave up', failure(504, 'Gateway'), 'unsure'],
    ['a success without a name', { status: 200, body: {} }, 'unsure'],
  ],
  check: [
    ['a message that would be sent', { status: 200, body: { name } }, 'good'],
    ['another project', failure(404, 'Not found'), 'bad: serviceAccount'],
    ['no permission', failure(403, 'Permission denied'), 'bad: serviceAccount'],
  ],
}
