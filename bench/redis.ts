// Redis and BullMQ for the hand-made service: Redis from the PATH, BullMQ installed when it is first needed.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { until } from './waiting.ts'

export interface Redis {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

export const hasRedis = (): boolean => spawnSync('redis-server', ['--version']).status === 0

/** In memory only: the hand-made service is given the faster Redis. */
export async function startRedis(directory: string): Promise<Redis> {
  const port = await freePort()
  const settings = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--dir',
    directory,
    '--loglevel',
    'warning',
  ]
  const child = spawn('redis-server', settings, { stdio: 'ignore' })
  await until(() => listens(port))
  return {
    pid: child.pid ?? 0,
    port,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const say = (answer: boolean): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => say(true))
    socket.once('error', () => say(false))
  })
}

const wanted = join('bench', 'baseline', 'bullmq')
/** Inside node_modules: no tool of ours looks there, and no one who only runs the service downloads it. */
const installed = join('node_modules', '.posthorn-bench')

/** Where BullMQ can be required from; undefined when it could not be installed. */
export function installBullmq(): string | undefined {
  const lock = (folder: string): string => readFileSync(join(folder, 'package-lock.json'), 'utf8')
  if (!existsSync(join(installed, 'node_modules', 'bullmq')) || lock(installed) !== lock(wanted)) {
    process.stderr.write('Installing BullMQ for the baseline …\n')
    mkdirSync(installed, { recursive: true })
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(wanted, file), join(installed, file))
    const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: installed,
      encoding: 'utf8',
    })
    if (status !== 0) {
      process.stderr.write(stderr)
      return undefined
    }
  }
  return join(process.cwd(), installed, 'package.json')
}
