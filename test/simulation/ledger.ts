// What a simulated run knows from outside: what was acknowledged, what was cancelled, and what reached the providers.

export type Channel = 'email' | 'sms' | 'chat'

/** The steps of a simulated workflow, in short. */
export type StepKind = 'in_app' | Channel | 'digest' | 'delay' | 'throttle' | 'custom' | 'condition'

export interface SimulatedWorkflow {
  readonly identifier: string
  readonly steps: readonly StepKind[]
}

export interface SimulatedEvent {
  /** In its payload, and in every text that is made of it. */
  readonly number: number
  readonly transactionId: string
  readonly workflow: SimulatedWorkflow
  /** Who is named, or belongs to what is named. */
  readonly recipients: readonly string[]
  /** Set when the API answered 201: from then on it is owed. */
  acknowledgedAtMs?: number
  /** The API was asked; whether it is there is unknown until it is acknowledged. */
  triedAtMs: number
  cancelAskedAtMs?: number
  /** Set when the API acknowledged the cancel. */
  canceledAtMs?: number
}

/** What the node learned of a call: an answer, that the outcome is unknown, or nothing as it ended meanwhile. */
export type Learned = 'pending' | 'sent' | 'refused' | 'not-sent' | 'unknown' | 'interrupted'

export interface ProviderCall {
  readonly account: string
  readonly channel: Channel
  /** The subscriber. */
  readonly to: string
  /** The numbers of the events in its text. */
  readonly numbers: readonly number[]
  readonly node: string
  /** When a connection was asked for, before the message left: from then on its node counts as calling. */
  readonly begunAtMs: number
  readonly startedAtMs: number
  readonly idempotencyKey: string | null
  /** The provider delivered it; a repeat under a known key delivers nothing. */
  delivered: boolean
  learned: Learned
  endedAtMs?: number
}

export interface CustomCall {
  readonly number: number
  readonly to: string
  readonly atMs: number
}

/** A time in which the work of a node may have been cut off: its death, a freeze, a lost lease. */
export interface Interruption {
  /** `all` where any node's leases may have been lost. */
  readonly node: string
  readonly fromMs: number
  readonly untilMs: number
}

export interface Account {
  readonly name: string
  readonly channel: Channel
  readonly kind: 'sendgrid' | 'email-webhook' | 'smtp' | 'twilio' | 'mattermost'
  readonly isIdempotent: boolean
  readonly whenUnsure: 'retry' | 'skip'
}

export interface Ledger {
  readonly events: SimulatedEvent[]
  readonly calls: ProviderCall[]
  readonly customCalls: CustomCall[]
  readonly interruptions: Interruption[]
  readonly accounts: Account[]
  readonly throttleMax: number
  readonly delayMs: number
}

export const isAcknowledged = (event: SimulatedEvent): boolean => event.acknowledgedAtMs !== undefined
export const wasCancelAsked = (event: SimulatedEvent): boolean => event.cancelAskedAtMs !== undefined

/** How long a step is put off by the delays before it. */
export const waitBefore = (ledger: Ledger, workflow: SimulatedWorkflow, step: number): number =>
  workflow.steps.slice(0, step).filter((kind) => kind === 'delay').length * ledger.delayMs
