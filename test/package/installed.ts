// A service that was installed from the package, and the programs that a reader of docs/package.md would write.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'

const startMsMax = 60_000

export interface Installed {
  readonly url: string
  readonly key: string
  readonly startMs: number
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>
}

/** What `npx posthorn start` runs, with no variable but the port. */
export async function startInstalled(home: string): Promise<Installed> {
  const { PATH = '', HOME = '' } = process.env
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
  return { url, key, startMs, stop }
}

/** Compiled against the types of the package, then run. */
export const firstMessage = `
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
export const wrongUse = `
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
