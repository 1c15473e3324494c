// The threads that render, as this process starts them. They run the built file: where sources run, there are none.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Threads, ThreadsOptions } from '../world/threads.ts'
import { createThreads } from '../world/threads.ts'

/** Longer than two pieces of work may take. A caller is answered well before it gives up, and a job well within its lease. */
const usualWaitMsMax = 12_000

/** They are started when first needed. */
export function createRenderThreads(
  options: Pick<ThreadsOptions, 'deadlineMs' | 'waitMsMax'> = {},
): Threads | undefined {
  const entry = new URL('../render/render-thread.js', import.meta.url)
  return existsSync(fileURLToPath(entry)) ? createThreads({ entry, waitMsMax: usualWaitMsMax, ...options }) : undefined
}

/** Callers of events wait for these, and for none of what people try out. */
export const createJudgingThreads = (): Threads | undefined => createRenderThreads({ waitMsMax: 2_000 })
