// The contract of push by webhook.
import { pushWebhook } from '../../../../src/providers/push/push-webhook.ts'
import type { ContractAnswer, ProviderContract } from '../../../support/provider-contract.ts'

const target = 'device-token-0001'
const failure = (status: number): ContractAnswer => ({ status, body: { message: 'words' } })
const ownId = '0197f3a0-0000-7000-8000-000000000003'

export const contract: ProviderContract = {
  provider: pushWebhook,
  account: { webhookUrl: 'https://hooks.example.com/push?team=1', secretKey: 'whsec-secret' },
  message: { target, customData: { sound: 'ping' } },
  success: { answer: { status: 200, body: { id: 'evt_1' } }, id: 'evt_1' },
  successes: [
    ['a number as id', { status: 202, body: { id: 7 } }, '7'],
    ['no id, so ours stands for it', { status: 204 }, ownId],
    ['another device is gone', { status: 200, body: { id: 'x', invalidTokens: ['other'] } }, 'x'],
  ],
  bodyIsIgnored: true,
  errors: [
    [
      'the device is no longer registered',
      { status: 200, body: { id: 'x', invalidTokens: [target] } },
      'refused: dead-token',
    ],
    ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example.com' } }, 'misconfigured'],
    ['no', failure(400), 'refused: other'],
    ['forbidden', failure(403), 'misconfigured'],
    ['not there', failure(404), 'misconfigured'],
    ['takes no POST', failure(405), 'misconfigured'],
    ['too slow', failure(408), 'busy'],
    ['gone', failure(410), 'refused: other'],
    ['too early', failure(425), 'busy'],
    ['too many', { status: 429, headers: { 'retry-after': '9' } }, 'busy', 9_000],
    ['trouble', failure(503), 'busy'],
    ['a gateway that gave up', failure(504), 'unsure'],
  ],
  check: [
    ['someone is there', { status: 404 }, 'good'],
    ['whatever they say', { status: 500 }, 'good'],
  ],
}
