// An endpoint of the customer's backend: what it wants to be sent, and how it is doing.
import { randomBytes } from 'node:crypto'
import type { CallKey } from '../operate/signing-keys.ts'
import type { WebhookEventType } from './webhook-event.ts'

/** Stored sealed. */
export interface EndpointSecrets {
  readonly url: string
  /** As Standard Webhooks write it: `whsec_` and base64. */
  readonly secret: string
  /** Replaced, and signing as well until then. */
  readonly previous: readonly { readonly secret: string; readonly until: string }[]
}

export const disablers = ['caller', 'failures', 'gone'] as const
/** `failures`: three days without a delivery that was accepted. `gone`: it answered 410. */
export type Disabler = (typeof disablers)[number]

export interface WebhookEndpoint extends EndpointSecrets {
  readonly id: string
  readonly description: string
  /** Empty for all of them. */
  readonly eventTypes: readonly WebhookEventType[]
  /** By internal id; empty for all of them. */
  readonly workflowIds: readonly string[]
  readonly concurrency: number
  readonly disabledAt: Date | null
  readonly disabledBy: Disabler | null
  readonly failingSince: Date | null
  readonly failures: number
  readonly lastError: string | null
  readonly deliveredAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** As many as an environment has services that listen, and some to spare: each event is compared with all of them. */
export const endpointsMax = 20
/** Calls at a time. */
export const concurrencyDefault = 10
export const concurrencyMax = 50
/** A rotation within a rotation keeps those before, within reason: each is another signature of every call. */
const previousSecretsMax = 4

const secretBytes = 32

export const newEndpointSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

/** The old secret signs beside the new one until then. */
export function rotated(secrets: EndpointSecrets, secret: string, now: Date, until: Date): EndpointSecrets {
  const replaced = { secret: secrets.secret, until: until.toISOString() }
  const previous = [replaced, ...secrets.previous].filter((one) => Date.parse(one.until) > now.getTime())
  return { url: secrets.url, secret, previous: previous.slice(0, previousSecretsMax) }
}

/** What signs now, the newest first. Version 2 stands for keys of Standard Webhooks. */
export function signingKeysOf({ secret, previous }: EndpointSecrets, now: Date): CallKey[] {
  const valid = previous.filter((one) => Date.parse(one.until) > now.getTime())
  return [secret, ...valid.map((one) => one.secret)].map((text) => ({ version: 2, text }))
}

/** When the last of the replaced secrets stops to sign; null where none does. */
export function overlapEndOf({ previous }: EndpointSecrets, now: Date): Date | null {
  const ends = previous.map(({ until }) => Date.parse(until)).filter((end) => end > now.getTime())
  return ends.length === 0 ? null : new Date(Math.max(...ends))
}

/** Events that concern no workflow pass whatever workflows are named. */
export function wants(
  { eventTypes, workflowIds }: Pick<WebhookEndpoint, 'eventTypes' | 'workflowIds'>,
  type: WebhookEventType,
  workflowId: string | null,
): boolean {
  if (eventTypes.length > 0 && !eventTypes.includes(type)) return false
  return workflowId === null || workflowIds.length === 0 || workflowIds.includes(workflowId)
}
