// The threads that render, as this process starts them. They run the built file: where sources run, there are none.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Threads } from '../world/threads.ts'
import { createThreads } from '../world/threads.ts'

/** They are started when first needed. */
export function createRenderThreads(): Threads | undefined {
  const entry = new URL('../render/render-thread.js', import.meta.url)
  return existsSync(fileURLToPath(entry)) ? createThreads({ entry }) : undefined
}
