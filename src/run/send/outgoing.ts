// What is sent for one job: its messages, each with its current integration.

import type { BatchSlot } from '../../deliver/batch-slots.ts'
import { chooseIntegration } from '../../deliver/choose-integration.ts'
import type { StepFilter } from '../../domain/conditions/condition.ts'
import { evaluateFilters } from '../../domain/conditions/condition-evaluation.ts'
import { ConditionsTooLarge } from '../../domain/conditions/condition-work.ts'
import type { SendDecision } from '../../domain/delivery/decision.ts'
import type { Channel, Credentials, Integration } from '../../domain/delivery/integration.ts'
import { isBuiltIn, isCapturing } from '../../domain/delivery/integration.ts'
import type { Outcome } from '../../domain/delivery/outcome.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Envelope, MessageDraft, Sending } from '../../domain/messages/message.ts'
import type { Renderer } from '../../domain/workflows/rendering.ts'
import { RenderError } from '../../domain/workflows/rendering.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { Facts } from '../decide/load-facts.ts'

/** What is known about a message when an outcome is judged. */
export interface SentMessage {
  readonly id: string
  readonly channel: Channel
  readonly sending: Sending
  readonly envelope: Envelope
  /** The integrations that could take over from those already tried. */
  other(tried: readonly string[]): Integration | undefined
}

export interface OutgoingMessage extends SentMessage {
  readonly integration: Integration
  /** Given while nothing of it is written. */
  readonly draft?: MessageDraft
}

/** One that holds its place in a call. */
export interface BegunMessage extends OutgoingMessage {
  readonly slot: BatchSlot
  /** How sending had gone before this attempt. */
  readonly before: Sending
  /** Its provider says when the content leaves: it is marked as being called then, and is ready to be sent before. */
  readonly marksLater: boolean
}

/** One that is not called now: the rest of its job comes back for it. */
export type LaterMessage = Pick<OutgoingMessage, 'sending' | 'draft'> & {
  readonly id?: string
  readonly integration?: Integration
}

/** The result of calling a provider. */
export interface Called {
  readonly message: SentMessage
  /** Who was asked. */
  readonly asked: { readonly integrationId: string; readonly providerId: string }
  /** Whether they could be asked again. */
  readonly isThere: boolean
  readonly outcome: Outcome
  /** Its device is unregistered, and the provider is believed. */
  readonly prunes?: boolean
}

export interface Outgoing<Kind extends OutgoingMessage = OutgoingMessage> {
  readonly environment: Environment
  readonly facts: JobFacts
  /** What is called now, or waits for slots. */
  readonly messages: readonly Kind[]
  readonly later: readonly LaterMessage[]
  /** What was decided, while nothing of it is written: that is done when there is a slot. */
  readonly unwritten?: SendDecision
}

/** What the choice of an integration depends on, besides the message. */
export interface ChoosingParts {
  readonly renderer: Renderer
  /** The operator's own mail server, which makes platform-email real. */
  readonly operatorMail: Credentials | undefined
}

export type Choose = (tried: readonly string[]) => Integration | undefined

/** Who may send this job's messages, in the order of preference. */
export function chooserOf(
  parts: ChoosingParts,
  facts: Pick<Facts, 'integrations'>,
  job: JobFacts,
  { channel, integrationId }: { channel: Channel; integrationId?: string },
): Choose {
  // An entry of chat or push belongs to one integration: no other can take over.
  if (integrationId !== undefined && (channel === 'chat' || channel === 'push')) {
    const only = facts.integrations.find((one) => one._id === integrationId)
    return (tried) => (tried.includes(integrationId) ? undefined : only)
  }
  const { scope, event } = job
  const requested = requestedIdentifier(event.overrides, channel)
  const passes = (conditions: readonly StepFilter[]): boolean => {
    try {
      return evaluateFilters(conditions, scope, parts.renderer.values(scope)).passed
    } catch (error) {
      // Conditions that cannot be asked of this event do not fit it: the next integration sends.
      if (error instanceof RenderError || error instanceof ConditionsTooLarge) return false
      throw error
    }
  }
  const keeps = (integration: Integration): boolean => captures(parts, integration)
  return (tried) =>
    chooseIntegration(facts.integrations, { channel, identifier: requested, tried, passes, captures: keeps })
}

/**
 * Captured instead of sent: what was switched to capture, and our own providers, unless the operator's mail server
 * makes e-mail real.
 */
function captures({ operatorMail }: Pick<ChoosingParts, 'operatorMail'>, integration: Integration): boolean {
  if (isCapturing(integration)) return true
  if (integration.providerId === 'platform-email') return operatorMail === undefined
  return isBuiltIn(integration.providerId)
}

/** The integration with what it needs to reach its provider. */
export function withOperatorMail(
  { operatorMail }: Pick<ChoosingParts, 'operatorMail'>,
  integration: Integration,
): Integration {
  if (integration.providerId !== 'platform-email') return integration
  // Only the operator decides where the built-in e-mail goes, whatever is stored with the integration.
  return { ...integration, credentials: operatorMail ?? {} }
}

/** The integration an event asks for by name. */
export function requestedIdentifier(
  overrides: Readonly<Record<string, unknown>>,
  channel: Channel,
): string | undefined {
  const own = Object.hasOwn(overrides, channel) ? overrides[channel] : undefined
  const identifier = (own as { integrationIdentifier?: unknown } | null | undefined)?.integrationIdentifier
  return typeof identifier === 'string' && identifier !== '' ? identifier : undefined
}
