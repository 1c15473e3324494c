// The contract of web push. The golden requests show what a browser reads: their bodies are opened with its key.
import { createECDH } from 'node:crypto'
import { webPush } from '../../../../src/providers/push/web-push.ts'
import type { OutboundRequest, World } from '../../../../src/world/world.ts'
import type { ProviderContract } from '../../../support/provider-contract.ts'
import { readByBrowser, subscription } from '../../../support/web-push-browser.ts'

const pair = createECDH('prime256v1')
pair.setPrivateKey(Buffer.alloc(32, 7))
const location = 'https://push.example.net/m/7'

/** A world that sees the content instead of its encryption. */
function openedWorld(world: World): World {
  const fetch: World['fetch'] = (request, options) => {
    const { headers, body, ...rest } = request as OutboundRequest
    const shown = { ...headers, 'content-type': 'application/json', 'x-opened': `${headers['content-type']}` }
    return world.fetch({ ...rest, headers: shown, body: readByBrowser(body as Buffer) }, options)
  }
  return Object.assign(Object.create(world), { fetch })
}

export const contract: ProviderContract = {
  signs: true,
  provider: {
    ...webPush,
    send: async (world, message, account) => {
      const outcome = await webPush.send?.(openedWorld(world), message, account)
      return outcome ?? { kind: 'unsure', detail: 'cannot send' }
    },
  },
  callsRecipient: true,
  account: {
    apiKey: pair.getPublicKey('base64url'),
    secretKey: pair.getPrivateKey('base64url'),
    from: 'ops@example.com',
  },
  message: {
    target: subscription('https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV'),
    customData: {
      ttl: 3600,
      urgency: 'high',
      topic: 'order-42',
      icon: 'https://cdn.example.test/icon.png',
      tag: 'order-42',
    },
  },
  variants: [
    {
      name: 'settings that are none',
      message: { customData: { ttl: 'long', urgency: 'extreme', topic: 'a topic that has spaces', messageId: 'x' } },
    },
  ],
  volatile: [/vapid t=[\w.-]+/],
  success: { answer: { status: 201, headers: { location } }, id: location },
  successes: [
    ['accepted, without an address of its own', { status: 202 }, '0197f3a0-0000-7000-8000-000000000003'],
    ['as older services say it', { status: 200 }, '0197f3a0-0000-7000-8000-000000000003'],
  ],
  bodyIsIgnored: true,
  errors: [
    ['a subscription that is gone', { status: 410, body: { code: 410, errno: 106 } }, 'refused: dead-token'],
    ['an unknown one', { status: 404 }, 'refused: dead-token'],
    ['another key pair’s', { status: 400, body: { reason: 'VapidPkHashMismatch' } }, 'refused: bad-recipient'],
    ['a wrong request', { status: 400, body: { message: 'words' } }, 'refused: bad-content'],
    ['a token that is not believed', { status: 401, body: { message: 'words' } }, 'misconfigured'],
    ['the same in Apple’s words', { status: 403, body: { reason: 'BadJwtToken' } }, 'misconfigured'],
    ['too many to one browser', { status: 406 }, 'busy'],
    ['too large', { status: 413 }, 'refused: bad-content'],
    ['too many', { status: 429, headers: { 'retry-after': '30' } }, 'busy', 30_000],
    ['trouble', { status: 503 }, 'busy'],
    ['a gateway that gave up', { status: 504 }, 'unsure'],
    [
      'too many, for longer than one of many may ask',
      { status: 429, headers: { 'retry-after': '86400' } },
      'busy',
      60_000,
    ],
    ['a redirect', { status: 307, headers: { location } }, 'refused: bad-recipient'],
  ],
}
