// posthorn start: runs the service until it is told to stop.
import { start } from '../main.ts'
import type { Command } from './command.ts'
import { refuseArguments } from './command.ts'

/** A stop that takes longer is cut short: whoever sent the signal would do it less gently. */
const stopTimeoutMs = 30_000
/** npm passes Ctrl-C on to a process that has heard it from the terminal already: one wish, two signals. */
const sameWishMs = 1_000

export const startCommand: Command = {
  name: 'start',
  usage: ['start'],
  run: async ({ config, log, print }, args) => {
    refuseArguments('start', args)
    const stopping = new AbortController()
    const signalled = firstSignal()
    signalled.then(() => stopping.abort())
    const running = await start(config, log, stopping.signal)
    print('')
    print(`  Posthorn is running at ${running.url}`)
    print(`  API reference          ${running.url}/docs`)
    if (running.newKey !== undefined) {
      print(`  API key (Development)  ${running.newKey}`)
      print('  The key is shown only this once; POSTHORN_API_KEY can fix one, `posthorn keys create` makes another.')
    }
    print('')
    log.info({ signal: await signalled }, 'Stopping')
    const timeout = setTimeout(() => {
      log.error({ stopTimeoutMs }, 'Could not stop in time')
      process.exit(1)
    }, stopTimeoutMs)
    await running.stop()
    clearTimeout(timeout)
    log.info({}, 'Stopped')
  },
}

/** Listens from the start on, so that a signal during it still ends in an orderly stop. The second one means: at once. */
function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    let firstAt: number | undefined
    const onSignal = (name: string): void => {
      firstAt ??= performance.now()
      if (performance.now() - firstAt > sameWishMs) process.exit(1)
      resolve(name)
    }
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, onSignal)
  })
}
