// Expo’s contract.
import { expo } from '../../../../src/providers/push/expo.ts'
import type { ContractAnswer, ProviderContract } from '../../../support/provider-contract.ts'

const target = 'ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]'
const id = '7c3e0f9e-0000-4000-8000-000000000001'
const tickets = (...data: object[]): ContractAnswer => ({ status: 200, body: { data } })
const ok = { status: 'ok', id }
const failed = (error?: string, message = 'words') => ({ status: 'error', message, details: { error } })
const failure = (status: number, code: string): ContractAnswer => ({
  status,
  body: { errors: [{ code, message: 'words' }] },
})

export const contract: ProviderContract = {
  provider: expo,
  account: { apiKey: 'expo-secret-token' },
  message: {
    target,
    customData: { badge: 2, sound: 'default', channelId: 'orders', priority: 'high', ttl: 3600, data: { more: true } },
  },
  variants: [
    {
      name: 'settings do not say where it goes',
      message: { customData: { to: ['ExponentPushToken[other]'], deviceTokens: ['x'], subtitle: 'Today' } },
    },
    { name: 'a bare UUID is a token too', message: { target: '0197f3a0-0000-4000-8000-0000000000aa', customData: {} } },
  ],
  success: { answer: tickets(ok), id },
  errors: [
    ['a device that is gone', tickets(failed('DeviceNotRegistered')), 'refused: dead-token'],
    [
      'a token that is none',
      tickets({ status: 'error', message: '"x" is not a valid Expo push token' }),
      'refused: dead-token',
    ],
    ['too big', tickets(failed('MessageTooBig')), 'refused: bad-content'],
    ['too many to one device', tickets(failed('MessageRateExceeded')), 'busy'],
    ['another sender’s app', tickets(failed('MismatchSenderId')), 'misconfigured'],
    ['credentials of the app', tickets(failed('InvalidCredentials')), 'misconfigured'],
    ['a mistake of the app', tickets(failed('DeveloperError')), 'refused: other'],
    ['Expo’s trouble', tickets(failed('ExpoError')), 'busy'],
    ['Apple’s or Google’s trouble', tickets(failed('ProviderError')), 'busy'],
    ['an unknown reason', tickets(failed()), 'refused: other'],
    ['a ticket that says nothing', tickets({ id }), 'unsure'],
    ['ok without an id', tickets({ status: 'ok' }), 'unsure'],
    ['two tickets for one message', tickets(ok, ok), 'unsure'],
    ['a wrong access token', failure(401, 'UNAUTHORIZED'), 'misconfigured'],
    ['a forbidden one', failure(403, 'UNAUTHORIZED'), 'misconfigured'],
    ['too many requests', failure(429, 'TOO_MANY_REQUESTS'), 'busy'],
    [
      'with a wait',
      { status: 429, headers: { 'retry-after': '3' }, body: { errors: [{ code: 'TOO_MANY_REQUESTS' }] } },
      'busy',
      3_000,
    ],
    ['too many in one request', failure(400, 'PUSH_TOO_MANY_NOTIFICATIONS'), 'refused: other'],
    ['devices of several projects', failure(400, 'PUSH_TOO_MANY_EXPERIENCE_IDS'), 'refused: other'],
    ['a message of a wrong shape', failure(400, 'VALIDATION_ERROR'), 'refused: bad-content'],
    ['an error with a success’s status', failure(200, 'VALIDATION_ERROR'), 'refused: bad-content'],
    ['the access token with a success’s status', failure(200, 'UNAUTHORIZED'), 'misconfigured'],
    ['a gateway that gave up', { status: 504 }, 'unsure'],
  ],
  check: [
    ['a token that may ask', { status: 200, body: { data: {} } }, 'good'],
    ['a wrong token', failure(401, 'UNAUTHORIZED'), 'bad: apiKey'],
    ['Expo’s trouble', { status: 503 }, 'bad'],
  ],
  batch: {
    messages: [
      {},
      { target: 'ExponentPushToken[yyyyyyyyyyyyyyyyyyyyyy]', content: 'Another text' },
      { target: 'ExpoPushToken[zzzzzzzzzzzzzzzzzzzzzz]' },
    ],
    answer: tickets(ok, failed('DeviceNotRegistered'), { ...ok, id: 'z' }),
    kinds: ['sent', 'refused: dead-token', 'sent'],
  },
}
