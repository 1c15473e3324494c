// Seeded choices: every part of a run draws from a stream of its own, so that the number of kills does not change the load.
import type { Random } from '../test/support/random.ts'
import { createRandom } from '../test/support/random.ts'

/** The stream of one purpose under a seed, such as `kills`. */
export function randomFor(seed: string, purpose: string): Random {
  return createRandom(hashOf(`${seed}/${purpose}`))
}

/** A number of whole milliseconds from the range, both ends included. */
export function between(random: Random, [least, most]: readonly [number, number]): number {
  return least + random.integer(most - least + 1)
}

export function newSeed(): string {
  return Math.random().toString(36).slice(2, 10)
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
