// What is there before the first request, and again every few thousand: whatever was deleted on the way comes back.
import { createHmac } from 'node:crypto'
import type { Keys } from './requests.ts'
import { developmentKey, productionKey } from './service.ts'

/** Not among the ids that requests name, so that no request deletes the subscriber whose inbox is read. */
const reader = 'reader-of-the-inbox'

type Call = (method: string, path: string, body?: unknown, key?: string) => Promise<{ status: number; body: unknown }>

export function caller(origin: string): Call {
  return async (method, path, body, key = developmentKey) => {
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: {
        authorization: `ApiKey ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
  }
}

/** A workflow for each way of working on a payload. */
const workflows = [
  { name: 'plain', steps: [{ name: 'bell', template: { type: 'in_app', content: 'Hello {{ payload.a }}' } }] },
  {
    name: 'mail',
    steps: [
      {
        name: 'mail-it',
        template: {
          type: 'email',
          contentType: 'customHtml',
          subject: '{{ payload.a }}',
          content:
            '<style>p{color:red}</style>{% for i in payload.items %}<p>{{ i }}</p>{% endfor %}{{ payload.long }}',
        },
      },
    ],
  },
  {
    name: 'loops',
    steps: [
      {
        name: 'bell',
        template: {
          type: 'in_app',
          content:
            '{% for i in payload.items %}{% if payload.items.size > 3 %}{{ payload.o.size }}{% endif %}{% endfor %}',
        },
      },
    ],
  },
  {
    name: 'waits',
    steps: [
      { template: { type: 'digest' }, metadata: { type: 'regular', amount: 1, unit: 'seconds', digestKey: 'a' } },
      { name: 'bell', template: { type: 'in_app', content: '{{ step.events | json }}' } },
    ],
  },
  {
    name: 'checked',
    payloadSchema: {
      type: 'object',
      properties: {
        long: { type: 'string', pattern: '^[a-z ]*$' },
        items: { type: 'array', uniqueItems: true },
        a: { anyOf: [{ type: 'string', format: 'email' }, { type: 'object' }] },
      },
    },
    steps: [{ name: 'bell', template: { type: 'in_app', content: 'x' } }],
  },
  {
    name: 'asks',
    steps: [
      {
        name: 'bell',
        template: { type: 'in_app', content: 'x' },
        skip: { some: [{ var: 'payload.items' }, { in: [{ var: '' }, { var: 'payload.long' }] }] },
        filters: ['LIKE', 'ANY_IN', 'ALL_IN', 'EQUAL'].map((operator) => ({
          isNegated: false,
          type: 'GROUP',
          value: 'AND',
          children: [
            { on: 'payload', field: operator === 'LIKE' ? 'long' : 'items', operator, value: '{{ payload.long }}' },
          ],
        })),
      },
    ],
  },
]

export async function setUp(call: Call): Promise<void> {
  for (const key of [developmentKey, productionKey]) {
    const ids = ['ada', 'grace', 'alan', reader]
    const people = ids.map((subscriberId) => ({
      subscriberId,
      email: `${subscriberId}@example.com`,
      phone: '+441632960001',
    }))
    await call('POST', '/v1/subscribers/bulk', { subscribers: people }, key)
    for (const identifier of ['acme', 'globex'])
      await call('POST', '/v1/tenants', { identifier, name: identifier }, key)
    await call('PATCH', '/v1/environments/me', { configurations: { capture: true } }, key)
    await call('POST', '/v1/suppressions', { channel: 'email', address: 'nobody@example.com' }, key)
    for (const topic of ['release-notes', 'incidents']) {
      await call('POST', `/v2/topics/${topic}/subscriptions`, { subscriptions: ['ada', 'grace', reader] }, key)
    }
    await call('POST', '/v1/layouts', { name: 'frame', identifier: 'frame', content: '<main>{{{body}}}</main>' }, key)
    // A conflict says that it is there still.
    for (const workflow of workflows)
      await call('POST', '/v1/workflows', { ...workflow, workflowId: workflow.name, active: true }, key)
    for (const to of ['ada', reader])
      for (const name of ['plain', 'mail'])
        await call('POST', '/v1/events/trigger', { name, to, payload: { a: 'x' } }, key)
  }
}

/** Some answers stand in a member `data`. */
const unwrapped = <Body>(body: unknown): Body => ((body as { data?: Body } | undefined)?.data ?? body ?? {}) as Body

export async function makeKeys(call: Call): Promise<Keys> {
  const made = async (scope: string): Promise<string> => {
    const { status, body } = await call('POST', '/v1/environments/api-keys', { name: scope, scopes: [scope] })
    const { key } = unwrapped<{ key: string }>(body)
    if (status !== 201 || typeof key !== 'string')
      throw new Error(`No key with the scope ${scope}: ${JSON.stringify(body)}`)
    return key
  }
  return {
    full: developmentKey,
    production: productionKey,
    read: await made('read'),
    trigger: await made('trigger'),
    session: await openSession(call),
  }
}

export async function openSession(call: Call): Promise<string> {
  const { body: own } = await call('GET', '/v1/environments/me')
  const { identifier } = unwrapped<{ identifier: string }>(own)
  const subscriberHash = createHmac('sha256', developmentKey).update(reader).digest('hex')
  const session = { applicationIdentifier: identifier, subscriber: { subscriberId: reader }, subscriberHash }
  const { status, body } = await call('POST', '/v1/inbox/session', session)
  const { token } = unwrapped<{ token?: string }>(body)
  if (status !== 201 || token === undefined) throw new Error(`No inbox session: ${JSON.stringify(body)}`)
  return token
}
