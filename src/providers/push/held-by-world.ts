// What is created once for an account and used by all that send with it: cached by world, so that nothing outlives it.
import { BoundedMap } from '../../domain/bounded-map.ts'
import { originOf } from '../../world/outbound/may-leave.ts'
import type { World } from '../../world/world.ts'

/** Each is a few kilobytes; one that was dropped is made again. */
const heldMax = 1_000

/**
 * Keeps one value per key. Keys must contain everything that the value was made from: half a secret must not fetch
 * another's value. What `make` reports as an error is returned and not cached.
 */
export function heldByWorld<Value extends object>(): <Mistake extends { readonly mistake: string } = never>(
  world: World,
  key: string,
  make: () => Value | Mistake,
) => Value | Mistake {
  const worlds = new WeakMap<World, Map<string, Value>>()
  return (world, key, make) => {
    const origin = originOf(world)
    const held = worlds.get(origin) ?? new BoundedMap<string, Value>(heldMax)
    worlds.set(origin, held)
    const known = held.get(key)
    if (known !== undefined) {
      // Last again: the first is the least recently used.
      held.set(key, known)
      return known
    }
    const made = make()
    if ('mistake' in made) return made
    held.set(key, made as Value)
    return made
  }
}
