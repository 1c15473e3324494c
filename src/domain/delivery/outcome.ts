// An Outcome: what became of one call to one provider for one message.

export type RefusalReason = 'bad-recipient' | 'dead-token' | 'opted-out' | 'bad-content' | 'other'

export type Outcome =
  | {
      readonly kind: 'sent'
      readonly providerMessageId: string
      /** Kept instead of sent. */
      readonly captured?: true
      readonly detail?: string
    }
  | { readonly kind: 'refused'; readonly reason: RefusalReason; readonly detail: string }
  /** Our account, not this message. */
  | { readonly kind: 'misconfigured'; readonly detail: string }
  /** Certainly not sent: safe to repeat. */
  | {
      readonly kind: 'busy'
      readonly detail: string
      readonly retryAfterMs?: number
      /** The recipient's own address was busy: no one else needs to wait. */
      readonly ofRecipient?: true
      /** Rejected with others of its request, possibly because of another: the next request contains it alone. */
      readonly alone?: true
      /** No call was made: something of our own was not ready. It says nothing about the provider. */
      readonly uncalled?: true
      readonly down?: Down
    }
  /** Perhaps sent: the channel's policy decides. */
  | {
      readonly kind: 'unsure'
      readonly detail: string
      readonly down?: Down
      /** Our own process ended in the middle of the call: the provider may be fine. */
      readonly interrupted?: true
    }
  /** Certainly not sent: when it was about to leave, it was no longer ours to send. */
  | { readonly kind: 'withheld'; readonly detail: string }

/**
 * It indicates that the provider as a whole is down: not reached, no response, cut off, or a server error. A circuit
 * breaker counts it.
 */
export type Down = true

export const sent = (providerMessageId: string, detail?: string): Outcome =>
  detail === undefined ? { kind: 'sent', providerMessageId } : { kind: 'sent', providerMessageId, detail }
export const captured = (providerMessageId: string): Outcome => ({ kind: 'sent', providerMessageId, captured: true })
export const refused = (reason: RefusalReason, detail: string): Outcome => ({ kind: 'refused', reason, detail })
export const misconfigured = (detail: string): Outcome => ({ kind: 'misconfigured', detail })
export const busy = (detail: string, retryAfterMs?: number): Outcome =>
  retryAfterMs === undefined ? { kind: 'busy', detail } : { kind: 'busy', detail, retryAfterMs }
export const uncalled = (detail: string): Outcome => ({ kind: 'busy', detail, uncalled: true })
export const unsure = (detail: string): Outcome => ({ kind: 'unsure', detail })
export const interruptedCall = (detail: string): Outcome => ({ kind: 'unsure', detail, interrupted: true })
export const withheld = (detail: string): Outcome => ({ kind: 'withheld', detail })

/** The same outcome, as one that indicates that the provider as a whole is down. */
export const ofDownProvider = (outcome: Outcome): Outcome =>
  outcome.kind === 'busy' || outcome.kind === 'unsure' ? { ...outcome, down: true } : outcome

/** The same outcome, of a call to a recipient's own address: it only concerns that address. */
export function ofRecipient(outcome: Outcome): Outcome {
  if (outcome.kind !== 'busy' && outcome.kind !== 'unsure') return outcome
  const { down: _, ...rest } = outcome
  return rest.kind === 'busy' ? { ...rest, ofRecipient: true } : rest
}

/** The same outcome, of a call that could not have sent anything: whatever happened, nothing was sent. */
export const certainlyNotSent = (outcome: Outcome): Outcome =>
  outcome.kind === 'unsure' ? { ...outcome, kind: 'busy' } : outcome
