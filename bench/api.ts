// What a bench asks the service for before it measures: workflows, subscribers, integrations.
import { benchKey } from './service.ts'

export type Ask = (method: string, path: string, body?: unknown) => Promise<unknown>

export function askAt(port: number): Ask {
  return async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `ApiKey ${benchKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text.slice(0, 500)}`)
    return text === '' ? undefined : JSON.parse(text)
  }
}

export const inAppStep = {
  template: { type: 'in_app', content: 'Order {{ payload.order.id }} over {{ payload.order.total }} is on its way.' },
}

/** The number in the subject reports the sink which event it was. */
export const emailStep = {
  template: {
    type: 'email',
    subject: '#{{ payload.order.id }}',
    contentType: 'customHtml',
    layoutId: null,
    content: '<p>Hello {{ subscriber.firstName }},</p><p>order {{ payload.order.id }} is on its way.</p>',
  },
}

export const delayStep = (metadata: Record<string, unknown>) => ({ template: { type: 'delay' }, metadata })

export async function createWorkflow(ask: Ask, workflowId: string, steps: readonly object[]): Promise<void> {
  await ask('POST', '/v1/workflows', { name: workflowId, workflowId, active: true, steps })
}

export const subscriberIdOf = (index: number): string => `user-${index}`

const subscribersPerCallMax = 500

export async function createSubscribers(ask: Ask, count: number): Promise<void> {
  for (let from = 0; from < count; from += subscribersPerCallMax) {
    const subscribers = Array.from({ length: Math.min(subscribersPerCallMax, count - from) }, (_, index) => ({
      subscriberId: subscriberIdOf(from + index),
      firstName: `First ${from + index}`,
      email: `person-${from + index}@example.com`,
    }))
    await ask('POST', '/v1/subscribers/bulk', { subscribers })
  }
}

/** E-mail goes to the sink, as an operator's own webhook would get it. */
export async function createMailIntegration(ask: Ask, sinkPort: number): Promise<void> {
  await ask('POST', '/v1/integrations', {
    providerId: 'email-webhook',
    channel: 'email',
    name: 'Sink',
    active: true,
    credentials: {
      webhookUrl: `http://127.0.0.1:${sinkPort}/mail`,
      secretKey: 'a secret of the bench',
      from: 'bench@example.com',
    },
  })
}

/** A vendor that takes many messages in a request: the sink answers as Postmark does. */
export async function createBatchIntegration(ask: Ask, sinkPort: number): Promise<void> {
  await ask('POST', '/v1/integrations', {
    providerId: 'postmark',
    channel: 'email',
    name: 'Sink',
    active: true,
    credentials: {
      apiKey: 'a-token-of-the-bench',
      baseUrl: `http://127.0.0.1:${sinkPort}/postmark`,
      from: 'bench@example.com',
    },
  })
}

export function requestText(path: string, body: unknown, more: Readonly<Record<string, string>> = {}): string {
  const text = JSON.stringify(body)
  const headers = {
    host: 'localhost',
    authorization: `ApiKey ${benchKey}`,
    ...more,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

export const eventOf = (workflowId: string, index: number, subscribers: number) => ({
  name: workflowId,
  // A prime's stride spreads the events over all subscribers.
  to: { subscriberId: subscriberIdOf((index * 7919) % subscribers) },
  payload: { order: { id: index, total: '19.90' } },
})

export const eventsPerCall = 100

/** Ready-made bulk calls of a hundred events each. */
export function bulkRequests(workflowId: string, calls: number, subscribers: number): string[] {
  return Array.from({ length: calls }, (_, call) =>
    requestText('/v1/events/trigger/bulk', {
      events: Array.from({ length: eventsPerCall }, (_, index) =>
        eventOf(workflowId, call * eventsPerCall + index, subscribers),
      ),
    }),
  )
}
