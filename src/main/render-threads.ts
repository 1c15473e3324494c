// The threads that render, as this process starts them: from the built file, or from its source where that is what runs.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Threads } from '../world/threads.ts'
import { createThreads } from '../world/threads.ts'

/** They are started when first needed. */
export function createRenderThreads(): Threads {
  const built = new URL('../render/render-thread.js', import.meta.url)
  const source = new URL('../render/render-thread.ts', import.meta.url)
  return createThreads({ entry: existsSync(fileURLToPath(built)) ? built : source })
}
