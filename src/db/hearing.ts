// Hears hints of other nodes on a connection of its own. Only hints: while it is away nothing but their speed is missing.

import { createPause } from '../world/pause.ts'
import type { World } from '../world/world.ts'
import type { Session } from './session.ts'

export interface HearingOptions {
  readonly world: World
  openSession(): Promise<Session>
  /** Hints may have been missed. */
  onOpened(): void
}

export interface Hearing {
  stop(): Promise<void>
}

/** How long a lost connection waits for the next try, and how often one is asked whether it still answers. */
const reopenMs = 1_000
const checkEveryMs = 10_000

export function startHearing({ world, openSession, onOpened }: HearingOptions): Hearing {
  const pause = createPause(world)
  let isStopping = false
  let current: Session | undefined

  async function hearOnce(): Promise<void> {
    const session = await openSession()
    let isLost = false
    session.lost.then(() => {
      isLost = true
      pause.wake()
    })
    current = session
    try {
      if (!isStopping) onOpened()
      while (!isLost && !isStopping) {
        await pause.sleep(checkEveryMs)
        if (!isLost && !isStopping) await session.check()
      }
    } finally {
      current = undefined
      await session.close().catch(() => {})
    }
  }

  const hearing = (async () => {
    while (!isStopping) {
      await hearOnce().catch((error: Error) => {
        world.log.debug({ error: error.message }, 'Cannot listen for hints from other nodes; polling continues')
      })
      if (!isStopping) await pause.sleep(reopenMs)
    }
  })()

  return {
    stop: async () => {
      isStopping = true
      pause.wake()
      // One that is still being opened closes itself; nothing waits for it.
      if (current !== undefined) await hearing
    },
  }
}
