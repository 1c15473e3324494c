// How a sink answers, on command: as it should, late, in fits, not at all, or nonsense.

export const behaviours = ['normal', 'slow', 'flapping', 'hanging', 'garbage'] as const
export type Behaviour = (typeof behaviours)[number]

export type Answer =
  | { readonly kind: 'take'; readonly afterMs: number }
  /** Certainly not taken, and said so. */
  | { readonly kind: 'busy' }
  /** The connection is cut without a word. */
  | { readonly kind: 'cut'; readonly taken: boolean }
  /** Nothing is ever answered. */
  | { readonly kind: 'hang'; readonly taken: boolean }
  | { readonly kind: 'garbage'; readonly taken: boolean }

/** As providers are: mostly quick, now and then not. Long enough that a kill often falls into a call. */
const normalMs = [
  [0.7, [5, 80]],
  [0.25, [80, 600]],
  [0.05, [600, 2_500]],
] as const
const slowMs = [2_000, 12_000] as const

const chance = (probability: number): boolean => Math.random() < probability
function normally(): number {
  let left = Math.random()
  for (const [share, range] of normalMs) {
    if (left < share) return within(range)
    left -= share
  }
  return within(normalMs[0][1])
}

const within = ([least, most]: readonly [number, number]): number => least + Math.random() * (most - least)

export function nextAnswer(behaviour: Behaviour): Answer {
  const taken = chance(0.5)
  switch (behaviour) {
    case 'normal':
      return { kind: 'take', afterMs: normally() }
    case 'slow':
      return { kind: 'take', afterMs: within(slowMs) }
    case 'flapping':
      if (chance(0.4)) return { kind: 'take', afterMs: normally() }
      return chance(0.8) ? { kind: 'busy' } : { kind: 'cut', taken }
    case 'hanging':
      return { kind: 'hang', taken }
    case 'garbage':
      return { kind: 'garbage', taken }
  }
}
