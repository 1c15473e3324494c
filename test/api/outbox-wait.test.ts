// Waiting for a message in the outbox: at once when it is there, as soon as it comes, until the time is over.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Db } from '../../src/db/sql.ts'
import { sql } from '../../src/db/sql.ts'
import type { Environment } from '../../src/domain/environment.ts'
import { Problem } from '../../src/domain/problem.ts'
import { createOutboxWaits, waitersPerEnvironmentMax } from '../../src/read/messages/outbox-waits.ts'
import type { TestApp, TestReply } from '../support/app.ts'
import { createTestApp } from '../support/app.ts'
import { fresh } from '../support/flow-scene.ts'
import { OutboxScene, smsStep } from '../support/outbox-scene.ts'
import { environmentOf } from '../support/topic-scene.ts'

let app: TestApp
let scene: OutboxScene
let workflow: string
let environment: Environment
let sleep: TestApp['world']['sleep']
before(async () => {
  app = await createTestApp()
  scene = new OutboxScene(app)
  environment = await environmentOf(app)
  workflow = await scene.workflow([smsStep('Your code is {{ payload.code }}')])
  sleep = app.world.sleep
})
after(() => app.close())
beforeEach(() => {
  app.world.sleep = sleep
})

const wait = (query: Record<string, string>): Promise<TestReply> => scene.get(`/wait?${new URLSearchParams(query)}`)

/** While others wait: what happens at which of their looks. Time continues as they sleep. */
function meanwhile(look: number, act: () => Promise<unknown>): void {
  let looks = 0
  app.world.sleep = async (ms, signal) => {
    looks += 1
    if (looks === look) await act()
    await sleep(ms, signal)
  }
}

async function tell(person: string, code: string): Promise<void> {
  await scene.trigger(workflow, person, { payload: { code } })
  await scene.work()
}

test('what is there already is answered at once, newest first', async () => {
  const person = await scene.person()
  await tell(person, 'first')
  app.world.advance(1_000)
  await tell(person, 'second')
  app.world.sleep = () => assert.fail('no one need sleep')
  const reply = await wait({ recipient: person })
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(
    reply.body.data.map((item: { preview: string }) => item.preview),
    ['Your code is second', 'Your code is first'],
  )
  assert.equal((await wait({ recipient: person, limit: '1' })).body.data.length, 1)
})

test('a message is answered as soon as it exists, for someone who was not there before', async () => {
  const person = fresh('person')
  const startedMs = app.world.now().getTime()
  meanwhile(3, async () => {
    await scene.person(person)
    await tell(person, 'late')
  })
  const reply = await wait({ recipient: person, timeout: '30s' })
  assert.deepEqual(
    reply.body.data.map((item: { preview: string }) => item.preview),
    ['Your code is late'],
  )
  assert.ok(app.world.now().getTime() - startedMs < 2_000)
})

test('a message that does not fit ends no wait', async () => {
  const person = await scene.person()
  const startedMs = app.world.now().getTime()
  meanwhile(2, () => tell(person, 'other'))
  const reply = await wait({ recipient: person, text: 'mine', timeout: '3s' })
  assert.deepEqual(reply.body.data, [])
  assert.equal(app.world.now().getTime() - startedMs, 3_000)
})

test('when the time is over the page is empty, and not before', async () => {
  for (const [timeout, ms] of [
    ['500ms', 500],
    ['2s', 2_000],
    ['2', 2_000],
    ['1m', 60_000],
    ['0s', 0],
  ] as const) {
    const startedMs = app.world.now().getTime()
    const reply = await wait({ recipient: 'nobody', timeout })
    assert.deepEqual([reply.status, reply.body.data, reply.body.totalCount], [200, [], 0])
    assert.equal(app.world.now().getTime() - startedMs, ms, timeout)
  }
})

test('a message that another node’s slow clock dated long ago is found when the time is over', async () => {
  const person = await scene.person()
  await tell(await scene.person(), 'newest')
  meanwhile(4, async () => {
    await tell(person, 'slow')
    await app.database.db.run(sql`
      update messages set outbox_at = outbox_at - interval '1 hour' where phone = '+4915112345' and content = '"Your code is slow"'`)
  })
  assert.equal((await wait({ recipient: person, timeout: '5s' })).body.data.length, 1)
})

test('one node waits for what another does', async () => {
  const node = await createTestApp({ nodeOf: app })
  const person = await scene.person()
  meanwhile(2, () => tell(person, 'there'))
  const reply = await node.call('GET', `/v1/outbox/wait?recipient=${person}`)
  assert.equal(reply.body.data.length, 1, reply.text)
  await node.close()
})

/** Counts statements, and sleeps only as long as it is set. */
function countingWaits() {
  const { db } = app.database
  let statements = 0
  let underWay = 0
  const counting = <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    statements += 1
    underWay += 1
    return answer.finally(() => {
      underWay -= 1
    })
  }
  const counted: Db = {
    ...db,
    rows: (statement) => counting(db.rows(statement)),
    row: (statement) => counting(db.row(statement)),
  }
  const naps: (() => void)[] = []
  const world = {
    ...app.world,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        naps.push(resolve)
        signal?.addEventListener('abort', () => resolve())
      }),
  }
  return {
    waits: createOutboxWaits(counted, world),
    /** How many statements were asked since the last time. */
    asked: () => {
      const count = statements
      statements = 0
      return count
    },
    /** Wakes who sleeps, and comes back when they sleep again. */
    next: async () => {
      naps.splice(0).forEach((wake) => {
        wake()
      })
      while (naps.length === 0) await new Promise(setImmediate)
    },
    /** When who looks sleeps, and everyone else has looked for themselves and joined. */
    asleep: async () => {
      while (naps.length === 0 || underWay > 0) await new Promise(setImmediate)
    },
  }
}

/** Each call has a signal of its own. */
const until = (signal: AbortSignal) => ({ timeoutMs: 60_000, signal: AbortSignal.any([signal]) })

test('all who wait in an environment share one look, until something comes', async () => {
  const { waits, asked, next, asleep } = countingWaits()
  const stop = new AbortController()
  const people = [await scene.person(), await scene.person()]
  const all = Array.from({ length: 20 }, (_, index) =>
    waits.wait(environment, { recipient: people[index % 2] ?? '' }, until(stop.signal)).catch(() => 'gone'),
  )
  await asleep()
  // Whoever is new is looked for once more when they have joined.
  do {
    asked()
    await next()
  } while (asked() !== 1)
  await next()
  await next()
  assert.equal(asked(), 2)
  await tell(people[0] ?? '', 'shared')
  await next()
  // One look, and one for each of the two things that are waited for; then each who is done.
  assert.equal(asked(), 3)
  stop.abort()
  const ends = await Promise.all(all)
  assert.deepEqual([ends.filter((end) => end === true).length, ends.filter((end) => end === 'gone').length], [10, 10])
})

const status = async (waiting: Promise<unknown>): Promise<number> => {
  const error = await waiting.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  )
  return error instanceof Problem ? error.status : assert.fail(String(error))
}

test('no more than so many wait at once, and who has gone makes room', async () => {
  const empty: Db = { ...app.database.db, rows: async () => [], row: async () => undefined }
  const asleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
  const waits = createOutboxWaits(empty, { ...app.world, sleep: asleep })
  const stop = new AbortController()
  const one = new AbortController()
  const filter = { recipient: 'nobody' }
  const wait = (signal: AbortSignal): Promise<boolean> => waits.wait(environment, filter, until(signal))
  const first = wait(one.signal)
  const others = Array.from({ length: waitersPerEnvironmentMax - 1 }, () => wait(stop.signal))
  for (const waiting of [first, ...others]) waiting.catch(() => {})
  await new Promise(setImmediate)
  assert.equal(await status(wait(stop.signal)), 429)
  one.abort()
  assert.equal(await status(first), 503)
  const next = wait(stop.signal)
  next.catch(() => {})
  await new Promise(setImmediate)
  stop.abort()
  assert.equal(await status(next), 503)
  for (const waiting of others) assert.equal(await status(waiting), 503)
})

test('a server that closes answers those who wait, and does not wait for them', async () => {
  const node = await createTestApp({ nodeOf: app })
  let isAsleep = false
  app.world.sleep = (_ms, signal) =>
    new Promise<void>((resolve) => {
      isAsleep = true
      signal?.addEventListener('abort', () => resolve())
    })
  const waiting = node.call('GET', '/v1/outbox/wait?recipient=nobody&timeout=60s')
  while (!isAsleep) await new Promise(setImmediate)
  await node.close()
  const reply = await waiting
  assert.deepEqual([reply.status, reply.headers['retry-after']], [503, '1'])
})
