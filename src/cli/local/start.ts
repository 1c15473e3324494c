// posthorn start: runs the service until it receives a signal to stop.
import type { Config } from '../../config.ts'
import { roles } from '../../config.ts'
import type { Orders } from '../../main/child-messages.ts'
import { parentLink } from '../../main/cluster.ts'
import type { Log } from '../../world/log.ts'
import type { Command } from '../command.ts'
import { UsageError } from '../command.ts'
import { isOperatorError } from '../operator-error.ts'

/** A stop that takes longer is cut short: whoever sent the signal would do it less gently. */
const stopTimeoutMs = 30_000
/** npm passes Ctrl-C on to a process that has already received it from the terminal: one request, two signals. */
const sameSignalMs = 1_000

/** No other command needs it, and loading it takes most of a second: longer than most of them take for their work. */
const loadService = () => import('../../main.ts')

export const startCommand: Command = {
  name: 'start',
  about:
    'Runs the service: the API, the worker and the dashboard, until it receives SIGTERM or SIGINT, or its terminal is closed. Creates what is missing: database, schema, first API key.',
  examples: ['posthorn start', 'PORT=8080 posthorn start', 'posthorn start --role worker    # a node that only sends'],
  usage: ['start [--role api|worker|all]'],
  run: async ({ config: configured, log, print, orders }, args) => {
    const config = withRole(configured, args)
    if (orders !== undefined) return runChild(config, log, orders)
    const stopping = new AbortController()
    const signalled = firstSignal()
    signalled.then(() => stopping.abort())
    const { start } = await loadService()
    const running = await start(config, log, stopping.signal)
    print('')
    print(`  Posthorn is running at ${running.url}`)
    if (config.role === 'worker') print('  This node is a worker only: it serves /health, /ready and /metrics.')
    else print(`  API reference          ${running.url}/docs`)
    if (running.signIn !== undefined) print(`  Dashboard              ${running.signIn}`)
    if (config.processes > 1) print(`  Processes              ${config.processes}`)
    if (running.held.length > 0) {
      print(
        `  Sending is held        in ${running.held.join(', ')}, since a restore or a move: \`posthorn release\` shows what is due`,
      )
    }
    if (running.newKey !== undefined) {
      print(`  API key (Development)  ${running.newKey}`)
      print(
        '  The key is shown only once. Set POSTHORN_API_KEY to choose it, or create another with `posthorn keys create`.',
      )
    }
    print('')
    log.info({ signal: await signalled }, 'Stopping')
    await stopInTime(log, () => running.stop())
    log.info({}, 'Stopped')
  },
}

async function stopInTime(log: Log, stop: () => Promise<void>): Promise<void> {
  const timeout = setTimeout(() => {
    log.error({ stopTimeoutMs }, 'Could not stop in time')
    process.exit(1)
  }, stopTimeoutMs)
  try {
    await stop()
  } finally {
    clearTimeout(timeout)
  }
}

/** One process of several: its parent has the banner, and says when to stop. */
async function runChild(config: Config, log: Log, orders: Orders): Promise<void> {
  const link = parentLink()
  const stopping = new AbortController()
  const stopped = new Promise<void>((resolve) => {
    link.onMessage(({ kind }) => (kind === 'stop' ? resolve() : undefined))
    // Ctrl-C reaches every process of the terminal; one that is stopped alone is started again.
    firstSignal().then(() => resolve())
  })
  stopped.then(() => stopping.abort())
  try {
    const { startChild } = await import('../../main/child.ts')
    const serving = await startChild(config, log, { orders, link, signal: stopping.signal })
    link.send({ kind: 'started', url: serving.url })
    await stopped
    await stopInTime(log, () => serving.stop())
  } catch (error) {
    if (!isOperatorError(error)) throw error
    // The parent says it, once for all of them.
    link.send({ kind: 'failed', message: error.message })
    process.exitCode = 1
  }
  link.close()
}

/** The role of this node, if the command overrides the variable. */
function withRole(config: Config, args: readonly string[]): Config {
  const [first = '', ...rest] = args.flatMap((arg) => arg.split('=', 2))
  if (first === '') return config
  const role = roles.find((one) => one === rest[0])
  if (first !== '--role' || role === undefined || rest.length > 1) {
    throw new UsageError(`posthorn start accepts only --role ${roles.join('|')}, not "${args.join(' ')}"`)
  }
  return { ...config, role }
}

/** Listens from the start on, so that a signal during it still ends in an orderly stop. The second one means: at once. */
function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    let firstAt: number | undefined
    const onSignal = (name: string): void => {
      firstAt ??= performance.now()
      if (performance.now() - firstAt > sameSignalMs) process.exit(1)
      resolve(name)
    }
    // SIGHUP: the terminal was closed; without an orderly stop its database would go on alone.
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, onSignal)
  })
}
