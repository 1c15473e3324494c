// Random workflows, people and events of every kind, and vendors that take whatever they are given.
import type { OutboundAnswer } from '../../src/world/world.ts'
import type { Json, TestApp } from './app.ts'
import type { FlowScene } from './flow-scene.ts'
import { fresh } from './flow-scene.ts'
import type { Random } from './random.ts'

/** What the customer's own services answer; the simulation is asked to take the same for granted. */
export const serviceResult = { flag: 'yes' }

const minuteMs = 60_000

/** Integrations of all channels: some with conditions, some that are not active, and one channel entry without any. */
export async function openAccounts(scene: FlowScene): Promise<string[]> {
  scene.app.world.onFetch = (request) => vendorAnswer(new URL(request.url))
  const identifiers: string[] = []
  const account = async (channel: string, providerId: string, credentials: object, more: object = {}) => {
    const identifier = fresh(providerId)
    const body = { channel, providerId, name: identifier, identifier, credentials, active: true, ...more }
    await scene.expect(201, 'POST', '/v1/integrations', body)
    identifiers.push(identifier)
  }
  const sendgrid = (host: string) => ({
    apiKey: `SG.${host}`,
    from: 'hello@example.com',
    baseUrl: `https://${host}.example.com`,
  })
  const ofPlan = { type: 'GROUP', value: 'AND', isNegated: false, children: [fieldPart('payload', 'plan', 'gold')] }
  await account('email', 'sendgrid', sendgrid('mail'))
  await account('email', 'sendgrid', sendgrid('gold'), { conditions: [ofPlan] })
  await account('email', 'sendgrid', sendgrid('off'), { active: false })
  const twilio = { accountSid: 'ACtest', token: 'secret', from: '+14155550100', baseUrl: 'https://twilio.example.com' }
  await account('sms', 'twilio', twilio)
  const push = { webhookUrl: 'https://push.example.com/hook', secretKey: 'secret' }
  await account('push', 'push-webhook', push)
  await account('push', 'expo', { apiKey: 'key' }, { active: false })
  await account('chat', 'discord', {})
  return identifiers
}

function vendorAnswer({ hostname }: URL): OutboundAnswer {
  const answer = (status: number, body: object | string, headers: Record<string, string> = {}): OutboundAnswer => ({
    status,
    headers: new Headers(headers),
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  if (hostname.startsWith('twilio')) return answer(201, { sid: 'SM1', status: 'queued' })
  if (hostname.startsWith('service')) return answer(200, serviceResult)
  if (hostname.startsWith('rules')) return answer(200, { allowed: 'yes' })
  if (hostname.endsWith('discord.com')) return answer(200, { id: '1' })
  if (hostname.startsWith('push')) return answer(200, { id: 'push-1' })
  return answer(202, '', { 'x-message-id': 'mail-1' })
}

const fieldPart = (on: string, field: string, value: string, operator = 'EQUAL') => ({ on, field, operator, value })

const zones = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC']
const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

export interface RandomPerson {
  readonly subscriberId: string
  /** What the database holds of them that no call of the test sets. */
  readonly preferences: object | null
  readonly isOnline: boolean
  readonly suppressed: readonly { channel: string; address: string }[]
}

export async function makePeople(scene: FlowScene, random: Random, count: number): Promise<RandomPerson[]> {
  const people: RandomPerson[] = []
  const subscribers: Json[] = []
  for (let index = 0; index < count; index += 1) {
    const subscriberId = fresh('person')
    const email = random.chance(0.85) ? `${subscriberId}@example.org` : undefined
    const phone = random.chance(0.75) ? `+49151${String(10_000_000 + index)}` : undefined
    subscribers.push({
      subscriberId,
      ...(email && { email }),
      ...(phone && { phone }),
      ...(random.chance(0.8) && { firstName: random.oneOf(['Ada', 'Bo', '<b>Cy</b>']) }),
      ...(random.chance(0.7) && { timezone: random.oneOf(zones) }),
      ...(random.chance(0.3) && { locale: 'de_DE' }),
      data: { tier: random.oneOf(['a', 'b']), n: random.integer(4) },
    })
    const suppressed = [
      ...(email !== undefined && random.chance(0.1) ? [{ channel: 'email', address: email }] : []),
      ...(phone !== undefined && random.chance(0.1) ? [{ channel: 'sms', address: phone }] : []),
    ]
    const preferences = random.chance(0.6) ? randomPreferences(scene.app, random) : null
    people.push({ subscriberId, preferences, isOnline: random.chance(0.3), suppressed })
  }
  for (const subscriber of subscribers) await scene.expect(201, 'POST', '/v2/subscribers', subscriber)
  for (const { subscriberId, suppressed } of people) {
    for (const one of suppressed) await scene.expect(201, 'POST', '/v1/suppressions', { ...one, reason: 'manual' })
    for (const entry of randomEntries(random, subscriberId)) {
      await scene.expect(200, 'PUT', `/v1/subscribers/${subscriberId}/credentials`, entry)
    }
  }
  return people
}

const discord = (subscriberId: string) => `https://discord.com/api/webhooks/1/${subscriberId}`

function randomEntries(random: Random, subscriberId: string): object[] {
  return [
    ...(random.chance(0.5)
      ? [{ providerId: 'push-webhook', credentials: { deviceTokens: [`${subscriberId}-a`, `${subscriberId}-b`] } }]
      : []),
    ...(random.chance(0.3) ? [{ providerId: 'expo', credentials: { deviceTokens: [`${subscriberId}-c`] } }] : []),
    ...(random.chance(0.5) ? [{ providerId: 'discord', credentials: { webhookUrl: discord(subscriberId) } }] : []),
    // Kept for the first integration of its provider, which never comes.
    ...(random.chance(0.2) ? [{ providerId: 'telegram', credentials: { channel: '1' } }] : []),
  ]
}

function randomPreferences({ world }: TestApp, random: Random): object {
  const hours = [{ start: random.oneOf(['08:00 AM', '09:00 AM']), end: random.oneOf(['05:00 PM', '06:00 PM']) }]
  const weeklySchedule = Object.fromEntries(
    days.filter(() => random.chance(0.8)).map((day) => [day, { isEnabled: true, hours }]),
  )
  const outside = random.oneOf(['skip', 'hold', 'bundle', 'bundle'])
  const until = new Date(world.now().getTime() + (1 + random.integer(3)) * 7 * 60 * minuteMs).toISOString()
  return {
    ...(random.chance(0.2) && { channels: { [random.oneOf(['email', 'sms', 'in_app', 'push', 'chat'])]: false } }),
    ...(random.chance(0.05) && { enabled: false }),
    ...(random.chance(0.6) && { schedule: { isEnabled: true, outside, weeklySchedule } }),
    ...(random.chance(0.15) && { doNotDisturbUntil: until }),
  }
}

/** What one of them wants of one workflow, beside what they want of all. */
export const randomChoice = (random: Random, now: Date): object => ({
  ...(random.chance(0.3) && { enabled: false }),
  ...(random.chance(0.3) && { channels: { email: random.chance(0.5), in_app: random.chance(0.5) } }),
  ...(random.chance(0.6) && {
    frequency: random.oneOf([{ type: 'hourly' }, { type: 'daily', atTime: '09:30' }, { type: 'weekly' }]),
  }),
  updatedAt: now.toISOString(),
})

/** Cheap to refuse, and only found out when it is rendered. */
const broken = '{% for i in (1..payload.huge) %}x{% endfor %}'
const gathered = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'
const texts = [
  'Hello {{ subscriber.firstName }} of {{ subscriber.data.tier }}',
  `All ${gathered}`,
  '{{ payload.plan }} at {{ "now" | date: "%Y-%m-%d %H:%M" }}',
  'After {{ steps.first.status }}{% if steps.first.sent %} sent{% endif %} {{ steps.call.flag }}',
  '{{ actor.subscriberId }} {{ tenant.name }} {{ context.app.data.kind }} {{ workflow.name }}',
]

const timing = (random: Random): object => ({
  amount: random.oneOf([1, 5, 30]),
  unit: random.oneOf(['minutes', 'minutes', 'hours']),
})

const sayings: Readonly<Record<string, (text: string, random: Random) => object>> = {
  in_app: (content) => ({ type: 'in_app', content }),
  email: (text, random) =>
    random.chance(0.5)
      ? { type: 'email', subject: text, contentType: 'customHtml', content: `<p>${text}</p>` }
      : { type: 'email', subject: 'Blocks', contentType: 'editor', content: [{ type: 'text', content: text }] },
  sms: (content) => ({ type: 'sms', content }),
  push: (content) => ({ type: 'push', title: 'Title', content }),
  chat: (content) => ({ type: 'chat', content }),
}

function saying(random: Random, type = random.oneOf(Object.keys(sayings))): object {
  const text = random.chance(0.06) ? broken : random.oneOf(texts)
  return sayings[type]?.(text, random) ?? {}
}

const waits: readonly ((random: Random) => object)[] = [
  (random) => ({ type: 'regular', ...timing(random) }),
  () => ({ type: 'scheduled', delayPath: 'sendAt' }),
  () => ({ type: 'dynamic', dynamicKey: 'later' }),
  () => ({ type: 'timed', cron: '30 10 * * *' }),
  () => ({ type: 'timed', amount: 1, unit: 'days', timed: { atTime: '11:00' } }),
]

const digests: readonly ((random: Random) => object)[] = [
  (random) => ({ type: 'regular', ...timing(random), ...(random.chance(0.3) && { digestKey: 'plan' }) }),
  (random) => ({ type: 'regular', ...timing(random), backoff: true, backoffAmount: 3, backoffUnit: 'minutes' }),
  () => ({ type: 'timed', amount: 1, unit: 'days', timed: { atTime: '10:00' } }),
]

function pause(random: Random): object {
  const extended = random.chance(0.3) ? { extendToSchedule: true } : {}
  switch (random.oneOf(['delay', 'digest', 'throttle', 'custom'])) {
    case 'delay':
      return { template: { type: 'delay' }, metadata: { ...random.oneOf(waits)(random), ...extended } }
    case 'digest':
      return { template: { type: 'digest' }, metadata: { ...random.oneOf(digests)(random), ...extended } }
    case 'throttle':
      return { template: { type: 'throttle' }, metadata: throttled(random) }
    default:
      return { name: 'call', template: { type: 'custom' }, metadata: called(random) }
  }
}

const throttled = (random: Random): object => ({
  type: 'fixed',
  amount: 10,
  unit: 'minutes',
  threshold: random.oneOf([1, 2]),
  ...(random.chance(0.3) && { throttleKey: 'plan' }),
})

const called = (random: Random): object => ({
  type: 'http',
  url: 'https://service.example.com/call?token={{ payload.plan }}',
  body: { who: random.chance(0.1) ? broken : '{{ subscriber.subscriberId }}' },
  continueOnFailure: random.chance(0.5),
})

const parts: readonly object[] = [
  fieldPart('payload', 'plan', 'gold'),
  fieldPart('payload', 'plan', '{{ payload.plan }}'),
  fieldPart('subscriber', 'firstName', 'Ada', 'NOT_EQUAL'),
  fieldPart('subscriber', 'data.n', '1', 'LARGER'),
  { on: 'isOnline', value: true },
  { on: 'previousStep', step: 'first', stepType: 'sent' },
  { on: 'previousStep', step: 'first', stepType: 'unread' },
  { on: 'webhook', webhookUrl: 'https://rules.example.com/ask', field: 'allowed', operator: 'EQUAL', value: 'yes' },
  fieldPart('payload', 'plan', broken),
]

const filters = (random: Random): object[] => [
  {
    type: 'GROUP',
    value: random.oneOf(['AND', 'OR']),
    isNegated: random.chance(0.2),
    children: Array.from({ length: 1 + random.integer(2) }, () => {
      const part = random.oneOf(parts)
      return part === parts.at(-1) && random.chance(0.7) ? parts[0] : part
    }),
  },
]

function randomStep(random: Random, place: number): object {
  const isFirst = place === 0
  const template = saying(random)
  const { type } = template as { type: string }
  const own = random.chance(0.4) ? pause(random) : { template }
  const variants =
    isFirst || 'metadata' in own || !random.chance(0.15)
      ? []
      : [{ active: random.chance(0.8), template: saying(random, type), filters: filters(random) }]
  return {
    ...(isFirst ? { name: 'first', uuid: 'first' } : {}),
    ...own,
    active: !random.chance(0.05),
    shouldStopOnFail: random.chance(0.2),
    ...(random.chance(0.25) && !isFirst && { filters: filters(random) }),
    ...(variants.length === 0 ? {} : { variants }),
  }
}

export interface RandomWorkflow {
  readonly body: Json
  /** Its first step counts or gathers, and no other does: what an earlier event left there is distinguished. */
  readonly isRepeatable: boolean
}

const isCounting = ({ template }: Json): boolean => ['digest', 'throttle'].includes(template.type)

export function randomWorkflow(random: Random): RandomWorkflow {
  const steps: Json[] = Array.from({ length: 1 + random.integer(6) }, (_, place) => randomStep(random, place))
  if (random.chance(0.3)) {
    const counting = random.chance(0.5)
      ? { template: { type: 'digest' }, metadata: random.oneOf(digests.slice(0, 2))(random) }
      : { template: { type: 'throttle' }, metadata: throttled(random) }
    const quick = steps.filter(({ metadata }) => metadata === undefined)
    steps.splice(0, steps.length, { name: 'first', uuid: 'first', ...counting }, ...quick.map(unnamed))
  }
  // Without an active step nothing would run.
  const last = steps.at(-1)
  last.active = true
  const name = fresh('workflow')
  const body = {
    name,
    workflowId: name,
    active: true,
    critical: random.chance(0.1),
    ...(random.chance(0.15) && { preferenceSettings: { [random.oneOf(['email', 'sms', 'push'])]: false } }),
    steps,
  }
  const [first, ...rest] = steps
  return { body, isRepeatable: isCounting(first) && rest.every(({ metadata }) => metadata === undefined) }
}

const unnamed = ({ name: _, uuid: __, ...step }: Json): Json => step

/** One event for all of them, and for some whom no other event names: what it says of those is written with it. */
export function randomEvent(
  random: Random,
  now: Date,
  { to, own, identifiers }: { to: readonly string[]; own: readonly string[]; identifiers: readonly string[] },
): Json {
  const sendAt = new Date(now.getTime() + random.oneOf([-5, 45, 600]) * minuteMs).toISOString()
  return {
    to: [...to, ...own.map((subscriberId) => described(random, subscriberId))],
    payload: {
      plan: random.oneOf(['gold', 'tin']),
      n: random.integer(100),
      huge: 3_000_000,
      ...(random.chance(0.9) && { sendAt }),
      later: random.oneOf([{ amount: 20, unit: 'minutes' }, sendAt, 'nonsense']),
    },
    ...(random.chance(0.2) && { overrides: overrides(random, identifiers) }),
    ...(random.chance(0.3) && { actor: { subscriberId: own[0], lastName: 'Actor' } }),
    ...(random.chance(0.3) && { tenant: random.oneOf(['acme', { identifier: 'acme', name: 'Acme' }]) }),
    ...(random.chance(0.3) && { context: { app: { id: random.oneOf(['one', 'two']), data: { kind: 'x' } } } }),
  }
}

const described = (random: Random, subscriberId: string): Json => ({
  subscriberId,
  ...(random.chance(0.7) && { email: random.chance(0.3) ? null : `new-${subscriberId}@example.org` }),
  ...(random.chance(0.5) && { phone: '+4915155555' }),
  ...(random.chance(0.3) && { timezone: random.oneOf(zones) }),
  ...(random.chance(0.3) && { data: { tier: 'c' } }),
  ...(random.chance(0.5) && {
    channels: [
      { providerId: 'push-webhook', credentials: { deviceTokens: [`${subscriberId}-d`] } },
      { providerId: 'discord', credentials: { webhookUrl: discord(subscriberId) } },
    ],
  }),
})

function overrides(random: Random, identifiers: readonly string[]): object {
  return random.oneOf([
    { email: { integrationIdentifier: random.oneOf([...identifiers, 'unknown']) } },
    { severity: 'high' },
    { email: { bcc: ['copy@example.org'], subject: 'Another' } },
    { duration: { amount: 2, unit: 'minutes' } },
    { email: { to: ['not an address'] } },
  ])
}
