// Which statement goes wrong, and how: decided by the seed, only while there is trouble.
import type { Random } from '../support/random.ts'
import type { Fault, Faults } from './faulty-db.ts'
import type { Scenario } from './scenario.ts'
import type { Actor, Schedule } from './schedule.ts'

const kinds: readonly Fault[] = ['cut-before', 'cut-after', 'cut-after', 'timeout', 'deadlock', 'late-answer']

export interface Deaths {
  mayDie(actor: Actor): boolean
  kill(actor: Actor): void
}

export class SeedFaults implements Faults {
  readonly #random: Random
  readonly #schedule: Schedule
  readonly #scenario: Scenario
  readonly #untilMs: number
  readonly #kinds: readonly Fault[]
  readonly #deaths: Deaths
  #outageUntilMs = 0

  constructor(schedule: Schedule, scenario: Scenario, deaths: Deaths) {
    this.#random = schedule.random
    this.#schedule = schedule
    this.#scenario = scenario
    this.#untilMs = schedule.nowMs + scenario.troubleMs
    this.#deaths = deaths
    const some = kinds.filter(() => this.#random.chance(0.6))
    this.#kinds = some.length === 0 ? kinds : some
  }

  isOver(): boolean {
    return this.#schedule.nowMs >= this.#untilMs
  }

  outage(ms: number): void {
    this.#outageUntilMs = this.#schedule.nowMs + ms
  }

  next(actor: Actor, _what: string): Fault {
    if (this.#schedule.nowMs < this.#outageUntilMs) return 'cut-before'
    if (this.isOver()) return 'none'
    const { faultsPerThousand } = this.#scenario
    if (this.#deaths.mayDie(actor) && this.#random.chance(0.01)) {
      return this.#random.oneOf(['die', 'die-after'])
    }
    return this.#random.chance(faultsPerThousand / 1_000) ? this.#random.oneOf(this.#kinds) : 'none'
  }

  latencyMs(): number {
    return this.#random.chance(0.02) ? this.#random.integer(400) : this.#random.integer(4)
  }

  lateMs(): number {
    return this.#random.integer(this.#random.oneOf([500, 5_000, 15_000]))
  }

  kill(actor: Actor): void {
    this.#deaths.kill(actor)
  }
}
