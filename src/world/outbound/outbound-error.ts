// OutboundError: why an outbound request got no response, classified by whether the other side may have acted on it.

/**
 * `refused-address`: we do not call there, and never did. `not-sent`: the request ended before its first byte was
 * written, so it is safe to repeat. `withheld`: the same, because the answer to `mayLeave` was no. `unsure`: it ended
 * afterwards, so the other side may have acted on it.
 */
export type OutboundFailure = 'refused-address' | 'not-sent' | 'withheld' | 'unsure'

export class OutboundError extends Error {
  readonly kind: OutboundFailure
  /** It says nothing about the other side: no such request can be made, or too many of ours wait. */
  readonly isOurs: boolean

  /** The message never holds more of the address than the host: paths and queries may be secrets. */
  constructor(kind: OutboundFailure, message: string, cause?: unknown, { isOurs = false } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'OutboundError'
    this.kind = kind
    this.isOurs = isOurs
  }
}
