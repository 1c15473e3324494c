// The queue of calls: order, shares, marks that fail, and that every job ends once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callScene } from '../../../test/support/call-queue-scene.ts'
import { createRandom } from '../../../test/support/random.ts'
import { DatabaseUnavailable } from '../../db/sql.ts'

const away = (): never => {
  throw new DatabaseUnavailable(new Error('Connection terminated unexpectedly'))
}

test('a call is marked, then made, then recorded, and only then its job has ended', async () => {
  const scene = callScene()
  scene.free = 1
  scene.add('a')
  await scene.settle()
  assert.deepEqual(scene.events, ['begin a', 'call a'])
  await scene.answer('a')
  assert.deepEqual(scene.events, ['begin a', 'call a', 'recorded a', 'ended a'])
})

test('a job that goes on at once after its call is not left to the next poll; one that goes on later, or is over, is', async () => {
  const scene = callScene()
  scene.free = 3
  scene.add('abc')
  await scene.settle()
  await scene.answer('a')
  await scene.answerUntil('b', new Date(scene.world.now().getTime() + 1))
  assert.equal(scene.pokes(), 0)
  await scene.answerUntil('c', scene.world.now())
  assert.equal(scene.pokes(), 1)
})

test('calls that were begun with the decision are made at once and not marked again', async () => {
  const scene = callScene()
  scene.start('ab')
  assert.deepEqual(scene.events, ['call a', 'call b'])
  await scene.answer('b')
  await scene.answer('a')
  assert.deepEqual(scene.of('ended'), ['b', 'a'])
})

test('no more is marked than there are slots; what waits is marked when one comes free', async () => {
  const scene = callScene()
  scene.free = 2
  scene.add('abc')
  await scene.settle()
  assert.deepEqual(scene.of('begin'), ['ab'])
  await scene.answer('a')
  assert.deepEqual(scene.of('begin'), ['ab', 'c'])
})

test('direct messages come first, and every fourth slot is for fan-out', async () => {
  const scene = callScene(100)
  scene.add('ABCDEF')
  scene.add('abcdefgh')
  scene.free = 14
  scene.queue.wake()
  await scene.settle()
  assert.deepEqual(scene.of('call').join(''), 'abcAdefBghCDEF')
})

test('fan-out has its share however many slots come free at a time', async () => {
  const scene = callScene(100)
  scene.add('ABCD')
  scene.add('abcdefgh')
  for (let count = 0; count < 8; count += 1) {
    scene.free = 1
    scene.queue.wake('key')
    await scene.settle()
  }
  assert.deepEqual(scene.of('call').join(''), 'abcAdefB')
})

test('direct messages find a quarter of the queue free, however much fan-out waits', async () => {
  const scene = callScene(8)
  assert.deepEqual([scene.queue.capacity('key', 0), scene.queue.capacity('key', 1)], [8, 6])
  scene.add('ABCDEFGH')
  await scene.settle()
  assert.deepEqual(scene.of('later'), ['G', 'H'])
  assert.deepEqual(scene.of('ended'), ['G', 'H'])
  assert.deepEqual([scene.queue.capacity('key', 0), scene.queue.capacity('key', 1)], [2, 0])
  scene.add('abc')
  await scene.settle()
  assert.deepEqual(scene.of('later'), ['G', 'H', 'c'])
  assert.deepEqual(
    [scene.queue.capacity('other', 0), scene.queue.capacity('other', 1)],
    [8, 6],
    'each key has its own share',
  )
})

test('one is behind others where direct messages wait, or where it is fan-out and other fan-out waits', () => {
  const scene = callScene()
  assert.equal(scene.queue.isBehindOthers('key', 1), false)
  scene.add('A')
  assert.deepEqual([scene.queue.isBehindOthers('key', 0), scene.queue.isBehindOthers('key', 1)], [false, true])
  scene.add('a')
  assert.equal(scene.queue.isBehindOthers('key', 0), true)
  assert.equal(scene.queue.isBehindOthers('other', 0), false)
})

test('a key without slots keeps no other waiting', async () => {
  const scene = callScene()
  scene.add('a', 'one')
  await scene.settle()
  scene.free = 1
  scene.add('b', 'other')
  await scene.settle()
  assert.deepEqual(scene.of('call'), ['b'])
})

test('one that waited for longer than a call takes goes back before its lease ends, and the later ones stay', async () => {
  const scene = callScene()
  scene.add('aA')
  await scene.settle()
  scene.world.advance(10_000)
  scene.add('b')
  scene.world.advance(10_001)
  scene.queue.wake('key')
  await scene.settle()
  assert.deepEqual(scene.of('later').sort(), ['A', 'a'])
  assert.deepEqual(scene.of('ended').sort(), ['A', 'a'])
  scene.free = 1
  scene.queue.wake('key')
  await scene.settle()
  assert.deepEqual(scene.of('call'), ['b'])
})

test('while the key rests all that wait go back, and none is begun', async () => {
  const scene = callScene()
  scene.add('aAb')
  await scene.settle()
  scene.free = 3
  scene.rests = true
  scene.queue.wake('key')
  await scene.settle()
  assert.deepEqual([scene.of('later').sort(), scene.of('begin')], [['A', 'a', 'b'], []])
  assert.deepEqual(scene.of('ended').sort(), ['A', 'a', 'b'])
})

test('a node that cannot show that it lives begins nothing, and continues when it can', async () => {
  const scene = callScene()
  scene.free = 1
  scene.isAlive = false
  scene.add('a')
  await scene.settle()
  assert.deepEqual(scene.events, [])
  scene.isAlive = true
  scene.queue.wake()
  await scene.settle()
  assert.deepEqual(scene.of('call'), ['a'])
})

test('a job that is not ours any more gives its slot back and ends, and the slot is used at once', async () => {
  const scene = callScene()
  scene.free = 1
  scene.begin = (ids) => ids.filter((id) => id !== 'a')
  scene.add('ab')
  await scene.settle()
  assert.deepEqual(scene.events, ['begin a', 'leave a', 'ended a', 'begin b', 'call b'])
})

test('a mark whose commit is unknown is written again until the database answers, and the call is made once', async () => {
  const scene = callScene()
  scene.free = 2
  let tries = 0
  scene.begin = (ids) => {
    tries += 1
    return tries <= 40 ? away() : ids
  }
  scene.add('ab')
  await scene.settle()
  for (let count = 0; count < 20 && tries <= 40; count += 1) await scene.settle()
  assert.equal(tries, 41)
  assert.deepEqual(scene.of('call'), ['a', 'b'])
  await scene.answer('a')
  await scene.answer('b')
  assert.deepEqual(scene.of('ended'), ['a', 'b'])
})

test('a mark that fails by a fault of ours puts its culprit aside, and the others are called', async () => {
  const scene = callScene(20)
  scene.free = 8
  scene.begin = (ids) => {
    if (ids.includes('f')) throw new TypeError('A bug')
    return ids
  }
  scene.add('abcdefgh')
  await scene.settle()
  assert.deepEqual(scene.of('fault'), ['f'])
  assert.deepEqual(scene.of('leave'), ['f'])
  assert.deepEqual(scene.of('ended'), ['f'])
  assert.deepEqual(scene.of('call').join(''), 'abcdegh')
  assert.equal(scene.free, 1)
})

test('where the culprit cannot be put aside either, what was marked is called, and the rest gives its slots back', async () => {
  const scene = callScene(20)
  scene.free = 4
  scene.begin = (ids) => {
    if (ids.includes('c')) throw new TypeError('A bug')
    return ids
  }
  scene.fault = away
  scene.add('abcd')
  await scene.settle()
  assert.deepEqual(scene.of('call'), ['a', 'b'])
  assert.deepEqual(scene.of('ended'), ['c', 'd'])
  assert.equal(scene.free, 2)
})

test('once it stops, a mark that is not answered is given up, and its jobs end', async () => {
  const scene = callScene()
  scene.free = 1
  scene.begin = () => {
    scene.queue.stop()
    return away()
  }
  scene.add('a')
  await scene.settle()
  assert.deepEqual(scene.events, ['begin a', 'leave a', 'ended a'])
})

test('stopping returns what waits and ends it; calls under way continue; what comes later ends at once', async () => {
  const scene = callScene()
  scene.free = 1
  scene.add('abA')
  await scene.settle()
  assert.deepEqual(
    scene.queue.stop().map(({ id }) => id),
    ['b', 'A'],
  )
  assert.deepEqual(scene.of('ended'), ['b', 'A'])
  await scene.answer('a')
  assert.deepEqual(scene.of('recorded'), ['a'])
  scene.add('c')
  await scene.settle()
  assert.deepEqual([scene.of('ended'), scene.of('call')], [['b', 'A', 'a', 'c'], ['a']])
  assert.equal(scene.queue.capacity('key', 0), 0)
})

test('a call whose answer cannot be judged ends its job as well', async () => {
  const scene = callScene()
  scene.free = 1
  scene.add('ab')
  await scene.settle()
  await scene.answer('a', new TypeError('A bug'))
  assert.deepEqual(scene.of('ended'), ['a'])
  assert.deepEqual(scene.of('recorded'), [])
  assert.deepEqual(scene.of('call'), ['a', 'b'])
})

test('in random runs of adds, answers, faults and outages every job ends once, and every slot comes back', async () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) await randomRun(seed)
})

async function randomRun(seed: number): Promise<void> {
  const random = createRandom(seed)
  const scene = callScene(10)
  scene.free = 3
  scene.begin = (ids) => {
    if (random.chance(0.1)) return away()
    if (random.chance(0.1)) throw new TypeError('A bug')
    return random.chance(0.1) ? ids.slice(1) : ids
  }
  scene.fault = () => void (random.chance(0.3) && away())
  // In both lanes.
  const names = Array.from({ length: 100 }, (_, index) =>
    String.fromCodePoint((index % 4 === 0 ? 0x0410 : 0x4e00) + (index % 4 === 0 ? index / 4 : index)),
  )
  const answered = new Set<string>()
  const answerOne = async (): Promise<void> => {
    const open = scene.of('call').filter((id) => !answered.has(id))
    if (open.length === 0) return scene.settle()
    const id = random.oneOf(open)
    answered.add(id)
    await scene.answer(id, random.chance(0.1) ? new TypeError('A bug') : undefined)
  }
  for (const name of names) {
    scene.add(name)
    scene.rests = random.chance(0.1)
    if (random.chance(0.6)) await answerOne()
  }
  scene.rests = false
  scene.queue.wake()
  for (let count = 0; count < names.length * 2; count += 1) await answerOne()
  assert.deepEqual(scene.of('ended').sort(), [...names].sort(), `seed ${seed}`)
  assert.equal(scene.free, 3, `seed ${seed}`)
}

/** With sleeps that never end by themselves: what resolves was let go. */
function crowdedScene() {
  const scene = callScene(4)
  scene.world.sleep = (_ms, signal) =>
    new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }))
  const passed: string[] = []
  const wait = (jobs = 100): void =>
    void scene.queue.untilCapacity(scene.environment, jobs).then(() => passed.push('passed'))
  return { scene, passed, wait }
}

test('whoever decides the next batch waits while a queue is nearly full, and continues when it is not', async () => {
  const { scene, passed, wait } = crowdedScene()
  scene.add('abcd')
  wait()
  await scene.settle()
  assert.deepEqual(passed, [])
  scene.free = 1
  scene.queue.wake('key')
  await scene.settle()
  assert.deepEqual(passed, ['passed'])
  wait()
  await scene.settle()
  assert.deepEqual(passed, ['passed', 'passed'])
})

test('no one waits longer than a third of a second for a crowded queue: others have services with room', async () => {
  const { scene, passed, wait } = crowdedScene()
  const asked: number[] = []
  scene.world.sleep = async (ms) => void asked.push(ms)
  scene.add('abcd')
  wait()
  await scene.settle()
  assert.deepEqual([asked, passed], [[333], ['passed']])
  // A batch of few keeps those behind it from their turn for less: as many jobs a second go on.
  for (const jobs of [9, 1, 300]) wait(jobs)
  await scene.settle()
  assert.deepEqual(asked, [333, 30, 4, 333])
})

test('no one waits for a queue that has room, or that rests', async () => {
  const { scene, passed, wait } = crowdedScene()
  scene.add('abc')
  wait()
  await scene.settle()
  assert.equal(passed.length, 1)
  scene.add('d')
  scene.rests = true
  wait()
  await scene.settle()
  assert.equal(passed.length, 2)
})

test('those who wait for room are let go when the node stops', async () => {
  const { scene, passed, wait } = crowdedScene()
  scene.add('abcd')
  wait()
  await scene.settle()
  scene.queue.stop()
  await scene.settle()
  assert.equal(passed.length, 1)
})
