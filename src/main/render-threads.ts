// The threads that render, as this process starts them. They run the built file: where sources run, there are none.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Threads, ThreadsOptions } from '../world/threads.ts'
import { createThreads } from '../world/threads.ts'

/** They are started when first needed. */
export function createRenderThreads(
  options: Pick<ThreadsOptions, 'deadlineMs' | 'waitMsMax'> = {},
): Threads | undefined {
  const entry = new URL('../render/render-thread.js', import.meta.url)
  return existsSync(fileURLToPath(entry)) ? createThreads({ entry, ...options }) : undefined
}

/** Callers of events wait for these, and for none of what people try out. */
export const createJudgingThreads = (): Threads | undefined => createRenderThreads({ waitMsMax: 2_000 })
