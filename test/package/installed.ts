// A service that was installed from the package, and the programs that a reader of docs/package.md would write.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../support/project-root.ts'

const startMsMax = 60_000
export const { PATH: ownPath = '' } = process.env

export interface Ran {
  readonly code: number
  readonly output: string
}

export function run(command: string, args: readonly string[], cwd: string, PATH = ownPath): Promise<Ran> {
  const { NODE_TEST_CONTEXT: _context, ...rest } = process.env
  const options = { cwd, env: { ...rest, PATH }, timeout: 300_000, maxBuffer: 1e8 }
  return new Promise((resolve) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code) || 1, output: `${stderr}${stdout}` })
    })
  })
}

/** The programs below, compiled against the types of the package that is installed there. */
export function compilePrograms(home: string): Promise<Ran> {
  writeFileSync(join(home, 'first.mts'), firstMessage)
  writeFileSync(join(home, 'wrong.mts'), wrongUse)
  const compilerOptions = { module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom'], types: [], strict: true }
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['first.mts', 'wrong.mts'] }))
  const compiler = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc')
  return run(process.execPath, [compiler, '-p', '.'], home)
}

export interface Installed {
  readonly url: string
  readonly key: string
  readonly startMs: number
  /** Of the processor. */
  readonly workMs: number
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>
}

/** What `npx posthorn start` runs, with no variable but the port; `PATH` decides which Node that is. */
export async function startInstalled(home: string, PATH = ownPath): Promise<Installed> {
  const { HOME = '' } = process.env
  const startedAt = performance.now()
  const child = spawn(join(home, 'node_modules', '.bin', 'posthorn'), ['start'], {
    cwd: home,
    env: { PATH, HOME, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let output = ''
  const isUp = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
        if (/running at http\S+[\s\S]*\n\n/.test(output)) resolve()
      })
    }
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), startMsMax)
  await Promise.race([isUp, ended])
  clearTimeout(timer)
  const startMs = performance.now() - startedAt
  const workMs = workMsOf(child.pid) ?? startMs
  const url = /running at (http\S+)/.exec(output)?.[1]
  const key = /\b(ph_[0-9A-Za-z]+)/.exec(output)?.[1]
  if (url === undefined || key === undefined) {
    child.kill('SIGTERM')
    await ended
    assert.fail(`The service did not start:\n${output}`)
  }
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { url, key, startMs, workMs, stop }
}

/** Processor time of it and of what it waited for, where Linux says it: on a busy machine the clock says little. */
function workMsOf(pid: number | undefined): number | undefined {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return undefined
  const fields = readFileSync(path, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
}

/** Compiled against the types of the package, then run. */
const firstMessage = `
import { createClient, PosthornError } from 'posthorn'
import { type Inbox, openInbox } from 'posthorn/inbox'

declare const process: { argv: string[] }
const [, , url = '', key = ''] = process.argv
const client = createClient({ url, key })
const workflow = await client.createWorkflow({
  body: {
    name: 'Order shipped',
    active: true,
    steps: [{ template: { type: 'email', subject: 'Order {{ order.id }} is on its way', content: 'It left us today.' } }],
  },
})
const event = await client.triggerEvent({
  body: { name: 'order-shipped', to: { subscriberId: 'ada', email: 'ada@example.com' }, payload: { order: { id: 7 } } },
  idempotencyKey: 'first',
})
if (event.transactionId === undefined) throw new Error(JSON.stringify(event))
const { data } = await client.waitForOutbox({ transactionId: event.transactionId, workflow: 'order-shipped', timeout: '20s' })
console.log(JSON.stringify(data), workflow.name.toUpperCase())
const unknown = await client.retrieveSubscriber({ subscriberId: 'a b/c' }).catch((error: unknown) => error)
if (!(unknown instanceof PosthornError) || unknown.status !== 404) throw unknown
const inbox: Inbox = openInbox({ url, application: 'none', subscriber: 'ada' })
if (typeof inbox.list !== 'function') throw new Error('posthorn/inbox is not the client of the inbox')
`

/** Compiled only: each of these is refused by the types. */
const wrongUse = `
import { createClient } from 'posthorn'
const client = createClient({ url: 'http://localhost:3000', key: 'none' })
// @ts-expect-error: no such operation
client.triggerEvents({ body: {} })
// @ts-expect-error: the path needs the id
client.retrieveSubscriber({})
// @ts-expect-error: no such channel
client.waitForOutbox({ channel: 'pigeon' })
// @ts-expect-error: a workflow has a name
client.triggerEvent({ body: { to: 'ada' } })
`
