// A pause that can be cut short.
import type { World } from './world.ts'

export interface Pause {
  sleep(ms: number): Promise<void>
  /** Ends the present pause, or the next one if there is none now. */
  wake(): void
}

export function createPause(world: Pick<World, 'sleep'>): Pause {
  let waking = new AbortController()
  return {
    sleep: async (ms) => {
      await world.sleep(ms, waking.signal)
      if (waking.signal.aborted) waking = new AbortController()
    },
    wake: () => waking.abort(),
  }
}
