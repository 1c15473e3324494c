// Randomness that can be repeated: the same seed makes the same choices.

export interface Random {
  /** From 0 up to, not including, `below`. */
  integer(below: number): number
  chance(probability: number): boolean
  oneOf<Item>(items: readonly Item[]): Item
}

/** Mulberry32: small, fast, and good enough to choose test inputs. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (below: number): number => Math.floor(next() * below)
  return {
    integer,
    chance: (probability) => next() < probability,
    oneOf: (items) => {
      if (items.length === 0) throw new Error('There is nothing to choose from')
      return items[integer(items.length)] as (typeof items)[number]
    },
  }
}

/** So many rounds of a random test; more with POSTHORN_FUZZ_SCALE, as a multiple: a test run takes a sample. */
export function fuzzRounds(usual: number): number {
  return Math.ceil(usual * Number(process.env['POSTHORN_FUZZ_SCALE'] ?? 1))
}

/** The seed of this run: given to repeat a failure, else new. */
export function fuzzSeed(): number {
  const given = process.env['POSTHORN_FUZZ_SEED']
  return given === undefined ? Date.now() % 2 ** 32 : Number(given)
}
