// Collects what trickles in: the first of a while goes through at once, those that follow it closely go together.
import type { World } from '../../world/world.ts'

export interface Gather {
  /** Undefined: continue. Otherwise continue when it resolves, `holdMs` after the last that went through. */
  pass(): Promise<void> | undefined
}

export function createGather(world: Pick<World, 'now' | 'sleep'>, holdMs: number): Gather {
  let lastMs = 0
  let opening: Promise<void> | undefined
  return {
    pass() {
      const nowMs = world.now().getTime()
      // A clock that was set back must not make anything wait for longer than that.
      const leftMs = Math.min(holdMs, lastMs + holdMs - nowMs)
      // Those that arrive in the same turn as the first share its write.
      if (leftMs <= 0 || nowMs === lastMs) {
        lastMs = nowMs
        return undefined
      }
      opening ??= world.sleep(leftMs).then(() => {
        opening = undefined
        lastMs = world.now().getTime()
      })
      return opening
    },
  }
}
