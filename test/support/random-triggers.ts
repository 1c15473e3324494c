// Random events for the people of a random environment, and what changes there between them.
import type { Json } from './app.ts'
import type { Random } from './random.ts'
import type { PlannedCall } from './random-setups.ts'
import {
  addressOf,
  bareNumber,
  locales,
  patch,
  peopleIds,
  post,
  randomData,
  randomIntegration,
  randomPreferences,
  randomWorkflow,
  tenantIds,
  today,
  workflowIds,
  zones,
} from './random-setups.ts'
import { randomPayload } from './random-templates.ts'

/** What is sent at the same time, and waited for together. */
export interface Turn {
  readonly calls: readonly PlannedCall[]
  /** What its events are, for counting which of them are decided at once. */
  readonly kinds: readonly string[]
  /** How far the clock goes on before it. */
  readonly afterMs: number
}

const odd = ['🦆 Duck', 'e\u0301', '\u202eright to left', '', 'two\nlines']
const strings = ['a word', '<i>&amp;"\'', '{{ payload.n }}', ...odd]
/** They are refused: no database could store them. */
const unstorable = ['half \ud83d', '\udc00 low', 'NUL \u0000 within', bareNumber('1e400')]

function randomContent(random: Random): Json {
  const letters = random.oneOf([0, 0, 0, 0, 500, 8_000, 30_000, 60_000, 70_000])
  return {
    n: random.oneOf([0, 1, 2, 3, 7, -1, 2.5]),
    text: random.oneOf(strings),
    plan: random.oneOf(['gold', 'tin', 'basic']),
    html: '<em>x</em><script>y</script>',
    ...(random.chance(0.4) && {
      items: [
        { name: 'Lamp', price: 20 },
        { name: random.oneOf(odd), price: 3.456 },
      ],
    }),
    ...(random.chance(0.4) && { object: { zebra: 1, a: random.oneOf(odd), '10': 'ten', bb: { d: null } } }),
    ...(random.chance(0.3) && { at: '2026-03-02T12:00:00Z', price: 1234.5 }),
    ...(random.chance(0.2) && {
      odd: { zero: bareNumber('-0'), huge: bareNumber('1e308'), tiny: bareNumber('1e-400') },
    }),
    ...(random.chance(0.02) && { refused: random.oneOf(unstorable) }),
    ...(random.chance(0.5) && { sendAt: `${today}T03:30:00.000Z` }),
    ...(random.chance(0.1) && { email: 'payload@example.org' }),
    ...(random.chance(0.1) && { from: 'payload-from@example.org', image: 'https://example.org/x.png' }),
    ...(random.chance(0.1) && randomPayload(random)),
    ...(letters > 0 && { long: 'x'.repeat(letters) }),
  }
}

const payloadOf = (random: Random): Json =>
  random.oneOf<() => Json>([
    ...Array.from({ length: 8 }, () => () => randomContent(random)),
    () => ({}),
    () => ({ n: random.oneOf(['text', null, [1], { a: 1 }]), plan: random.oneOf(['far too long', 3, null]) }),
  ])()

function changedPerson(random: Random, subscriberId: string): Json {
  return {
    subscriberId,
    ...(random.chance(0.4) && {
      email: random.chance(0.03)
        ? 'New <n@example.org>'
        : random.oneOf([null, addressOf(subscriberId), 'new@example.org', 'NEW@example.org']),
    }),
    ...(random.chance(0.3) && { firstName: random.oneOf([null, 'New', ...strings]) }),
    ...(random.chance(0.2) && { lastName: random.oneOf([null, 'King', 'Hopper']) }),
    ...(random.chance(0.2) && { locale: random.oneOf([null, ...locales]) }),
    ...(random.chance(0.2) && { timezone: random.oneOf([null, ...zones]) }),
    ...(random.chance(0.1) && { phone: random.oneOf([null, '+49151']) }),
    ...(random.chance(0.1) && { avatar: random.oneOf([null, 'https://example.org/other.png']) }),
    ...(random.chance(0.3) && { data: random.oneOf([null, {}, randomData(random)]) }),
    ...(random.chance(0.05) && {
      channels: [{ providerId: 'slack', credentials: { webhookUrl: 'https://hooks.slack.com/services/T/B/x' } }],
    }),
  }
}

let newcomers = 0
const someone = (random: Random, among: readonly string[]): Json => {
  const known = random.oneOf(among)
  const kind = random.integer(10)
  if (kind < 4) return known
  if (kind < 8) return changedPerson(random, known)
  newcomers += 1
  const subscriberId = `${random.oneOf(['new', 'ünïcode 🦆', ' trimmed '])}${newcomers}`
  return random.chance(0.3) ? subscriberId : { ...changedPerson(random, subscriberId), email: 'newcomer@example.org' }
}

function recipients(random: Random, among: readonly string[]): Json {
  const kind = random.integer(20)
  if (kind < 12) return someone(random, among)
  if (kind < 16) return Array.from({ length: 1 + random.integer(3) }, () => someone(random, among))
  if (kind === 16) return [someone(random, among), { type: 'Topic', topicKey: random.oneOf(['team-topic', 'none']) }]
  if (kind === 17) return [someone(random, among), random.oneOf([{ subscriberId: '' }, { email: 'no id' }, 5, null])]
  return [someone(random, among)]
}

const teams: readonly Json[] = ['blue', 'red', { id: 'blue' }, { id: 'blue', data: { lead: 'Grace' } }]
const context = (random: Random): Json => ({
  team: random.chance(0.7)
    ? random.oneOf(teams)
    : { id: `team-${random.integer(4)}`, ...(random.chance(0.5) && { data: { zebra: 1, lead: 'Joan', a: 2 } }) },
  ...(random.chance(0.3) && { app: random.oneOf(['web', 'mobile']) }),
})

const overrides: readonly Json[] = [
  { email: { integrationIdentifier: 'other' } },
  { email: { integrationIdentifier: 'unknown' } },
  { email: { to: ['also@example.org'], cc: ['copy@example.org'], bcc: 'blind@example.org', headers: { 'X-A': '1' } } },
  { email: { toRecipient: 'instead@example.org', subject: 'Over {{ n }}', text: 'plain' } },
  { email: { from: 'Other <other@example.com>', replyTo: 'r@example.com', senderName: 'S', html: '<b>mine</b>' } },
  { email: { to: ['not an address'] } },
  { email: { customData: { a: 1 }, ipPoolName: 'pool' } },
  { sendgrid: { subject: 'For one provider' } },
  { providers: { sendgrid: { _passthrough: { body: { extra: true }, headers: { 'X-P': 'y' } } } } },
  { steps: { bell: { providers: { sendgrid: { categories: ['x'] } }, layoutId: 'frame' } } },
  { channels: { email: { layoutId: null } } },
  { channels: { email: { layoutId: 'frame' } } },
  { channels: { email: { layoutId: 'no-such-layout' } } },
  { layoutIdentifier: 'frame' },
  { severity: 'high' },
  { severity: 'wrong' },
  { delay: { amount: 2, unit: 'minutes' } },
]

const tenant = (random: Random): Json =>
  random.oneOf<Json>([
    ...tenantIds,
    ...tenantIds,
    { identifier: 'acme' },
    { identifier: 'acme', name: 'Renamed' },
    { identifier: 'acme', data: { plan: 'tin', zebra: 1 } },
    'no-such-tenant',
    { identifier: 'made-by-an-event', name: 'Made' },
  ])

function randomEvent(random: Random, among: readonly string[], transactions: string[]): Json {
  const transactionId = transactionOf(random, transactions)
  return {
    name: random.chance(0.02) ? 'no-such-workflow' : random.oneOf(workflowIds),
    to: recipients(random, among),
    ...(random.chance(0.92) && { payload: payloadOf(random) }),
    ...(random.chance(0.2) && { overrides: random.oneOf(overrides) }),
    ...(transactionId !== undefined && { transactionId }),
    ...(random.chance(0.25) && { actor: random.chance(0.5) ? 'eve' : changedPerson(random, 'eve') }),
    ...(random.chance(0.25) && { tenant: tenant(random) }),
    ...(random.chance(0.25) && { context: context(random) }),
  }
}

function transactionOf(random: Random, transactions: string[]): string | undefined {
  if (random.chance(0.5)) return undefined
  if (transactions.length > 0 && random.chance(0.15)) return random.oneOf(transactions)
  const made = random.oneOf(['event', 'event with words', 'evént/🦆']) + transactions.length
  transactions.push(made)
  return made
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

function kindsOf(event: Json, key: string | undefined): string[] {
  const to: Json[] = [event.to].flat()
  const length = JSON.stringify(event).length
  return [
    'a single event',
    ...(to.length > 1 ? ['several recipients'] : []),
    ...(to.some((one) => isObject(one) && one.topicKey) ? ['a topic'] : []),
    ...(to.some((one) => isObject(one) && Object.keys(one).length > 1) ? ['a recipient with fields'] : []),
    ...(to.some((one) => isObject(one) && one.channels) ? ['a recipient with channels'] : []),
    ...(event.actor === undefined ? [] : [`an actor${isObject(event.actor) ? ' with fields' : ''}`]),
    ...(event.tenant === undefined
      ? []
      : [isObject(event.tenant) && Object.keys(event.tenant).length > 1 ? 'a tenant with fields' : 'a tenant']),
    ...(event.context === undefined
      ? []
      : [isObject(event.context.team) && event.context.team.data ? 'a context with data' : 'a context']),
    ...(event.overrides === undefined ? [] : ['overrides']),
    ...(event.transactionId === undefined ? [] : ['a transactionId']),
    ...(length > 65_000 ? ['more than 64 KiB'] : length > 8_000 ? ['more than 8 kB'] : []),
    ...(event.payload?.attachments ? ['attachments'] : []),
    ...(key === undefined ? [] : ['an idempotency key']),
  ]
}

const trigger = (event: Json, key: string | undefined): PlannedCall => ({
  ...post('/v1/events/trigger', event),
  ...(key !== undefined && { headers: { 'idempotency-key': key } }),
})

/** Two of the same at the same time would differ by chance, so people, keys and transactions of one turn are apart. */
function together(random: Random, transactions: string[]): Omit<Turn, 'afterMs'> {
  const events = [peopleIds.slice(0, 2), peopleIds.slice(2, 4)].map((among) => ({
    ...randomEvent(random, among, transactions),
    tenant: undefined,
    actor: undefined,
    transactionId: undefined,
  }))
  return { calls: events.map((event) => trigger(event, undefined)), kinds: ['two at the same time'] }
}

function change(random: Random): PlannedCall {
  const subscriberId = random.oneOf(peopleIds)
  return random.oneOf<() => PlannedCall>([
    () => patch(`/v2/subscribers/${subscriberId}/preferences`, randomPreferences(random)),
    () => patch(`/v2/subscribers/${subscriberId}/preferences`, randomPreferences(random)),
    () => ({ method: 'DELETE', path: `/v2/subscribers/${subscriberId}` }),
    () => patch(`/v1/subscribers/${subscriberId}/online-status`, { isOnline: random.chance(0.5) }),
    () => patch('/v1/tenants/acme', { name: 'Changed', data: { plan: random.oneOf(['gold', 'tin']) } }),
    () => patch('/v2/contexts/team/blue', { data: { lead: 'Joan', zebra: 2 } }),
    () => post('/v1/suppressions', { channel: 'email', address: addressOf(subscriberId), reason: 'manual' }),
    () => ({ method: 'DELETE', path: '/v1/integrations/<<mail>>' }),
    () => randomIntegration(random, 'later'),
    () => ({
      method: 'PUT',
      path: `/v1/workflows/${random.oneOf(workflowIds)}/status`,
      body: { active: random.chance(0.7) },
    }),
    () => {
      const workflowId = random.oneOf(workflowIds)
      return { method: 'PUT', path: `/v1/workflows/<<${workflowId}>>`, body: randomWorkflow(random, workflowId).body }
    },
  ])()
}

function randomTurn(random: Random, transactions: string[], keyed: PlannedCall[]): Omit<Turn, 'afterMs'> {
  const kind = random.integer(100)
  if (kind < 10) return { calls: [change(random)], kinds: [] }
  if (kind < 14) return together(random, transactions)
  if (kind < 20) {
    const events = Array.from({ length: 1 + random.integer(4) }, () => randomEvent(random, ['ada'], transactions))
    return { calls: [post('/v1/events/trigger/bulk', { events })], kinds: ['a bulk call'] }
  }
  if (kind < 24 && keyed.length > 0) {
    const { body, ...call } = random.oneOf(keyed)
    return {
      calls: [{ ...call, body: random.chance(0.7) ? body : { ...body, payload: {} } }],
      kinds: ['a key used before'],
    }
  }
  const key = random.chance(0.3) ? `key ${keyed.length}` : undefined
  const event = randomEvent(random, peopleIds, transactions)
  if (random.chance(0.03)) event.payload = { ...event.payload, attachments: [{ file: 'SGVsbG8=', name: 'a.txt' }] }
  const call = trigger(event, key)
  if (key !== undefined) keyed.push(call)
  return { calls: [call], kinds: kindsOf(event, key) }
}

export function randomTurns(random: Random, count: number): Turn[] {
  newcomers = 0
  const transactions: string[] = []
  const keyed: PlannedCall[] = []
  return Array.from({ length: count }, () => ({
    afterMs: random.oneOf([11_000, 11_000, 11_000, 11_000, 11_000, 61_000, 400_000]),
    ...randomTurn(random, transactions, keyed),
  }))
}
