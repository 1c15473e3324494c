// What evaluating the conditions of one job may cost: values come from payloads, and a list may have a million items.

/** Members of lists, and 64 characters each: 1 to 2 µs. Lists in real conditions are far shorter. */
const workMax = 50_000
const charactersPerUnit = 64
/** Deeper than any payload written by a person. */
const depthMax = 500

/** Conditions compare more than there is time for. Worded for whoever wrote them. */
export class ConditionsTooLarge extends Error {
  constructor() {
    super(`The conditions compare more than ${workMax} list items or ${workMax * charactersPerUnit} characters`)
    this.name = 'ConditionsTooLarge'
  }
}

interface JobWork {
  readonly work: ConditionWork
  /** What was fully evaluated may be evaluated again for free: as often as the job is decided, which is seldom. */
  readonly paid: WeakSet<object>
}

const works = new WeakMap<object, JobWork>()

/** What the conditions of one job share: those of its step, of each variant and of each integration. */
export function workFor(subject: object): JobWork {
  const known = works.get(subject) ?? { work: new ConditionWork(), paid: new WeakSet() }
  works.set(subject, known)
  return known
}

export class ConditionWork {
  #left = workMax

  /** What is compared is paid for before it is. */
  compare(actual: unknown, expected: string): void {
    this.#spend(1)
    this.#spendOn(actual, 0)
    this.#spendOnText(expected)
  }

  #spend(units: number): void {
    this.#left -= units
    if (this.#left < 0) throw new ConditionsTooLarge()
  }

  /** A text may be read as a list. */
  #spendOnText(text: string): void {
    this.#spend(text.length / charactersPerUnit)
    for (let at = text.indexOf(','); at !== -1; at = text.indexOf(',', at + 1)) this.#spend(1)
  }

  /** Ends with what is left, however large the value. */
  #spendOn(value: unknown, depth: number): void {
    if (typeof value === 'string') this.#spendOnText(value)
    if (typeof value !== 'object' || value === null) return
    if (depth > depthMax) throw new ConditionsTooLarge()
    if (Array.isArray(value)) {
      for (const member of value) this.#spendOnMember(member, depth)
      return
    }
    for (const name in value) {
      this.#spend(1 + name.length / charactersPerUnit)
      this.#spendOnMember((value as Readonly<Record<string, unknown>>)[name], depth)
    }
  }

  #spendOnMember(member: unknown, depth: number): void {
    this.#spend(1)
    this.#spendOn(member, depth + 1)
  }
}
