// Data as an installation has it after a while: workflows, people, what was sent, what failed, what waits.
import type { Json } from '../support/app.ts'
import type { DashboardScene } from './service.ts'

const people = [
  ['ada', 'Ada', 'Lovelace'],
  ['grace', 'Grace', 'Hopper'],
  ['alan', 'Alan', 'Turing'],
  ['katherine', 'Katherine', 'Johnson'],
  ['edsger', 'Edsger', 'Dijkstra'],
  ['barbara', 'Barbara', 'Liskov'],
  ['margaret', 'Margaret', 'Hamilton'],
  ['radia', 'Radia', 'Perlman'],
] as const

const inApp = (content: string) => ({ name: 'Bell', template: { type: 'in_app', content } })
const mail = (subject: string, text: string) => ({
  name: 'Mail',
  template: {
    type: 'email',
    subject,
    content: [
      { type: 'text', content: text },
      { type: 'button', content: 'Open', url: 'https://example.com' },
    ],
  },
})

export const workflows = [
  {
    name: 'Order shipped',
    active: true,
    steps: [
      inApp('Order {{ order.id }} is on its way, {{ subscriber.firstName }}.'),
      mail('Order {{ order.id }} is on its way', 'Hello {{ subscriber.firstName }}, your order left us today.'),
    ],
  },
  {
    name: 'Weekly report',
    active: true,
    steps: [
      {
        ...mail('Your week in numbers', 'Hello {{ subscriber.firstName }}, here is your week.'),
        filters: [
          {
            isNegated: false,
            type: 'GROUP',
            value: 'AND',
            children: [{ on: 'payload', field: 'plan', operator: 'EQUAL', value: 'gold' }],
          },
        ],
      },
    ],
  },
  {
    name: 'New comment',
    active: true,
    steps: [
      { name: 'Collect', template: { type: 'digest' }, metadata: { type: 'regular', amount: 30, unit: 'minutes' } },
      mail('{{ step.total_count }} new comments', 'People wrote to you.'),
    ],
  },
  {
    name: 'Payment failed',
    active: true,
    critical: true,
    steps: [{ name: 'Push', template: { type: 'push', title: 'Payment failed', content: 'Please check your card.' } }],
  },
]

export interface SampleIds {
  readonly workflowId: string
  readonly notificationId: string
  readonly endpointId: string
}

export async function fill(scene: DashboardScene): Promise<SampleIds> {
  const made: Json[] = []
  for (const workflow of workflows) made.push(await scene.call('POST', '/v1/workflows', workflow))
  for (const [subscriberId, firstName, lastName] of people) {
    await scene.call('POST', '/v2/subscribers', {
      subscriberId,
      firstName,
      lastName,
      email: `${subscriberId}@example.com`,
      phone: '+4915112345678',
      locale: 'en',
      timezone: 'Europe/London',
    })
  }
  await scene.call('POST', '/v2/topics', { key: 'release-notes', name: 'Release notes' })
  await scene.call('POST', '/v2/topics/release-notes/subscriptions', { subscriptions: ['ada', 'grace', 'alan'] })
  await scene.call('POST', '/v1/layouts', {
    name: 'Acme',
    identifier: 'acme',
    content: '<html><body style="font-family:sans-serif"><h1>Acme</h1>{{{body}}}</body></html>',
    isDefault: true,
  })
  await scene.call('PUT', '/v1/translations/en', {
    texts: { order: { shipped: 'Your order is on its way' }, hello: 'Hello' },
  })
  await scene.call('PUT', '/v1/translations/de', { texts: { order: { shipped: 'Ihre Bestellung ist unterwegs' } } })
  await scene.call('POST', '/v1/suppressions', { channel: 'email', address: 'gone@example.com', reason: 'bounced' })
  await scene.call('POST', '/v1/tenants', { identifier: 'acme', name: 'Acme Ltd', data: { plan: 'team' } })
  await scene.call('POST', '/v1/workflow-overrides', {
    workflowId: 'weekly-report',
    tenantId: 'acme',
    active: false,
    preferenceSettings: { sms: false },
  })
  await scene.call('POST', '/v2/contexts', { type: 'workspace', id: 'design', data: { plan: 'team', members: 12 } })
  const endpoint = await scene.call('POST', '/v1/webhook-endpoints', {
    url: 'https://hooks.example.com/posthorn',
    description: 'Order service',
    eventTypes: ['message.bounced', 'subscriber.unsubscribed'],
  })
  for (const [index, [subscriberId]] of people.entries()) {
    await scene.call('POST', '/v1/events/trigger', {
      name: 'order-shipped',
      to: subscriberId,
      payload: { order: { id: 1001 + index } },
    })
  }
  for (const [subscriberId, plan] of [
    ['ada', 'gold'],
    ['grace', 'tin'],
    ['alan', 'gold'],
  ] as const) {
    await scene.call('POST', '/v1/events/trigger', { name: 'weekly-report', to: subscriberId, payload: { plan } })
  }
  await scene.call('POST', '/v1/events/trigger', { name: 'new-comment', to: 'ada', payload: { text: 'Nice work' } })
  await scene.call('POST', '/v1/events/trigger', { name: 'payment-failed', to: 'grace', payload: {} })
  const first = await scene.call('GET', '/v1/notifications?limit=50')
  const skipped = first.data.find(
    (one: Json) => one.template.name === 'Weekly report' && one.subscriber.subscriberId === 'grace',
  )
  return { workflowId: made[0]._id, notificationId: skipped._id, endpointId: endpoint._id }
}
