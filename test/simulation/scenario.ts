// What happens in one seed: accounts, workflows, people and events, and what goes wrong on the way.
import type { Random } from '../support/random.ts'
import type { Account, Ledger, SimulatedEvent, SimulatedWorkflow, StepKind } from './ledger.ts'

const stepLists: readonly (readonly StepKind[])[] = [
  ['in_app'],
  ['email'],
  ['in_app', 'email'],
  ['email', 'in_app'],
  ['sms', 'in_app'],
  ['in_app', 'sms', 'email'],
  ['digest', 'in_app', 'email'],
  ['email', 'digest', 'in_app'],
  ['delay', 'in_app', 'email'],
  ['in_app', 'delay', 'sms'],
  ['throttle', 'in_app', 'email'],
  ['custom', 'in_app'],
  ['email', 'custom', 'sms'],
  ['condition', 'email'],
  ['chat', 'in_app'],
  ['in_app', 'chat', 'email'],
  ['digest', 'chat'],
  ['email', 'sms', 'chat'],
]

export interface Scenario {
  readonly workflows: readonly SimulatedWorkflow[]
  readonly people: readonly string[]
  readonly topicMembers: readonly string[]
  /** In the order they are triggered, and how long after the one before. */
  readonly plan: readonly { readonly event: SimulatedEvent; readonly afterMs: number; readonly how: TriggerWay }[]
  /** Events that are cancelled, and how long after the start. */
  readonly cancels: readonly { readonly event: SimulatedEvent; readonly atMs: number }[]
  readonly nodes: number
  /** Of a thousand statements so many go wrong. */
  readonly faultsPerThousand: number
  readonly deathsMax: number
  readonly freezes: number
  readonly outages: number
  /** How often leases end while their nodes still work. */
  readonly expiries: number
  /** Nodes that stop in order, and start again. */
  readonly stops: number
  /** How often an e-mail account is switched off for a while. */
  readonly switches: number
  readonly troubleMs: number
  readonly providersAreBad: boolean
}

/** Who it goes to: named people, a topic, or everyone. */
export type TriggerWay = 'direct' | 'topic' | 'bulk'

export const delayMs = 120_000
export const throttleMax = 3

export function accountsOf(random: Random): Account[] {
  const email = { channel: 'email', isIdempotent: false, whenUnsure: 'retry' } as const
  const all: readonly Account[] = [
    { ...email, name: 'mail-a', kind: 'sendgrid' },
    { ...email, name: 'smtp-a', kind: 'smtp' },
    { ...email, name: 'hook-a', kind: 'email-webhook', isIdempotent: true },
    { ...email, name: 'mail-b', kind: 'sendgrid' },
  ]
  const accounts: Account[] = all.filter(() => random.chance(0.4))
  if (accounts.length === 0) accounts.push(random.oneOf(all))
  const other = { isIdempotent: false, whenUnsure: random.oneOf(['skip', 'retry'] as const) }
  accounts.push({ ...other, name: 'sms-a', channel: 'sms', kind: 'twilio' })
  accounts.push({ ...other, name: 'chat-a', channel: 'chat', kind: 'mattermost' })
  return accounts
}

export function makeScenario(random: Random, ledger: Ledger): Scenario {
  const workflows = Array.from({ length: 1 + random.integer(3) }, (_, place) => ({
    identifier: `flow-${place}`,
    steps: random.oneOf(stepLists),
  }))
  const people = Array.from({ length: 2 + random.integer(5) }, (_, place) => `person-${place + 1}`)
  const topicMembers = people.filter(() => random.chance(0.8))
  const plan = Array.from({ length: 3 + random.integer(12) }, (_, place) => {
    const how: TriggerWay = random.chance(0.15) && topicMembers.length > 0 ? 'topic' : random.oneOf(['direct', 'bulk'])
    const named = people.filter(() => random.chance(0.3))
    const event: SimulatedEvent = {
      number: place + 1,
      transactionId: `transaction-${place + 1}`,
      workflow: random.oneOf(workflows),
      recipients: how === 'topic' ? topicMembers : named.length > 0 ? named : [random.oneOf(people)],
      triedAtMs: 0,
    }
    ledger.events.push(event)
    return { event, how, afterMs: random.chance(0.5) ? 0 : random.integer(random.oneOf([100, 3_000, 20_000])) }
  })
  const isCalm = random.chance(0.1)
  const cancels = random.chance(0.3)
    ? ledger.events
        .filter(() => random.chance(0.25))
        .map((event) => ({ event, atMs: random.integer(random.oneOf([2_000, 30_000, 200_000])) }))
    : []
  return {
    workflows,
    people,
    topicMembers,
    plan,
    cancels,
    nodes: 1 + random.integer(3),
    faultsPerThousand: isCalm ? 0 : random.oneOf([0, 5, 20, 60, 150]),
    deathsMax: isCalm ? 0 : random.oneOf([0, 0, 1, 2, 4]),
    freezes: isCalm ? 0 : random.oneOf([0, 0, 0, 1, 2]),
    outages: isCalm ? 0 : random.oneOf([0, 0, 1]),
    expiries: isCalm ? 0 : random.oneOf([0, 0, 0, 1, 3]),
    stops: isCalm ? 0 : random.oneOf([0, 0, 0, 1, 3]),
    switches: random.oneOf([0, 0, 0, 1, 2]),
    troubleMs: 20_000 + random.integer(300_000),
    providersAreBad: !isCalm && random.chance(0.6),
  }
}

/** Each text names the events that it is about. */
export function stepsOf(workflow: SimulatedWorkflow): object[] {
  const isDigest = workflow.steps.includes('digest')
  return workflow.steps.flatMap((kind, place) => {
    const isAfterDigest = isDigest && place > workflow.steps.indexOf('digest')
    const text = isAfterDigest ? '{% for e in step.events %}#{{ e.n }}{% endfor %}' : '#{{ payload.n }}'
    return stepOf(kind, text)
  })
}

function stepOf(kind: StepKind, text: string): object[] {
  switch (kind) {
    case 'in_app':
      return [{ template: { type: 'in_app', content: text } }]
    case 'email':
      return [{ template: { type: 'email', subject: text, contentType: 'customHtml', content: '<p>Hello</p>' } }]
    case 'sms':
    case 'chat':
      return [{ template: { type: kind, content: text } }]
    case 'digest':
      return [{ template: { type: 'digest' }, metadata: { type: 'regular', amount: 1, unit: 'minutes' } }]
    case 'delay':
      return [{ template: { type: 'delay' }, metadata: { type: 'regular', amount: delayMs / 1_000, unit: 'seconds' } }]
    case 'throttle':
      return [
        {
          template: { type: 'throttle' },
          metadata: { type: 'fixed', amount: 10, unit: 'days', threshold: throttleMax },
        },
      ]
    case 'custom':
      return [
        {
          template: { type: 'custom' },
          metadata: {
            type: 'http',
            url: 'https://custom.example.com/hook',
            body: { n: '{{ payload.n }}', to: '{{ subscriber.subscriberId }}' },
          },
        },
      ]
    case 'condition':
      return [{ template: { type: 'in_app', content: text }, filters: [askedCondition] }]
  }
}

const askedCondition = {
  isNegated: false,
  type: 'GROUP',
  value: 'AND',
  children: [
    {
      on: 'webhook',
      webhookUrl: 'https://rules.example.com/rules',
      field: 'data.allowed',
      operator: 'EQUAL',
      value: 'yes',
    },
  ],
}
