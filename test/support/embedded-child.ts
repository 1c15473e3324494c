// A process of its own that starts the embedded PostgreSQL, says how that went, and stops it when its input ends.

import { type EmbeddedOptions, startEmbeddedPostgres } from '../../src/db/embedded/embedded-postgres.ts'
import { silentLog } from '../../src/world/log.ts'
import type { ChildOrder, ChildReport } from './embedded-scene.ts'

const order = JSON.parse(process.argv[2] ?? '{}') as ChildOrder
if (order.becomeUid !== undefined) {
  process.setgroups?.([])
  process.setgid?.(order.becomeUid)
  process.setuid?.(order.becomeUid)
}

function say(report: ChildReport): void {
  process.stdout.write(`${JSON.stringify(report)}\n`)
}

say({ ready: true })
// The parent lets all its children go at the same time.
await new Promise((resolve) => process.stdin.once('data', resolve))
try {
  const options: EmbeddedOptions = { ...order.options, log: silentLog }
  const postgres = await startEmbeddedPostgres(options)
  const { connection, dataDirectory, adopted, initialised } = postgres
  say({ started: { connection, dataDirectory, adopted, initialised } })
  process.stdin.once('end', async () => {
    await postgres.stop()
    say({ stopped: true })
  })
  process.stdin.resume()
} catch (error) {
  say({ failed: { name: (error as Error).name, message: (error as Error).message } })
  process.stdin.destroy()
}
