// Random events in digests, cancelled at random times while two nodes work: in the end each event is listed once, or cancelled.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { TestApp } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { FlowScene, fresh, statuses } from '../support/flow-scene.ts'
import type { Random } from '../support/random.ts'
import { createRandom, fuzzRounds, fuzzSeed } from '../support/random.ts'
import { delay, digest, inApp } from '../support/workflow-scene.ts'

let app: TestApp
let node: TestApp
let scene: FlowScene
before(async () => {
  app = await createTestApp()
  node = await createTestApp({ nodeOf: app })
  scene = new FlowScene(app)
})
after(async () => {
  await node.close()
  await app.close()
})

const rounds = fuzzRounds(8)
const minuteMs = 60_000
const list = '{{ step.total_count }}:{% for event in step.events %} {{ event.n }}{% endfor %}'
const hourly = digest({ metadata: { type: 'regular', amount: 60, unit: 'minutes' } })
const shapes = {
  'a digest': [digest(), inApp(list)],
  'a digest and a wait': [digest(), delay(), inApp(list)],
  'two digests': [digest(), hourly, inApp(list)],
  'two digests and a wait': [digest(), hourly, delay(), inApp(list)],
}

interface Sent {
  readonly n: number
  readonly transactionId: string
}

/** One run of events for one person, and what became of their cancelling. */
class Round {
  readonly random: Random
  readonly workflow: string
  readonly person = fresh('person')
  readonly sent: Sent[] = []
  /** The numbers of the events whose cancelling was answered with true. */
  readonly canceled = new Set<number>()
  #triggered = 0

  constructor(random: Random, workflow: string) {
    this.random = random
    this.workflow = workflow
  }

  async trigger(): Promise<void> {
    this.#triggered += 1
    const n = this.#triggered
    this.sent.push({ n, transactionId: await scene.trigger(this.workflow, this.person, { payload: { n } }) })
  }

  async cancel({ n, transactionId }: Sent): Promise<void> {
    const { call } = this.random.chance(0.5) ? app : node
    const reply = await call('DELETE', `/v1/events/trigger/${transactionId}`)
    assert.equal(reply.status, 200, reply.text)
    if (reply.body === true) {
      assert.ok(!this.canceled.has(n), `${n} was canceled twice`)
      this.canceled.add(n)
    }
  }

  /** Some of those that are not cancelled. */
  some(chance: number): Sent[] {
    return this.sent.filter(({ n }) => !this.canceled.has(n) && this.random.chance(chance))
  }

  /** Both nodes work, and some events are cancelled meanwhile, or before, or after. */
  async work(chance: number): Promise<void> {
    const chosen = this.some(chance)
    const way = this.random.integer(3)
    if (way === 0) for (const one of chosen) await this.cancel(one)
    const meanwhile = way === 1 ? chosen : []
    const worked = this.random.chance(0.5) ? [app.pipeline.work(), node.pipeline.work()] : [app.pipeline.work()]
    await Promise.all([...worked, ...meanwhile.map((one) => this.cancel(one))])
    if (way === 2) for (const one of chosen) await this.cancel(one)
  }
}

async function play(random: Random, workflow: string): Promise<Round> {
  const round = new Round(random, workflow)
  app.world.advance(1_000)
  for (let left = 1 + random.integer(9); left > 0; left -= 1) {
    const several = 1 + random.integer(3)
    await Promise.all(Array.from({ length: several }, () => round.trigger()))
    if (random.chance(0.6)) await round.work(0.2)
    if (random.chance(0.3)) app.world.advance(minuteMs)
  }
  // All waits end, one after the other, and at each some are cancelled.
  for (const minutes of [5, 6, 60, 6, 120, 6]) {
    app.world.advance(minutes * minuteMs)
    await round.work(0.25)
  }
  // More than all of them wait together, whatever was opened late.
  await scene.advance(8 * 60 * minuteMs, 20 * minuteMs)
  return round
}

/** The numbers of the events that were listed, in all messages together. */
async function listed(person: string): Promise<number[]> {
  const texts = await scene.texts(person)
  return texts.flatMap((text) => {
    const [total, ...numbers] = text.replace(':', '').split(' ').map(Number)
    assert.equal(total, numbers.length, text)
    return numbers
  })
}

async function check({ person, sent, canceled }: Round): Promise<void> {
  const reported = await listed(person).catch(() => [])
  const all = sent.map(({ n }) => n).sort((a, b) => a - b)
  const expected = all.filter((n) => !canceled.has(n))
  assert.deepEqual(
    reported.sort((a, b) => a - b),
    expected,
    `canceled: ${[...canceled]}`,
  )
  for (const { n, transactionId } of sent) {
    const last = statuses(await scene.notification(transactionId)).at(-1) ?? ''
    assert.ok(canceled.has(n) ? last === 'canceled' : ['completed', 'merged'].includes(last), `${n} is ${last}`)
  }
  const open = await scene.rows(sql`select 1 from jobs where due_at is not null union all select 1 from tasks`)
  assert.deepEqual(open, [])
}

test('whatever is cancelled, and whenever, a digest lists exactly the others', { timeout: 280_000 }, async (t) => {
  const seed = fuzzSeed()
  t.diagnostic(`seed ${seed}`)
  const workflows = new Map<string, string>()
  for (const [name, steps] of Object.entries(shapes)) workflows.set(name, await scene.workflow(steps))
  for (let number = 0; number < rounds; number += 1) {
    const random = createRandom(seed + number)
    const [name, workflow] = random.oneOf([...workflows])
    const round = await play(random, workflow)
    try {
      await check(round)
    } catch (error) {
      throw new Error(`seed ${seed + number}, ${name}: ${(error as Error).message}`, { cause: error })
    }
  }
  const [database] = await scene.rows(sql`select deadlocks from pg_stat_database where datname = current_database()`)
  t.diagnostic(`${rounds} rounds, ${database?.deadlocks} deadlocks`)
})
