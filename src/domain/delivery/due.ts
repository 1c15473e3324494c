// When a job is looked at next.

/** Its lease goes on: what it began is under way. */
interface Leased {
  readonly kind: 'leased'
}

/** Not leased, and not due before then. */
interface Until {
  readonly kind: 'until'
  readonly at: Date
}

interface Over {
  readonly kind: 'over'
}

/** Of a new job: due now, for the holder of the insert's lease or whoever claims it first. */
interface AtOnce {
  readonly kind: 'atOnce'
}

/** Of a job that is settled. */
export type Due = Leased | Until | Over
export type NewDue = Due | AtOnce

export const leased: Leased = { kind: 'leased' }
export const over: Over = { kind: 'over' }
export const atOnce: AtOnce = { kind: 'atOnce' }
export const until = (at: Date): Until => ({ kind: 'until', at })

export function isSameDue(one: NewDue, other: NewDue): boolean {
  if (one.kind !== 'until' || other.kind !== 'until') return one.kind === other.kind
  return one.at.getTime() === other.at.getTime()
}
