// A pause that can be cut short.
import type { World } from './world.ts'

export interface Pause {
  /** Whether it was cut short. */
  sleep(ms: number): Promise<boolean>
  /** Ends the present pause, or the next one if there is none now. */
  wake(): void
}

export function createPause(world: Pick<World, 'sleep'>): Pause {
  let waking = new AbortController()
  return {
    sleep: async (ms) => {
      await world.sleep(ms, waking.signal)
      const wasCut = waking.signal.aborted
      if (wasCut) waking = new AbortController()
      return wasCut
    },
    wake: () => waking.abort(),
  }
}
