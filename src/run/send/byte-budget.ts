// A budget of memory that several calls share: whoever needs more than is left waits until others have given some back.
import type { World } from '../../world/world.ts'

export interface ByteBudget {
  /** Waits for so many bytes, and returns the way to give them back; undefined when there were none in time. */
  take(bytes: number): Promise<(() => void) | undefined>
}

interface Waiting {
  readonly bytes: number
  resolve(giveBack: (() => void) | undefined): void
}

export function createByteBudget(
  world: Pick<World, 'sleep'>,
  limits: { bytesMax: number; waitMs: number },
): ByteBudget {
  let left = limits.bytesMax
  const line: Waiting[] = []

  function grant(bytes: number): () => void {
    left -= bytes
    return () => {
      left += bytes
      serve()
    }
  }

  /** In the order they came: a large one is not passed over for ever. */
  function serve(): void {
    for (let first = line[0]; first !== undefined && first.bytes <= left; first = line[0]) {
      line.shift()
      first.resolve(grant(first.bytes))
    }
  }

  return {
    take: (wanted) => {
      // One that is larger than all there is may go alone.
      const bytes = Math.min(wanted, limits.bytesMax)
      if (line.length === 0 && bytes <= left) return Promise.resolve(grant(bytes))
      return new Promise((resolve) => {
        const waiting: Waiting = { bytes, resolve }
        line.push(waiting)
        void world.sleep(limits.waitMs).then(() => {
          const place = line.indexOf(waiting)
          if (place === -1) return
          line.splice(place, 1)
          resolve(undefined)
          serve()
        })
      })
    },
  }
}
