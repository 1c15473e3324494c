// The values of examples, by field name: one small world of Ada, an order and its shop.

type Schema = Readonly<Record<string, unknown>>

const ids = {
  notification: '019b7ca9-9316-7165-8eff-b3fe562c5055',
  message: '019b7ca9-9316-7165-a18a-a62bf6d63d58',
  workflow: '019b7ca9-8f2e-70df-8841-dcc93f08a181',
  other: '019b7ca9-8f2e-757d-ad65-a2d8f4e13205',
}

/** For schemas whose fields mean nothing individually. */
export const wholes: Readonly<Record<string, unknown>> = {
  Subscriber: {
    ...{ _id: ids.other, subscriberId: 'user-1', firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' },
    ...{ phone: '+15551234567', avatar: null, locale: 'en', timezone: 'Europe/Berlin', data: { plan: 'team' } },
    ...{ channels: [], isOnline: false, lastOnlineAt: null, __v: 0, deleted: false },
    ...{ _organizationId: ids.other, _environmentId: ids.other },
    ...{ createdAt: '2026-01-02T03:04:05.678Z', updatedAt: '2026-01-02T03:04:05.678Z' },
  },
  MessageActor: { type: 'none', data: null },
  StepTemplate: { type: 'in_app', content: 'Order {{ order.id }} is on its way.' },
  PreferenceSettings: { in_app: true, email: true, sms: true, push: true, chat: true },
  PreferenceChannels: { in_app: true, email: false },
  CountSeries: { channel: 'email', outcome: 'sent', total: 40, counts: [12, 28] },
}

const webhookEndpoint = {
  ...{ url: 'https://api.example.com/posthorn', eventTypes: ['message.failed'], workflows: [], concurrency: 10 },
  ...{ description: 'Failures, for support', state: 'active', disabledBy: null, failures: 0, lastError: null },
}

/** Those of one schema, by its title; they win over those of all. */
const byTitle: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Topic: { name: 'Project 42', key: 'project:42' },
  Tenant: { name: 'Globex', identifier: 'globex' },
  Environment: { name: 'Development', identifier: 'Wn3kfM2Qp0aZ' },
  OwnEnvironment: { name: 'Development', identifier: 'Wn3kfM2Qp0aZ' },
  EnvironmentSettings: { name: 'Development' },
  Integration: { name: 'SendGrid', identifier: 'sendgrid-main', channel: 'email', active: true, primary: true },
  Provider: { name: 'SendGrid', channel: 'email', docsUrl: 'https://docs.sendgrid.com', verifiedAgainst: 'vendor' },
  CredentialField: { key: 'apiKey', label: 'API key', type: 'string', required: true, secret: true },
  Layout: { name: 'Acme', identifier: 'acme', content: '<html><body>{{{body}}}</body></html>' },
  LayoutV2: { name: 'Acme', layoutId: 'acme' },
  NotificationGroup: { name: 'General' },
  NamedFeed: { name: 'News', identifier: 'news' },
  ApiKey: { name: 'Deploy', hint: 'x7Qp' },
  NewApiKey: { name: 'Deploy', hint: 'x7Qp', key: 'ph_4fQh2Vn8yJ0sRkT6wZ1cB3mE5gL7dP9aX2uN4vK6x7Qp' },
  WebhookEndpoint: { ...webhookEndpoint },
  NewWebhookEndpoint: { ...webhookEndpoint, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD5G1tZEMkk0c=' },
  WebhookDelivery: {
    ...{ _id: ids.notification, type: 'message.failed', status: 'delivered', attempts: 2, nextAttemptAt: null },
    body: { type: 'message.failed', timestamp: '2026-01-02T03:04:05.678Z', data: {} },
  },
  WebhookAttempt: { durationMs: 85, status: 200, answer: 'ok', error: null },
  RedrivenWebhookDeliveries: { redriven: 12, isCapped: false, nextFrom: null },
  Context: { type: 'project', id: '42' },
  Suppression: { address: 'gone@example.com', reason: 'bounced', source: 'provider' },
  Translation: { texts: { order: { shipped: 'Order {id} is on its way.' } } },
  Message: { _id: ids.message, status: 'sent', content: 'Order 7 is on its way.' },
  FeedItem: {
    channel: 'in_app',
    providerId: 'platform',
    _id: ids.message,
    status: 'sent',
    content: 'Order 7 is on its way.',
  },
  ActivityJob: { status: 'completed', providerId: 'platform', type: 'in_app' },
  ActivityJobDetail: { status: 'completed', providerId: 'platform', type: 'in_app' },
  ExecutionDetail: { detail: 'Message sent', status: 'Success', source: 'Internal' },
  EventProgress: { state: 'completed', name: 'order-shipped' },
  NotificationTrigger: { name: 'order.id', identifier: 'order-shipped' },
  NotificationStep: { name: 'Bell', uuid: 'bell' },
  Simulation: { status: 'processed', recipientCount: 1 },
  SimulatedStep: {
    ...{ stepId: 'mail', name: 'Mail', type: 'email', outcome: 'run', status: 'completed' },
    sentence: 'Would be sent through sendgrid (integration sendgrid-main).',
  },
  SimulatedReason: { code: 'providerSelected', sentence: 'sendgrid was selected to send it.' },
  WhyStep: { name: 'Mail', type: 'email', status: 'completed', sentence: 'Sent: sendgrid accepted the e-mail.' },
  WhyReason: { code: 'messageSent', sentence: 'Sent: sendgrid accepted the e-mail.' },
  Counts: { starts: ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'], step: 'day', total: 40 },
  CountedFailure: { code: 'providerError', total: 3 },
  CountedFailures: { total: 3 },
  AuditEntry: { seq: 41, action: 'change', resourceKind: 'integration', resourceName: 'sendgrid-main' },
  TopicSubscriptionsResult: { successful: 1 },
  TopicSubscription: { identifier: 'tk_project:42:si_user-1' },
  QueueLane: { queue: 'jobs', lane: 'direct' },
  Error: { message: 'Subscriber grace was not found' },
}

const byName: Readonly<Record<string, unknown>> = {
  batchMax: 1,
  conditions: [],
  contextKeys: [],
  count: 40,
  deletedAt: '',
  deletedBy: '',
  dropped: [],
  filters: [],
  id: ids.workflow,
  severity: 'none',
  stepId: 'mail',
  templateIdentifier: 'order-shipped',
  topics: [],
  uuid: 'mail',
  variants: [],
  zone: 'UTC',
  _feedId: null,
  acknowledged: true,
  active: true,
  address: '203.0.113.7',
  atTime: '09:00',
  channel: 'email',
  content: 'Order 7 is on its way.',
  data: {},
  description: 'When an order leaves the warehouse.',
  email: 'ada@example.com',
  enabled: true,
  firstName: 'Ada',
  hash: 'b91e5a0c7d3f4e21b91e5a0c7d3f4e21b91e5a0c7d3f4e21b91e5a0c7d3f4e21',
  identifier: 'order-shipped',
  key: 'order',
  keyName: 'Deploy',
  lastName: 'Lovelace',
  limit: 10,
  locale: 'en',
  message: 'SendGrid answered 503: try later',
  name: 'Order shipped',
  next: null,
  notifications: 1,
  ok: true,
  page: 0,
  pageSize: 10,
  passed: true,
  payload: { order: { id: 7 } },
  phone: '+15551234567',
  previous: null,
  previousHash: '0'.repeat(64),
  providerId: 'sendgrid',
  sentence: 'It was selected.',
  slug: 'order-shipped',
  subject: 'Order 7 is on its way',
  subscriberId: 'user-1',
  summary: 'Notified by in-app message and e-mail.',
  tags: ['orders'],
  timezone: 'Europe/Berlin',
  title: 'Order 7',
  topicKey: 'project:42',
  totalCount: 1,
  transactionId: 'order-7-shipped',
  url: 'https://shop.example.com/orders/7',
  workflowId: 'order-shipped',
  _id: ids.other,
  _notificationId: ids.notification,
  _templateId: ids.workflow,
  keyId: ids.other,
  notificationId: ids.notification,
  requestId: ids.notification,
  resourceId: ids.other,
  messageId: ids.message,
}

/** The schema that a member belongs to, by its title, and the member's name. */
export interface Place {
  readonly title: string
  readonly name: string
}

/** Undefined if the name is unknown, or its value has another type than the schema. */
export function valueNamed({ title, name }: Place, schema: Schema): unknown {
  const own = byTitle[title]?.[name]
  const value = own === undefined ? (byName[name] ?? (name in byName ? null : idNamed(name))) : own
  return value !== undefined && fits(value, schema) ? value : undefined
}

const idNamed = (name: string): string | undefined => (/^_\w+Id$/.test(name) ? ids.other : undefined)

function fits(value: unknown, { type, enum: allowed, format, required }: Schema): boolean {
  if (Array.isArray(allowed)) return allowed.includes(value)
  if (format === 'date-time') return false
  // `data` is the caller's own on a resource, and the resource itself on an envelope.
  if (value === byName['data'] && Array.isArray(required) && required.length > 0) return false
  const kind =
    value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value
  const types: unknown[] = Array.isArray(type) ? type : [type]
  return types.includes(kind) || (kind === 'integer' && types.includes('number'))
}
