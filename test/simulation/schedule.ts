// The simulation's own event loop: one action at a time, in virtual time, in an order that the seed decides.
import type { Random } from '../support/random.ts'

/** Whose actions they are: a node, the API, or the simulation itself. */
export interface Actor {
  readonly name: string
  isDead: boolean
  /** Nothing of it happens before. */
  frozenUntilMs: number
}

/** A transaction that is under way. */
export interface TransactionOwner {
  readonly actor: Actor
  /** Its process left it behind: it is being rolled back. */
  readonly isAbandoned: boolean
}

interface Action {
  readonly atMs: number
  readonly actor: Actor
  readonly label: string
  /** The transaction it belongs to; undefined for what needs no database, null for a statement by itself. */
  readonly transaction: TransactionOwner | null | undefined
  /** A statement that changes nothing. */
  readonly reads: boolean
  fire(): Promise<void> | void
}

/** Code that waits for nothing outside goes on within so many turns of the process's own loop. */
const turnsUntilQuiet = 4
/** Requests to the API pass through streams. */
const turnsOfRequest = 30

export class Schedule {
  readonly random: Random
  readonly trace: string[] = []
  nowMs: number
  /** The transaction that has the database for itself: whatever else needs it waits. */
  owner: TransactionOwner | undefined
  /** Requests to the API that are under way. */
  requests = 0
  #actions: Action[] = []
  readonly #startedAtMs: number

  constructor(random: Random, nowMs: number) {
    this.random = random
    this.nowMs = nowMs
    this.#startedAtMs = nowMs
  }

  note(actor: Actor, text: string): void {
    this.trace.push(`${((this.nowMs - this.#startedAtMs) / 1_000).toFixed(3)} ${actor.name} ${text}`)
  }

  add(
    actor: Actor,
    delayMs: number,
    label: string,
    fire: () => Promise<void> | void,
    transaction?: TransactionOwner | null,
    reads = false,
  ): void {
    this.#actions.push({ atMs: this.nowMs + delayMs, actor, label, transaction, fire, reads })
  }

  /** When the next action is, if there is any. */
  nextAtMs(): number | undefined {
    const times = this.#eligible().map(timeOf)
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** Carries out the next action, and lets everything that follows from it at once happen. */
  async step(): Promise<boolean> {
    const eligible = this.#eligible()
    if (eligible.length === 0) return false
    const atMs = Math.min(...eligible.map(timeOf))
    const action = this.random.oneOf(eligible.filter((one) => timeOf(one) === atMs))
    this.#actions = this.#actions.filter((one) => one !== action)
    this.nowMs = Math.max(this.nowMs, atMs)
    await action.fire()
    await quiet(this.requests > 0 ? turnsOfRequest : turnsUntilQuiet)
    while (this.owner?.isAbandoned === true) await new Promise(setImmediate)
    return true
  }

  #eligible(): Action[] {
    this.#actions = this.#actions.filter(({ actor }) => !actor.isDead)
    const { owner } = this
    if (owner === undefined) return this.#actions
    const own = this.#actions.filter(({ transaction }) => transaction === undefined || transaction === owner)
    if (own.some(({ transaction }) => transaction === owner)) return own
    // Its process asks something on another connection before it goes on.
    return [
      ...own,
      ...this.#actions.filter((one) => one.transaction === null && one.actor === owner.actor && one.reads),
    ]
  }
}

const timeOf = ({ atMs, actor }: Action): number => Math.max(atMs, actor.frozenUntilMs)

async function quiet(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate)
}
