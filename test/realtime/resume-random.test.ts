// Streams that break anywhere, on two nodes that restart: whatever was written meanwhile, the reader ends with what the table has.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Json, TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh } from '../support/flow-scene.ts'
import type { InboxPage } from '../support/inbox-scene.ts'
import { inboxOf } from '../support/inbox-scene.ts'
import type { Random } from '../support/random.ts'
import { createRandom } from '../support/random.ts'
import type { OpenStream } from '../support/stream-scene.ts'
import { addressOf, openStream, until } from '../support/stream-scene.ts'
import { delay, inApp } from '../support/workflow-scene.ts'

const stepsPerSeed = 40
const given = process.env['RESUME_SEED']
const seeds = given === undefined ? [1, Date.now() % 1_000_000] : [Number(given)]

let app: TestApp
let scene: FlowScene
let plain: string
let delayed: string
before(async () => {
  app = await createTestApp()
  scene = new FlowScene(app)
  plain = await scene.workflow([inApp('Hello {{ payload.id }}')])
  delayed = await scene.workflow([delay(), inApp('Later {{ payload.id }}')])
})
after(() => app.close())

interface Node {
  readonly app: TestApp
  readonly address: string
}

async function startNode(): Promise<Node> {
  const node = await createTestApp({ nodeOf: app, hears: true })
  return { app: node, address: await addressOf(node) }
}

/** A page that knows nothing but what its streams said, and its list where a stream says that it begins afresh. */
class Reader {
  readonly shown = new Map<string, Json>()
  readonly #page: InboxPage
  #stream: OpenStream | undefined
  #read = 0
  #lastId: string | undefined

  constructor(page: InboxPage) {
    this.#page = page
  }

  get isConnected(): boolean {
    return this.#stream !== undefined && !this.#stream.isClosed
  }

  async connect({ address }: Node): Promise<void> {
    const resume = this.#lastId === undefined ? {} : { 'last-event-id': this.#lastId }
    const headers = { authorization: `Bearer ${this.#page.token}`, ...resume }
    this.#stream = await openStream(address, '/v1/inbox/stream', headers)
    this.#read = 0
    const { data } = await this.#stream.next('ready')
    assert.equal(data.isResumed, this.#lastId !== undefined, 'only the first stream begins afresh')
  }

  /** Takes in what has come, but for the last few: a connection that breaks loses those. */
  readAll(lost = 0): void {
    const events = this.#stream?.events ?? []
    const end = Math.max(this.#read, events.length - lost)
    for (const { id, name, data } of events.slice(this.#read, end)) {
      if (id !== '') this.#lastId = id
      if (name === 'notification_deleted') this.shown.delete(data.id)
      else if (name.startsWith('notification_')) this.shown.set(data.id, data)
    }
    this.#read = end
  }

  breakOff(lost: number): void {
    this.readAll(lost)
    this.#stream?.close()
    this.#stream = undefined
  }
}

/** Everything of the inbox, as the table has it. */
async function stored(page: InboxPage): Promise<Map<string, Json>> {
  const found = new Map<string, Json>()
  for (const snoozed of [true, false]) {
    for (const archived of [true, false]) {
      const listed = await page.data(200, 'GET', `/notifications?limit=100&snoozed=${snoozed}&archived=${archived}`)
      for (const one of listed) found.set(one.id, one)
    }
  }
  return found
}

const marks = ['read', 'unread', 'archive', 'unarchive'] as const

/** One write of any kind; its name, for the message of a failure. */
async function write(random: Random, page: InboxPage, subscriberId: string, step: number): Promise<string> {
  const ids = (await page.data(200, 'GET', '/notifications?limit=100')).map(({ id }: Json): string => id)
  const kind = random.oneOf([
    'new',
    'new',
    'many',
    'delayed',
    'later',
    'mark',
    'mark',
    'snooze',
    'delete',
    'all',
  ] as const)
  const to = { payload: { id: step } }
  if (kind === 'new' || ids.length === 0) await scene.run(plain, subscriberId, to)
  else if (kind === 'many') {
    await Promise.all(Array.from({ length: 1 + random.integer(6) }, () => scene.trigger(plain, subscriberId, to)))
    await scene.work()
  } else if (kind === 'delayed') {
    await scene.trigger(delayed, subscriberId, to)
    await scene.work()
  } else if (kind === 'later') {
    // Delays end, and what was snoozed returns.
    app.world.advance((1 + random.integer(10)) * 60_000)
    await scene.work()
  } else if (kind === 'snooze') {
    const snoozeUntil = new Date(app.world.now().getTime() + (2 + random.integer(8)) * 60_000).toISOString()
    await page.data(200, 'PATCH', `/notifications/${random.oneOf(ids)}/snooze`, { snoozeUntil })
  } else if (kind === 'delete') {
    await page.call('DELETE', `/notifications/${random.oneOf(ids)}/delete`)
  } else if (kind === 'all') {
    await page.data(204, 'POST', `/notifications/${random.oneOf(['read', 'seen', 'archive', 'read-archive'])}`, {})
  } else await page.data(200, 'PATCH', `/notifications/${random.oneOf(ids)}/${random.oneOf(marks)}`)
  return kind
}

for (const seed of seeds) {
  test(`a reader whose streams break ends with what the table has (RESUME_SEED=${seed})`, async (t) => {
    const random = createRandom(seed)
    const subscriberId = fresh('reader')
    const page = await inboxOf(app, subscriberId)
    const nodes = [await startNode(), await startNode()]
    const reader = new Reader(page)
    const done: string[] = []
    await reader.connect(random.oneOf(nodes))
    for (let step = 0; step < stepsPerSeed; step += 1) {
      const chance = random.integer(10)
      if (chance === 0) {
        const place = random.integer(nodes.length)
        await nodes[place]?.app.close()
        nodes[place] = await startNode()
        done.push('restart')
      } else if (chance <= 2 && reader.isConnected) {
        reader.breakOff(random.integer(5))
        done.push('break')
      } else if (!reader.isConnected && chance <= 5) {
        reader.breakOff(random.integer(5))
        await reader.connect(random.oneOf(nodes))
        done.push('connect')
      } else done.push(await write(random, page, subscriberId, step))
      if (random.chance(0.5)) reader.readAll()
    }
    if (!reader.isConnected) {
      reader.breakOff(random.integer(5))
      await reader.connect(random.oneOf(nodes))
    }
    const expected = await stored(page)
    const isSame = (): boolean => {
      reader.readAll()
      // Not by their text: an event names the same members in another order than the list.
      return isDeepStrictEqual(new Map(reader.shown), expected)
    }
    await until(isSame).catch(() => {})
    reader.readAll()
    t.diagnostic(`${expected.size} notifications after ${done.length} steps`)
    assert.deepEqual(new Map([...reader.shown].sort()), new Map([...expected].sort()), `RESUME_SEED=${seed}: ${done}`)
    reader.breakOff(0)
    for (const node of nodes) await node.app.close()
  })
}
