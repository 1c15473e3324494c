// How long checking payloads against their schemas has taken in this turn: most take no time, and some all of it.
import { setImmediate } from 'node:timers/promises'
import type { PayloadSchema } from '../render/payload/payload-schema.ts'
import { tooBusy } from '../render/payload/payload-schema.ts'

/** What others wait for at most, and one check more. */
const turnMsMax = 20

export class CheckClock {
  #turnMs = 0

  /** An unusable schema lets nothing pass: a payload is either checked or rejected. Throws where the machine is too busy. */
  check(schema: PayloadSchema, payload: Record<string, unknown>): string[] {
    if (!schema.ok && schema.isStarved === true) throw tooBusy()
    if (!schema.ok) return [`payload cannot be checked: the payloadSchema of the workflow ${schema.message}`]
    if (schema.isQuick(payload)) return schema.check(payload)
    const begunMs = performance.now()
    try {
      return schema.check(payload)
    } finally {
      this.#turnMs += performance.now() - begunMs
    }
  }

  isOver(): boolean {
    return this.#turnMs > turnMsMax
  }

  async nextTurn(): Promise<void> {
    await setImmediate()
    this.#turnMs = 0
  }
}
