// The addresses of subscribers that chat providers call, and those that they do not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discord } from '../../src/providers/chat/discord.ts'
import { getstream } from '../../src/providers/chat/getstream.ts'
import { grafanaOnCall } from '../../src/providers/chat/grafana-on-call.ts'
import { mattermost } from '../../src/providers/chat/mattermost.ts'
import { msteams } from '../../src/providers/chat/msteams.ts'
import { rocketChat } from '../../src/providers/chat/rocket-chat.ts'
import { ryver } from '../../src/providers/chat/ryver.ts'
import { zulip } from '../../src/providers/chat/zulip.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { createFakeWorld } from '../support/fake-world.ts'
import { chatMessage, guardedWorld, kindOf, sendWith } from '../support/provider-scene.ts'

interface Rule {
  readonly provider: Provider
  readonly good: readonly string[]
  readonly wrong: readonly string[]
  readonly credentials?: object
  readonly channel?: string
}

const vendorsOwn: readonly Rule[] = [
  {
    provider: discord,
    good: [
      'https://discord.com/api/webhooks/1/secret-part',
      'https://discordapp.com/api/v10/webhooks/1/secret-part',
      'https://canary.discord.com/api/webhooks/1/secret-part?thread_id=5',
    ],
    wrong: [
      'https://discord.com.evil.example/api/webhooks/1/secret-part',
      'https://evil-discord.com/api/webhooks/1/secret-part',
      'https://cdn.discord.com/api/webhooks/1/secret-part',
      'https://discord.com/api/webhooks/x/secret-part',
      'https://discord.com/api/users/secret-part',
      'https://discord.com/api/webhooks/1/secret-part/slack',
    ],
  },
  {
    provider: msteams,
    good: [
      'https://prod-1.westeurope.logic.azure.com:443/workflows/secret-part',
      'https://a.logic.azure.us/workflows/secret-part',
      'https://a.b.environment.api.powerplatform.com/secret-part',
      'https://a.api.powerautomate.com/secret-part',
      'https://a.flow.microsoft.com/secret-part',
      'https://acme.webhook.office.com/webhookb2/secret-part',
      'https://outlook.office.com/webhook/secret-part',
      'https://outlook.office365.com/webhook/secret-part',
    ],
    wrong: [
      'https://logic.azure.com/secret-part',
      'https://evillogic.azure.com/secret-part',
      'https://a.logic.azure.com.evil.example/secret-part',
      'https://x.outlook.office.com/secret-part',
      'https://a.logic.azure.com:8443/secret-part',
      'https://a.logic.azure.com',
    ],
  },
  {
    provider: ryver,
    good: ['https://acme.ryver.com/application/webhook/secret-part'],
    wrong: [
      'https://ryver.com/application/webhook/secret-part',
      'https://evilryver.com/application/webhook/secret-part',
      'https://acme.ryver.com/api/secret-part',
      'https://acme.ryver.com:444/application/webhook/secret-part',
    ],
  },
]
const anybodys: readonly Rule[] = [
  {
    provider: mattermost,
    good: ['https://chat.example.com/hooks/secretpart', 'http://chat.example.com:8065/team/hooks/secretpart'],
    wrong: ['https://chat.example.com/secret-part', 'https://chat.example.com/hooks/'],
  },
  {
    provider: zulip,
    good: ['https://acme.zulipchat.com/api/v1/external/slack_incoming?api_key=secret-part'],
    wrong: ['https://acme.zulipchat.com/api/v1/messages?api_key=secret-part'],
  },
  {
    provider: grafanaOnCall,
    good: ['https://oncall.example.com/integrations/v1/formatted_webhook/secret-part/'],
    wrong: ['https://oncall.example.com/api/v1/secret-part/'],
  },
  {
    provider: rocketChat,
    credentials: { token: 'token-secret', user: 'u1', baseUrl: 'https://chat.example.com' },
    // Its rooms are those of the account's workspace: chat-specials.test.ts. Only webhooks may be anyone's.
    good: ['http://chat.example.com:3000/hooks/a/secret-part'],
    wrong: ['http://chat.example.com/secret-part', 'https://other.example.com/secret-part'],
  },
  {
    provider: getstream,
    credentials: { apiKey: 'stream-key', baseUrl: 'https://relay.example.com' },
    good: ['https://relay.example.com/secret-part'],
    // The key of the account goes to no host that a subscriber or an event chose.
    wrong: ['http://relay.example.com/secret-part', 'https://other.example.com/secret-part'],
  },
]

const everywhereWrong = [
  'secret-part',
  'ftp://a.example/hooks/secret-part',
  'https://user:secret-part@acme.ryver.com/application/webhook/x/hooks/x',
  'http://169.254.169.254/hooks/secretpart/integrations/v1/x',
]

async function asked({ provider, credentials = {}, channel }: Rule, webhookUrl: string) {
  const world = createFakeWorld()
  const urls: string[] = []
  world.fetch = async ({ url }) => {
    urls.push(url)
    return { status: 404, headers: new Headers(), body: `nothing at ${url}` }
  }
  const message = { ...chatMessage, webhookUrl, ...(channel === undefined ? {} : { channel }) }
  return { urls, outcome: await sendWith({ world }, provider, message, credentials) }
}

for (const rule of [...vendorsOwn, ...anybodys]) {
  test(`${rule.provider.id} calls addresses of its own kind only, and repeats none`, async () => {
    for (const address of rule.good) {
      const { urls, outcome } = await asked(rule, address)
      assert.equal(urls.length, 1, address)
      assert.equal(kindOf(outcome), 'refused: bad-recipient', address)
      assert.doesNotMatch(JSON.stringify(outcome), /\/secret-?part/, address)
    }
    for (const address of [...rule.wrong, ...everywhereWrong]) {
      const { urls, outcome } = await asked(rule, address)
      assert.deepEqual([kindOf(outcome), urls], ['refused: bad-recipient', []], address)
      assert.doesNotMatch(JSON.stringify(outcome), /secret-?part/, address)
    }
    assert.deepEqual(
      [kindOf((await asked(rule, '')).outcome), (await asked(rule, '')).urls.length],
      ['refused: bad-recipient', 0],
    )
  })
}

test('an address on a private network is the subscriber’s mistake, and is not called', async () => {
  const addresses: readonly [Provider, string, object?][] = [
    [mattermost, 'http://127.0.0.1:8065/hooks/x'],
    [zulip, 'https://10.0.0.1/api/v1/external/slack_incoming'],
    [grafanaOnCall, 'https://192.168.0.1/integrations/v1/formatted_webhook/x/'],
    [rocketChat, 'https://10.0.0.1/hooks/a/b', { token: 'token-secret', user: 'u1', baseUrl: 'https://10.0.0.1' }],
    [getstream, 'https://localhost/x', { apiKey: 'stream-key', baseUrl: 'https://localhost' }],
  ]
  for (const [provider, webhookUrl, credentials = {}] of addresses) {
    const message = { ...chatMessage, webhookUrl, channel: 'GENERAL' }
    const outcome = await sendWith({ world: guardedWorld() }, provider, message, credentials)
    assert.equal(kindOf(outcome), 'refused: bad-recipient', webhookUrl)
  }
})

test('a message that says nothing is not sent, nor one that is too long', async () => {
  const world = createFakeWorld()
  for (const { provider, good, credentials = {}, channel = 'x' } of [...vendorsOwn, ...anybodys]) {
    for (const webhookUrl of good) {
      const silent = { ...chatMessage, webhookUrl, channel, content: '', customData: { attachments: [], text: '' } }
      // Teams takes whatever a workflow wants to have.
      const customData = provider === msteams ? {} : silent.customData
      const outcome = await sendWith({ world }, provider, { ...silent, customData }, credentials)
      assert.equal(kindOf(outcome), 'refused: bad-content', webhookUrl)
    }
  }
  const long: readonly [Provider, number][] = [
    [discord, 2_001],
    [zulip, 10_001],
    [msteams, 28_000],
  ]
  for (const [provider, length] of long) {
    const webhookUrl = [...vendorsOwn, ...anybodys].find((rule) => rule.provider === provider)?.good[0] ?? ''
    const outcome = await sendWith({ world }, provider, { ...chatMessage, webhookUrl, content: 'x'.repeat(length) }, {})
    assert.equal(kindOf(outcome), 'refused: bad-content', provider.id)
  }
})
