// Starts the service, as one process or as several, and stops it in order.
import type { Config } from './config.ts'
import { prepare } from './main/prepare.ts'
import { serve } from './main/serve.ts'
import { startSeveral } from './main/several.ts'
import type { Log } from './world/log.ts'

export interface Running {
  readonly url: string
  readonly newKey: string | undefined
  stop(): Promise<void>
}

export async function start(config: Config, log: Log, signal?: AbortSignal): Promise<Running> {
  const prepared = await prepare(config, log, signal)
  const { store, newKey } = prepared
  if (config.processes > 1) return { ...(await startSeveral(config, store)), newKey }
  return { ...(await serve(config, store)), newKey }
}
