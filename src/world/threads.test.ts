// Threads: what they reply, what becomes of those that stall or break, and that nothing else waits meanwhile.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { ThreadFailureKind, Threads, ThreadsOptions } from './threads.ts'
import { createThreads, ThreadFailure } from './threads.ts'

/** Does what it is asked to. */
const code = `
import { parentPort } from 'node:worker_threads'
let count = 0
parentPort.on('message', (message) => {
  count += 1
  if (message === 'stall') for (;;) {}
  if (message === 'throw') throw new Error('broken')
  if (message === 'fill') { const all = []; for (;;) all.push(new Array(100000).fill(message)) }
  parentPort.postMessage({ message, count })
  if (message === 'break when idle') setImmediate(() => { throw new Error('idle') })
})
parentPort.postMessage('ready')`
const entry = new URL(`data:text/javascript,${encodeURIComponent(code)}`)

function threadsOf(t: TestContext, options: Partial<ThreadsOptions> = {}): Threads {
  const threads = createThreads({ entry, size: 1, ...options })
  t.after(() => threads.close())
  return threads
}

async function failed(kind: ThreadFailureKind, reply: Promise<unknown>): Promise<void> {
  const error = await reply.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ThreadFailure, String(error))
  assert.equal(error.kind, kind, error.message)
}

test('each message is replied to, one after the other in one thread', async (t) => {
  const threads = threadsOf(t)
  const replies = await Promise.all(['a', 'b', 'c'].map((message) => threads.run(message)))
  assert.deepEqual(replies, [
    { message: 'a', count: 1 },
    { message: 'b', count: 2 },
    { message: 'c', count: 3 },
  ])
})

test('a thread that stalls is ended at its deadline; the event loop goes on, and so does who waits behind it', async (t) => {
  const threads = threadsOf(t, { deadlineMs: 1_000 })
  await threads.run('warm')
  let ticks = 0
  const ticking = setInterval(() => {
    ticks += 1
  }, 10)
  const stalled = threads.run('stall')
  const behind = threads.run('behind')
  await failed('late', stalled)
  clearInterval(ticking)
  assert.ok(ticks >= 5, `${ticks} turns while a thread was stalled`)
  // In a new one, which has counted nothing.
  assert.deepEqual(await behind, { message: 'behind', count: 1 })
})

test('what waits for a thread longer than it may is not begun, and what comes after it is', async (t) => {
  const threads = threadsOf(t, { deadlineMs: 1_500, waitMsMax: 50 })
  await threads.run('warm')
  const stalled = threads.run('stall')
  await failed('busy', threads.run('behind'))
  await failed('late', stalled)
  assert.deepEqual(await threads.run('after'), { message: 'after', count: 1 })
})

test('one that throws, or fills its memory, fails what it did and nothing else', async (t) => {
  const threads = threadsOf(t, { heapMegabytes: 16 })
  await failed('broken', threads.run('throw'))
  await failed('broken', threads.run('fill'))
  assert.deepEqual(await threads.run('after'), { message: 'after', count: 1 })
})

test('what cannot be copied fails, and what comes after it does not', async (t) => {
  const threads = threadsOf(t)
  await failed(
    'unavailable',
    threads.run(() => 1),
  )
  assert.deepEqual(((await threads.run('after')) as { message: string }).message, 'after')
})

test('an entry that does not load fails whoever needs it', async (t) => {
  const threads = threadsOf(t, { entry: new URL('data:text/javascript,throw new Error("no")') })
  await failed('unavailable', threads.run('a'))
})

test('whoever waits when they are closed gets an error', async () => {
  const threads = createThreads({ entry, size: 1 })
  const both = [threads.run('stall'), threads.run('behind')].map((reply) => failed('busy', reply))
  await threads.close()
  await Promise.all(both)
})

test('beyond what can wait, it is refused', async (t) => {
  const threads = threadsOf(t)
  const waiting = Array.from({ length: 501 }, () => threads.run('a'))
  await failed('busy', threads.run('one more'))
  const first = threads.run('first', { isFirst: true })
  await Promise.all([...waiting, first])
})

test('what is first has the next thread, and it is reported when a thread begins it', async (t) => {
  const threads = threadsOf(t)
  const begun: string[] = []
  const run = (message: string, isFirst: boolean) =>
    threads.run(message, { isFirst, onBegun: () => void begun.push(message) })
  const runs = [run('a', false), run('b', false), run('c', true), run('d', false), run('e', true)]
  assert.deepEqual(begun, [])
  await Promise.all(runs)
  assert.deepEqual(begun, ['a', 'c', 'e', 'b', 'd'])
})

test('every fourth is one of the others, however many are first', async (t) => {
  const threads = threadsOf(t)
  const begun: string[] = []
  const run = (message: string, isFirst: boolean) =>
    threads.run(message, { isFirst, onBegun: () => void begun.push(message) })
  const names = Array.from({ length: 9 }, (_, place) => `first-${place}`)
  await Promise.all([...names.map((name) => run(name, true)), run('x', false), run('y', false)])
  const places = [begun.indexOf('x'), begun.indexOf('y')]
  assert.deepEqual(places, [4, 8])
})

test('an error that comes right behind a reply ends nothing either', async (t) => {
  const threads = threadsOf(t)
  const { emit } = Worker.prototype
  // The thread's error is seen in the same turn as its reply, before anything that waits for the reply goes on.
  t.mock.method(Worker.prototype, 'emit', function (this: Worker, name: string, ...rest: unknown[]) {
    const isHeard = Reflect.apply(emit, this, [name, ...rest])
    if (name === 'message' && (rest[0] as { message?: string }).message === 'hello') {
      Reflect.apply(emit, this, ['error', new Error('behind it')])
    }
    return isHeard
  })
  assert.deepEqual(await threads.run('hello'), { message: 'hello', count: 1 })
})

test('a thread that breaks while it is idle ends nothing else, and is replaced', async (t) => {
  const threads = threadsOf(t)
  await threads.run('warm')
  // Its reply and its end come by different ways, and may overtake each other.
  await threads.run('break when idle').catch((error: unknown) => assert.ok(error instanceof ThreadFailure))
  let reply: unknown
  // A task that meets the breaking thread fails; the next has a new one.
  for (let tries = 0; tries < 100 && (reply as { count?: number })?.count !== 1; tries += 1) {
    reply = await threads.run('next').catch((error: unknown) => error)
  }
  assert.deepEqual(reply, { message: 'next', count: 1 })
})
