// The contract of Apple's push service.
import { generateKeyPairSync } from 'node:crypto'
import { apns } from '../../../../src/providers/push/apns.ts'
import type { ContractAnswer, ProviderContract } from '../../../support/provider-contract.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const failure = (status: number, reason: string): ContractAnswer => ({ status, body: { reason } })
const each = (status: number, kind: string, ...reasons: string[]) =>
  reasons.map((reason) => [`${status} ${reason}`, failure(status, reason), kind] as const)

const account = {
  secretKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  apiKey: 'ABC1234DEF',
  projectName: 'TEAM123456',
  applicationId: 'com.example.app',
  secure: true,
}
const id = '0197f3a0-0000-7000-8000-000000000003'

export const contract: ProviderContract = {
  signs: true,
  provider: apns,
  account,
  message: {
    target: '740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad',
    customData: {
      badge: 3,
      sound: 'ping.aiff',
      threadId: 'orders',
      mutableContent: true,
      subtitle: 'Today',
      expiry: 1_900_000_000,
      collapseId: 'order-42',
    },
  },
  variants: [
    { name: 'a silent one wakes the app', message: { title: '', content: '', customData: { contentAvailable: true } } },
    {
      name: 'a call, under a topic of its own, with other custom keys',
      message: {
        customData: { pushType: 'voip', topic: 'com.example.app.voip', priority: 10, payload: { call: 'c1', aps: 1 } },
      },
    },
    {
      name: 'the caller’s own aps is merged',
      message: { customData: { alert: { titleLocKey: 'SHIPPED' }, aps: { 'interruption-level': 'passive' } } },
    },
  ],
  success: { answer: { status: 200, headers: { 'apns-id': id } }, id },
  successes: [['without the id', { status: 200 }, id]],
  bodyIsIgnored: true,
  volatile: [/bearer [\w-]+\.[\w-]+\.[\w-]+/],
  errors: [
    [
      '410 Unregistered',
      { status: 410, body: { reason: 'Unregistered', timestamp: 1_700_000_000_000 } },
      'refused: dead-token',
    ],
    ...each(410, 'refused: dead-token', 'ExpiredToken'),
    ...each(400, 'refused: dead-token', 'BadDeviceToken', 'DeviceTokenNotForTopic', 'MissingDeviceToken'),
    ...each(
      400,
      'refused: bad-content',
      'BadCollapseId',
      'BadExpirationDate',
      'BadMessageId',
      'BadPriority',
      'DuplicateHeaders',
      'InvalidPushType',
      'PayloadEmpty',
    ),
    ...each(413, 'refused: bad-content', 'PayloadTooLarge'),
    ...each(400, 'misconfigured', 'BadTopic', 'MissingTopic', 'TopicDisallowed'),
    ...each(400, 'busy', 'IdleTimeout'),
    ...each(
      403,
      'misconfigured',
      'ExpiredProviderToken',
      'InvalidProviderToken',
      'MissingProviderToken',
      'BadCertificate',
      'BadCertificateEnvironment',
      'Forbidden',
      'UnrelatedKeyIdInToken',
      'BadEnvironmentKeyIdInToken',
    ),
    ...each(404, 'refused: other', 'BadPath'),
    ...each(405, 'refused: other', 'MethodNotAllowed'),
    ...each(429, 'busy', 'TooManyRequests'),
    ['429 TooManyProviderTokenUpdates', failure(429, 'TooManyProviderTokenUpdates'), 'busy', 20 * 60_000],
    ...each(500, 'busy', 'InternalServerError'),
    ...each(503, 'busy', 'ServiceUnavailable', 'Shutdown'),
  ],
  check: [
    ['Apple took key and topic, and only knows no such device', failure(400, 'BadDeviceToken'), 'good'],
    ['a wrong key or team', failure(403, 'InvalidProviderToken'), 'bad: secretKey'],
    ['another app’s topic', failure(400, 'TopicDisallowed'), 'bad: applicationId'],
    ['Apple’s trouble', failure(503, 'ServiceUnavailable'), 'bad'],
  ],
}
