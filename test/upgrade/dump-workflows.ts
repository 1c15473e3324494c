// The configuration that a dump holds: people, topics, integrations and workflows of every kind, in two environments.
import assert from 'node:assert/strict'
import type { Json } from '../support/app.ts'
import { vendorAddress } from './outside-world.ts'

/** Calls the API with one environment's key; the answer's body, after a look at its status. */
export type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Json>

/** The texts of a digest: how many, then each. */
const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'
/** What vendors obey, see outside-world.ts; a second word distinguishes messages. */
const mode = '{{ payload.mode }} {{ payload.n }}'
const hour = { type: 'regular', amount: 1, unit: 'hours' }

const inApp = (content: string): object => ({ template: { type: 'in_app', content } })
const email = (subject: string): object => ({
  template: { type: 'email', subject, contentType: 'customHtml', content: '<p>Hello {{ subscriber.firstName }}</p>' },
})
const digest = (metadata: object): object => ({ template: { type: 'digest' }, metadata })

const workflowsV1: Readonly<Record<string, readonly object[]>> = {
  hello: [inApp(`Hello {{ subscriber.firstName }} ${mode}`), email(`Hello ${mode}`)],
  texted: [{ template: { type: 'sms', content: `Code ${mode}` } }],
  chatted: [
    { template: { type: 'chat', content: `Chat ${mode}` } },
    { template: { type: 'push', title: 'Push', content: `Push ${mode}` } },
  ],
  later: [{ template: { type: 'delay' }, metadata: hour }, inApp('Later {{ payload.n }}')],
  gathered: [digest(hour), inApp(list), email(`Gathered ${list}`)],
  // Closed while its e-mail is on its way.
  'gathered-quick': [digest({ ...hour, unit: 'seconds' }), email(`Quick ${list}${mode}`)],
  // Closed, with a wait after it.
  'gathered-then-wait': [
    digest({ ...hour, unit: 'seconds' }),
    { template: { type: 'delay' }, metadata: hour },
    inApp(`Waited ${list}`),
  ],
  throttled: [
    { template: { type: 'throttle' }, metadata: { ...hour, type: 'fixed' } },
    inApp('Let through {{ payload.n }}'),
  ],
  asked: [
    {
      uuid: 'scorer',
      template: { type: 'custom' },
      metadata: { type: 'http', url: `http://${vendorAddress}/custom`, body: { text: mode } },
    },
    inApp('Scored {{ steps.scorer.result.score }}'),
  ],
  // One step only, and a wait: a page of its audience is small.
  crowded: [{ template: { type: 'delay' }, metadata: hour }, inApp('To all')],
}

const workflowsV2: readonly object[] = [
  {
    name: 'Bell',
    workflowId: 'bell',
    active: true,
    tags: ['v2'],
    severity: 'high',
    steps: [
      {
        name: 'Bell',
        type: 'in_app',
        controlValues: { subject: 'Bell', body: 'Ring {{ payload.n }}', primaryAction: { label: 'Open' } },
      },
    ],
  },
  {
    name: 'Summary',
    workflowId: 'summary',
    active: true,
    steps: [
      { name: 'Gather', type: 'digest', controlValues: { amount: 1, unit: 'hours', digestKey: 'payload.project' } },
      {
        name: 'Mail',
        type: 'email',
        controlValues: { subject: `Summary {{ payload.project }} ${list}`, body: '<p>Hello</p>', editorType: 'html' },
      },
    ],
  },
  {
    name: 'Slow summary',
    workflowId: 'slow-summary',
    active: true,
    steps: [
      { name: 'Wait', type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } },
      { name: 'Brake', type: 'throttle', controlValues: { amount: 1, unit: 'hours' } },
      { name: 'Text', type: 'sms', controlValues: { body: 'Slow {{ payload.n }}' } },
    ],
  },
]

export const crowdSize = 600

const people = [
  { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.org', phone: '+491511111111', locale: 'de' },
  { subscriberId: 'ben', firstName: 'Ben', email: 'ben@example.org', phone: '+491512222222', timezone: 'Asia/Tokyo' },
  { subscriberId: 'cleo', firstName: 'Cleo', lastName: 'Ümlaut', email: 'cleo@example.org', data: { plan: 'gold' } },
  { subscriberId: 'dora', email: 'dora@example.org' },
  { subscriberId: 'zoe', email: 'zoe@example.org' },
]

/** Development: everything there is. */
export async function configure(call: Call, smtpPort: string): Promise<void> {
  for (const person of people) await call('POST', '/v2/subscribers', person)
  await call('PUT', '/v1/subscribers/ada/credentials', {
    providerId: 'push-webhook',
    credentials: { deviceTokens: ['token-1', 'token-2'] },
  })
  await call('PUT', '/v1/subscribers/ada/credentials', {
    providerId: 'chat-webhook',
    credentials: { webhookUrl: `http://${vendorAddress}/chat/ada` },
  })
  await integrate(call, smtpPort)
  for (const [name, steps] of Object.entries(workflowsV1)) {
    await call('POST', '/v1/workflows', { name, workflowId: name, active: true, steps, tags: ['v1'] })
  }
  for (const workflow of workflowsV2) await call('POST', '/v2/workflows', workflow)
  await topics(call)
  await call('POST', '/v1/tenants', { identifier: 'acme', name: 'Acme', data: { plan: 'a' } })
  await call('POST', '/v1/workflow-overrides', {
    workflowId: 'hello',
    tenantId: 'acme',
    preferenceSettings: { email: false },
  })
  await call('POST', '/v1/layouts', { name: 'Frame', identifier: 'frame', content: '<main>{{{body}}}</main>' })
  await call('PUT', '/v1/translations/de', { texts: { hello: 'Hallo' } })
  await call('POST', '/v1/feeds', { name: 'News' })
  await call('POST', '/v2/contexts', { type: 'order', id: 'o-1', data: { total: 5 } })
  await call('POST', '/v1/suppressions', { channel: 'email', address: 'gone@example.org', reason: 'bounced' })
  await call('PATCH', '/v2/subscribers/dora/preferences', { channels: { sms: false } })
  await call('POST', '/v1/environments/api-keys', { name: 'Reader', scopes: ['read'] })
}

/** Production: little, so that a mix-up would be seen. */
export async function configureProduction(call: Call): Promise<void> {
  await call('POST', '/v2/subscribers', { subscriberId: 'ada', firstName: 'Adele', email: 'adele@example.org' })
  await integration(call, 'email-webhook', 'email', 'live-mail', {
    webhookUrl: `http://${vendorAddress}/live-mail`,
    secretKey: 'secret-of-live-mail',
  })
  for (const name of ['hello', 'later']) {
    await call('POST', '/v1/workflows', { name, workflowId: name, active: true, steps: workflowsV1[name] })
  }
}

async function integration(call: Call, providerId: string, channel: string, identifier: string, credentials: object) {
  await call('POST', '/v1/integrations', {
    providerId,
    channel,
    name: identifier,
    identifier,
    active: true,
    credentials,
  })
}

async function integrate(call: Call, smtpPort: string): Promise<void> {
  const secretKey = 'secret-of-a-vendor'
  const at = (path: string): string => `http://${vendorAddress}/${path}`
  await integration(call, 'email-webhook', 'email', 'post-mail', { webhookUrl: at('mail'), secretKey })
  await integration(call, 'nodemailer', 'email', 'post-smtp', {
    host: '127.0.0.1',
    port: smtpPort,
    from: 'hello@example.com',
    ignoreTls: true,
  })
  await integration(call, 'generic-sms', 'sms', 'post-sms', {
    baseUrl: at('sms'),
    apiKeyRequestHeader: 'x-api-key',
    apiKey: 'key-of-the-sms-vendor',
    from: 'Posthorn',
  })
  await integration(call, 'chat-webhook', 'chat', 'post-chat', { webhookUrl: at('chat'), secretKey })
  await integration(call, 'push-webhook', 'push', 'post-push', { webhookUrl: at('push'), secretKey })
}

async function topics(call: Call): Promise<void> {
  await call('POST', '/v2/topics', { key: 'team', name: 'Team' })
  await call('POST', '/v2/topics/team/subscriptions', { subscriberIds: ['ada', 'ben', 'cleo'] })
  await call('POST', '/v2/topics', { key: 'crowd', name: 'Crowd' })
  const crowd = Array.from({ length: crowdSize }, (_, number) => `crowd-${number + 1}`)
  for (let from = 0; from < crowd.length; from += 100) {
    const subscriberIds = crowd.slice(from, from + 100)
    const made = await call('POST', '/v1/subscribers/bulk', {
      subscribers: subscriberIds.map((subscriberId) => ({ subscriberId })),
    })
    assert.equal(made.created.length, subscriberIds.length, JSON.stringify(made))
    await call('POST', '/v2/topics/crowd/subscriptions', { subscriberIds })
  }
}
