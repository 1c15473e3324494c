// A map of bounded size, for what can be found again: what was set first makes room. The one cache there is.

/** What the values may weigh together, in a unit of their own. */
export interface Weights<Value> {
  readonly max: number
  of(value: Value): number
}

export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #sizeMax: number
  readonly #weights: Weights<Value> | undefined
  #weight = 0

  constructor(sizeMax: number, weights?: Weights<Value>) {
    super()
    this.#sizeMax = sizeMax
    this.#weights = weights
  }

  /** Puts it behind all others, also where it was known. What weighs more than all may is not held, and pushes nothing out. */
  override set(key: Key, value: Value): this {
    this.delete(key)
    const weight = this.#weights?.of(value) ?? 0
    if (weight > this.#weightMax) return this
    for (const oldest of this.keys()) {
      if (this.size < this.#sizeMax && this.#weight + weight <= this.#weightMax) break
      this.delete(oldest)
    }
    this.#weight += weight
    return super.set(key, value)
  }

  override delete(key: Key): boolean {
    const value = this.#weights === undefined ? undefined : this.get(key)
    if (value !== undefined) this.#weight -= this.#weights?.of(value) ?? 0
    return super.delete(key)
  }

  override clear(): void {
    this.#weight = 0
    super.clear()
  }

  get #weightMax(): number {
    return this.#weights?.max ?? Number.POSITIVE_INFINITY
  }
}
