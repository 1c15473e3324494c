// A budget of memory that several calls share: whoever needs more than is left waits until others have given some back.
import type { World } from '../../world/world.ts'

export interface ByteBudget {
  /** Waits for this many bytes, and returns a function that releases them; undefined if there were none in time. */
  take(bytes: number, owner?: string): Promise<(() => void) | undefined>
  heldBytes(): number
}

interface Waiting {
  readonly bytes: number
  readonly owner: string
  resolve(giveBack: (() => void) | undefined): void
}

export interface ByteLimits {
  readonly bytesMax: number
  readonly waitMs: number
  /** What one owner may hold of it, if there are several. */
  readonly bytesPerOwnerMax?: number
}

export function createByteBudget(world: Pick<World, 'sleep'>, limits: ByteLimits): ByteBudget {
  const perOwnerMax = Math.min(limits.bytesPerOwnerMax ?? limits.bytesMax, limits.bytesMax)
  let left = limits.bytesMax
  const heldBy = new Map<string, number>()
  const line: Waiting[] = []

  const heldOf = (owner: string): number => heldBy.get(owner) ?? 0

  /** The first waiting one of each owner. An owner at its limit is no reason for others to wait. */
  function next(): Waiting | undefined {
    const passed = new Set<string>()
    for (const waiting of line) {
      const hasEnough = heldOf(waiting.owner) > 0 && heldOf(waiting.owner) + waiting.bytes > perOwnerMax
      if (!hasEnough && !passed.has(waiting.owner)) return waiting
      passed.add(waiting.owner)
    }
    return undefined
  }

  function hold(owner: string, bytes: number): void {
    left -= bytes
    const held = heldOf(owner) + bytes
    if (held === 0) heldBy.delete(owner)
    else heldBy.set(owner, held)
  }

  function grant({ owner, bytes }: Waiting): () => void {
    hold(owner, bytes)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      hold(owner, -bytes)
      serve()
    }
  }

  /** In order of arrival: a large one is not passed over forever. */
  function serve(): void {
    for (let first = next(); first !== undefined && first.bytes <= left; first = next()) {
      line.splice(line.indexOf(first), 1)
      first.resolve(grant(first))
    }
  }

  return {
    heldBytes: () => limits.bytesMax - left,
    take: (wanted, owner = '') =>
      new Promise((resolve) => {
        // One that is larger than all there is may go alone; one that is larger than its owner's share, as the owner's only one.
        const waiting: Waiting = { bytes: Math.min(wanted, limits.bytesMax), owner, resolve }
        line.push(waiting)
        serve()
        if (!line.includes(waiting)) return
        void world.sleep(limits.waitMs).then(() => {
          const place = line.indexOf(waiting)
          if (place === -1) return
          line.splice(place, 1)
          resolve(undefined)
          serve()
        })
      }),
  }
}
