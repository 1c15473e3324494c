// Random environments: workflows, integrations, layouts, texts, tenants and people, as calls that can be made on any app.
import type { Json } from './app.ts'
import type { Random } from './random.ts'
import { randomOutput, randomTemplate } from './random-templates.ts'

export interface PlannedCall {
  readonly method: string
  readonly path: string
  readonly body?: Json
  readonly headers?: Readonly<Record<string, string>>
  /** What its `_id` is called: `<<name>>` in the path or body of a later call stands for it. */
  readonly named?: string
}

/** JSON knows numbers that `JSON.stringify` does not write: this text in a body is sent as the number itself. */
export const bareNumber = (text: string): string => `@number:${text}@`
/** As `bareNumber` is sent. */
export const withBareNumbers = (text: string): string => text.replaceAll(/"@number:([^@]*)@"/g, '$1')

export const post = (path: string, body: Json, named?: string): PlannedCall => ({
  method: 'POST',
  path,
  body,
  ...(named !== undefined && { named }),
})
export const patch = (path: string, body: Json): PlannedCall => ({ method: 'PATCH', path, body })

/** Stands for the day of the case in whatever is sent. */
export const today = '@today@'

export const peopleIds = ['ada', 'bo', 'cy', 'dee', 'eve'] as const
export const tenantIds = ['acme', 'quiet', 'bare'] as const
export const workflowIds = ['first', 'second'] as const
/** Names that an address of its own makes: lists of suppressed addresses name them. */
export const addressOf = (subscriberId: string): string => `${subscriberId}@example.org`

const endless = '{% for i in (1..99999999) %}{% endfor %}'
const failing = ['{{ payload.n | plus: payload }}', endless, '{{ payload.n | divided_by: 0 }}']

const texts = [
  'Hello {{ subscriber.firstName }} {{ subscriber.lastName }}',
  '{{ payload.text }} and {{ text | upcase | truncate: 50 }}',
  '{{ payload.text | split: "" | first }}|{{ payload.text | slice: 1 }}|{{ payload.text | size }}',
  '{{ missing }} {{ payload.missing.deep }} {{ subscriber.data.missing }}',
  '{% for i in payload.items limit: 20 %}{{ forloop.index }}:{{ i.name }} {{ i.price | number_format: 2 }};{% else %}none{% endfor %}',
  '{% if payload.n > 2 %}more{% elsif payload.n == 1 %}one{% else %}few{% endif %} {{ payload.n | plus: 1 }}',
  '{{ actor.firstName }} {{ actor.subscriberId }} {{ actor.data.n }} {{ actor.email | default: "no one" }}',
  '{{ tenant.identifier }} {{ tenant.name }} {{ tenant.data.plan }} {{ tenant | json }}',
  '{{ context.team.id }} {{ context.team.data.lead }} {{ context.app.id }} {{ context | json }}',
  '{{ "greeting" | t: name: subscriber.firstName }} {{ "only" | t }} {{ "nowhere" | t }}',
  '{{ payload.at | date: "%d %B %Y %H:%M" }} {{ "now" | date: "%s" }} {{ payload.price | number_format: 2 }}',
  '{{ payload.object | json }} {{ payload.odd | json }} {{ payload.odd.zero }} {{ payload.odd.huge }}',
  '{% for m in payload.object %}{{ m[0] }}={{ m[1] }} {% endfor %}',
  '{% for m in subscriber.data %}{{ m[0] }}={{ m[1] }} {% endfor %}{{ subscriber.data | json }}',
  '{% for m in tenant.data %}{{ m[0] }} {% endfor %}{% for m in context.team.data %}{{ m[0] }} {% endfor %}',
  '{% for m in actor.data %}{{ m[0] }} {% endfor %}{{ actor | json }}',
  '{{ step.events | size }} {{ step.total_count }} {{ step.digest }} {{ step.events[0].n }}',
  '{{ steps.bell.status }} {{ steps.bell.sent }} {{ steps.bell.seen }} {{ steps | json }}',
  '{{ workflow.name }} {{ workflow.identifier }} {{ workflow.tags | join }} {{ workflow.data | json }}',
  '{{ subscriber | json }}',
  '{{ subscriber.timezone }} {{ subscriber.locale }} {{ subscriber.isOnline }} {{ subscriber.lastOnlineAt }}',
  '<b>{{ payload.text }}</b><script>x</script>{{ payload.html | raw }} {{ payload.html }}',
  '{{ env.SHOP }} {{ unsubscribe.url }} {{ payload.defaulted }} {{ payload.nested.inner }}',
  '{{ 1 | divided_by: payload.odd.zero }} {{ payload.odd.zero | json }} {{ payload.odd.huge | plus: 1 }}',
]

export function randomText(random: Random): string {
  if (random.chance(0.03)) return random.oneOf(failing)
  if (random.chance(0.06)) return randomTemplate(random)
  if (random.chance(0.06)) return randomOutput(random)
  return random.chance(0.3) ? `${random.oneOf(texts)} ${random.oneOf(texts)}` : random.oneOf(texts)
}

const inApp = (random: Random): Json => ({
  type: 'in_app',
  content: randomText(random),
  ...(random.chance(0.3) && { subject: randomText(random) }),
  ...(random.chance(0.3) && {
    cta: {
      type: 'redirect',
      data: { url: 'https://example.org/{{ payload.n }}' },
      action: {
        buttons: [
          { type: 'primary', content: randomText(random), redirect: { url: 'https://example.org/{{ payload.text }}' } },
        ],
      },
    },
  }),
  ...(random.chance(0.3) && {
    actor: random.oneOf([
      { type: 'user', data: null },
      { type: 'system_custom', data: '{{ payload.image }}' },
      { type: 'none', data: null },
    ]),
  }),
  ...(random.chance(0.2) && { data: { n: '{{ payload.n }}', person: randomText(random) } }),
  ...(random.chance(0.15) && { feedId: '<<feed>>' }),
  ...(random.chance(0.15) && { disableOutputSanitization: true }),
  ...(random.chance(0.15) && { variables: [{ name: 'defaulted', defaultValue: 'by the template' }] }),
})

const email = (random: Random): Json => ({
  type: 'email',
  subject: randomText(random),
  ...(random.chance(0.6)
    ? { contentType: 'customHtml', content: `<p>${randomText(random)}</p>` }
    : {
        contentType: 'editor',
        content: [
          { type: 'text', content: randomText(random) },
          { type: 'button', content: 'Go', url: 'https://example.org/{{ payload.n }}' },
        ],
      }),
  ...(random.chance(0.2) && { preheader: randomText(random) }),
  ...(random.chance(0.2) && { senderName: 'From {{ tenant.name }}' }),
  ...(random.chance(0.1) && { from: { email: '{{ payload.from }}', name: 'Someone' } }),
  ...(random.chance(0.1) && { replyTo: 'reply+{{ payload.n }}@example.com' }),
  ...(random.chance(0.3) && { layoutId: random.oneOf(['frame', 'frame', null]) }),
  ...(random.chance(0.1) && { disableOutputSanitization: true }),
})

const waiting: readonly ((random: Random) => Json)[] = [
  (random) => ({
    template: { type: 'delay' },
    metadata: random.oneOf([
      { type: 'regular', amount: 5, unit: 'minutes' },
      { type: 'scheduled', delayPath: 'sendAt' },
      { type: 'timed', cron: '30 10 * * *' },
    ]),
  }),
  (random) => ({
    template: { type: 'digest' },
    metadata: random.oneOf([
      { type: 'regular', amount: 5, unit: 'minutes' },
      { type: 'backoff', amount: 5, unit: 'minutes', backoffAmount: 3, backoffUnit: 'minutes' },
      { type: 'regular', amount: 5, unit: 'minutes', digestKey: 'plan' },
    ]),
  }),
  () => ({
    template: { type: 'throttle' },
    metadata: { type: 'fixed', amount: 10, unit: 'minutes', threshold: 2 },
  }),
  () => ({ template: { type: 'sms', content: 'Hi {{ subscriber.firstName }}' } }),
]

const field = (on: string, name: string, operator: string, value: string): Json => ({
  on,
  field: name,
  operator,
  value,
})
const parts: readonly Json[] = [
  field('payload', 'plan', 'EQUAL', 'gold'),
  field('payload', 'n', 'LARGER', '2'),
  field('payload', 'text', 'LIKE', 'a'),
  field('payload', 'missing', 'NOT_EQUAL', 'x'),
  field('payload', 'odd.zero', 'EQUAL', '0'),
  field('payload', 'plan', 'EQUAL', '{{ subscriber.data.plan }}'),
  field('subscriber', 'data.plan', 'IN', 'gold, tin'),
  field('subscriber', 'firstName', 'NOT_EQUAL', 'Ada'),
  field('subscriber', 'locale', 'LIKE', 'de'),
  field('tenant', 'data.plan', 'EQUAL', 'gold'),
  field('tenant', 'name', 'NOT_EQUAL', 'x'),
  { on: 'isOnline', value: true },
  { on: 'isOnlineInLast', value: 5, timeOperator: 'minutes' },
  { on: 'previousStep', step: 'bell', stepType: 'sent' },
  { on: 'previousStep', step: 'bell', stepType: 'unseen' },
]
const asking = {
  on: 'webhook',
  webhookUrl: 'https://rules.example.com/ask',
  field: 'ok',
  operator: 'EQUAL',
  value: 'y',
}

const filters = (random: Random, isFirst: boolean): Json[] =>
  Array.from({ length: random.chance(0.8) ? 1 : 2 }, () => ({
    type: random.oneOf(['GROUP', 'GROUP', 'TEXT', 'NUMBER']),
    value: random.oneOf(['AND', 'OR']),
    isNegated: random.chance(0.25),
    children: Array.from({ length: 1 + random.integer(2) }, () => {
      if (random.chance(0.03)) return asking
      const part = random.oneOf(parts)
      return isFirst && part.on === 'previousStep' ? parts[0] : part
    }),
  }))

const skips: readonly Json[] = [
  { '==': [{ var: 'payload.plan' }, 'gold'] },
  { '!': { var: 'subscriber.firstName' } },
  { '>': [{ var: 'payload.n' }, 3] },
  { '==': [{ var: 'tenant.data.plan' }, 'basic'] },
  { in: ['a', { var: 'payload.text' }] },
  { '!': { var: 'steps.bell.seen' } },
  { '==': [{ var: 'context.team.data.lead' }, 'Ada'] },
]

function randomStep(random: Random, place: number): Json {
  const isFirst = place === 0
  const isWaiting = random.chance(isFirst ? 0.05 : 0.15)
  const saying = random.chance(0.5) ? inApp : email
  const own = isWaiting ? random.oneOf(waiting)(random) : { template: saying(random) }
  const variant = { active: random.chance(0.8), template: saying(random), filters: filters(random, isFirst) }
  return {
    name: isFirst ? 'Bell' : `Step ${place}`,
    ...own,
    ...(random.chance(0.08) && { active: false }),
    ...(random.chance(0.2) && { shouldStopOnFail: true }),
    ...(random.chance(0.25) && { filters: filters(random, isFirst) }),
    ...(random.chance(0.08) && { skip: random.oneOf(skips) }),
    ...(!isWaiting && random.chance(0.1) && { variants: [variant] }),
    ...(random.chance(0.05) && { replyCallback: { active: true, url: 'https://replies.example.com/' } }),
  }
}

const payloadSchema = {
  type: 'object',
  properties: {
    n: { type: 'integer', default: 4 },
    plan: { type: 'string', maxLength: 5 },
    defaulted: { type: 'string', default: 'by the schema' },
    nested: { type: 'object', properties: { inner: { type: 'string', default: 'within' } }, default: {} },
  },
}

const channelChoice = (random: Random): Json => ({
  [random.oneOf(['email', 'in_app', 'email', 'sms'])]: random.chance(0.4),
})

export function randomWorkflow(random: Random, workflowId: string): PlannedCall {
  const steps = Array.from({ length: 1 + random.integer(4) }, (_, place) => randomStep(random, place))
  return post(
    '/v1/workflows',
    {
      name: `The ${workflowId}`,
      workflowId,
      active: !random.chance(0.04),
      steps,
      ...(random.chance(0.15) && { critical: true }),
      ...(random.chance(0.2) && { preferenceSettings: channelChoice(random) }),
      ...(random.chance(0.3) && { severity: random.oneOf(['high', 'medium', 'low', 'none']) }),
      ...(random.chance(0.3) && { tags: ['one', 'two words'] }),
      ...(random.chance(0.25) && { payloadSchema, ...(random.chance(0.3) && { validatePayload: false }) }),
      ...(random.chance(0.2) && { data: { zebra: 1, a: { bb: 'x' } } }),
      ...(random.chance(0.1) && { isTranslationEnabled: true }),
    },
    workflowId,
  )
}

/** How an account answers is in the name of its host. */
export function randomIntegration(random: Random, name: string): PlannedCall {
  const answer = random.oneOf(['fine', 'fine', 'fine', 'fine', 'refuses', 'busy', 'cut'])
  const host = `${name}-${answer}.example.com`
  const account = random.chance(0.7)
    ? {
        providerId: 'sendgrid',
        credentials: { apiKey: 'SG.x', from: 'hello@example.com', senderName: 'Us', baseUrl: `https://${host}` },
      }
    : { providerId: 'email-webhook', credentials: { webhookUrl: `https://${host}/mail`, secretKey: 'secret' } }
  const ofPlan = { type: 'GROUP', value: 'AND', isNegated: false, children: [random.oneOf(parts.slice(0, 11))] }
  return post(
    '/v1/integrations',
    {
      channel: 'email',
      name,
      identifier: name,
      active: !random.chance(0.1),
      ...account,
      ...(random.chance(0.2) && { conditions: [ofPlan] }),
      ...(random.chance(0.1) && { configurations: { capture: true } }),
    },
    name,
  )
}

const quietHours = (random: Random): Json => ({
  isEnabled: true,
  outside: random.oneOf(['skip', 'hold', 'bundle']),
  weeklySchedule: everyDay(
    random.oneOf([
      { start: '09:00 AM', end: '05:00 PM' },
      { start: '02:00 AM', end: '11:00 AM' },
    ]),
  ),
})
const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const everyDay = (hours: Json): Json =>
  Object.fromEntries(days.map((day) => [day, { isEnabled: true, hours: [hours] }]))

export const randomPreferences = (random: Random): Json =>
  random.oneOf<() => Json>([
    () => ({ channels: channelChoice(random) }),
    () => ({ channels: channelChoice(random), workflowId: random.oneOf(workflowIds) }),
    () => ({ enabled: random.chance(0.3) }),
    () => ({ enabled: false, workflowId: random.oneOf(workflowIds) }),
    () => ({ schedule: quietHours(random) }),
    () => ({ doNotDisturbUntil: `${today}T04:00:00.000Z` }),
    () => ({ workflowId: random.oneOf(workflowIds), frequency: { type: random.oneOf(['hourly', 'instant']) } }),
  ])()

export const randomData = (random: Random): Json => ({
  zebra: 1,
  plan: random.oneOf(['gold', 'tin', 'basic']),
  ...(random.chance(0.3) && { a: { bb: [1, { c: null }], a: 'x' } }),
  ...(random.chance(0.2) && {
    n: random.oneOf([0.1, bareNumber('-0'), 1e21, bareNumber('1.50'), 12345678901234567000]),
  }),
  ...(random.chance(0.1) && { odd: random.oneOf(['emoji 🦆', 'é ê', 'two\nlines', '']) }),
})

export const zones = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC']
export const locales = ['de-AT', 'de', 'en', 'fr_FR', 'ar']

const person = (random: Random, subscriberId: string): Json => ({
  subscriberId,
  ...(random.chance(0.85) && { email: addressOf(subscriberId) }),
  ...(random.chance(0.7) && { firstName: random.oneOf(['Ada', 'Bo', '<b>Cy</b>', '🦆 Duck']) }),
  ...(random.chance(0.3) && { lastName: 'King' }),
  ...(random.chance(0.3) && { phone: '+4915110000' }),
  ...(random.chance(0.4) && { timezone: random.oneOf(zones) }),
  ...(random.chance(0.4) && { locale: random.oneOf(locales) }),
  ...(random.chance(0.2) && { avatar: 'https://example.org/me.png' }),
  ...(random.chance(0.5) && { data: randomData(random) }),
})

function randomPerson(random: Random, subscriberId: string): PlannedCall[] {
  if (random.chance(0.2)) return []
  const at = `/v2/subscribers/${subscriberId}`
  return [
    post('/v2/subscribers', person(random, subscriberId)),
    ...(random.chance(0.35) ? [patch(`${at}/preferences`, randomPreferences(random))] : []),
    ...(random.chance(0.15)
      ? [patch(`/v1/subscribers/${subscriberId}/online-status`, { isOnline: random.chance(0.6) })]
      : []),
    ...(random.chance(0.1) ? [{ method: 'DELETE', path: at }] : []),
  ]
}

const suppression = (random: Random): PlannedCall =>
  post('/v1/suppressions', {
    channel: 'email',
    address: addressOf(random.oneOf(peopleIds)).toUpperCase(),
    reason: random.oneOf(['bounced', 'opted_out', 'manual', 'complained']),
  })

const words: readonly PlannedCall[] = [
  { method: 'PUT', path: '/v1/translations/en', body: { texts: { greeting: 'Hello {name}', only: 'English' } } },
  { method: 'PUT', path: '/v1/translations/de', body: { texts: { greeting: 'Hallo {name} {{ payload.n }}' } } },
]
const layout = (isDefault: boolean): PlannedCall =>
  post('/v1/layouts', {
    name: 'Frame',
    identifier: 'frame',
    isDefault,
    content:
      '<html><body><h1>{{ tenant.name }} {{ subject }} {{ lang }}</h1>{{{body}}}{{ payload.text }}</body></html>',
  })

const override = (random: Random, tenantId: string): PlannedCall =>
  post('/v1/workflow-overrides', {
    workflowId: random.oneOf(workflowIds),
    tenantId,
    ...(random.chance(0.4) && { active: random.chance(0.5) }),
    ...(random.chance(0.7) && { preferenceSettings: channelChoice(random) }),
  })

export function randomSetup(random: Random): PlannedCall[] {
  const mails = random.oneOf([[], ['mail'], ['mail'], ['mail', 'other'], ['mail', 'other']])
  return [
    post('/v1/feeds', { name: 'News' }, 'feed'),
    ...(random.chance(0.5) ? [post('/v1/webhook-endpoints', { url: 'https://hooks.example.com/' }, 'hooks')] : []),
    ...mails.map((name) => randomIntegration(random, name)),
    ...(random.chance(0.4) ? words : []),
    layout(random.chance(0.3)),
    post('/v1/tenants', { identifier: 'acme', name: 'The acme', data: { zebra: 'z', plan: 'gold', a: 1 } }),
    post('/v1/tenants', { identifier: 'quiet', name: 'Quiet', data: { plan: 'basic' } }),
    post('/v1/tenants', { identifier: 'bare' }),
    post('/v2/contexts', { type: 'team', id: 'blue', data: { zebra: 1, lead: 'Ada', a: { bb: 1, a: 2 } } }),
    ...(random.chance(0.1) ? [patch('/v1/environments/me', { configurations: { capture: true } })] : []),
    ...workflowIds.map((workflowId) => randomWorkflow(random, workflowId)),
    ...tenantIds.filter(() => random.chance(0.4)).map((tenantId) => override(random, tenantId)),
    ...peopleIds.flatMap((subscriberId) => randomPerson(random, subscriberId)),
    ...(random.chance(0.4) ? [suppression(random)] : []),
    post('/v2/topics', { key: 'team-topic', name: 'Team' }),
    post('/v2/topics/team-topic/subscriptions', { subscriberIds: ['ada', 'bo'] }),
  ]
}
