// The processes of one service, looked after: in virtual time and without any process.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { silentLog } from '../world/log.ts'
import type { Child, Orders, ToChild, ToParent } from './child-messages.ts'
import { Supervisor } from './supervisor.ts'

interface FakeChild extends Child {
  readonly orders: Pick<Orders, 'number' | 'nodeId' | 'dead'>
  readonly received: ToChild[]
  isKilled: boolean
  says(message: ToParent): void
  ends(how?: string): void
}

function scene(processes = 2) {
  const children: FakeChild[] = []
  const slept: number[] = []
  const refusals: string[] = []
  let nowMs = 0
  let wake = (): void => {}
  const supervisor = new Supervisor({
    processes,
    log: silentLog,
    newNodeId: () => `node-${children.length + 1}`,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) => {
      slept.push(ms)
      return new Promise((resolve) => {
        wake = resolve
        if (signal.aborted) resolve()
        signal.addEventListener('abort', () => resolve())
      })
    },
    onMessage: () => {},
    onEnded: () => {},
    fork: (orders) => {
      if (refusals.length > 0) throw new Error(refusals.pop())
      const child = fakeChild(orders)
      children.push(child)
      return child
    },
  })
  const advance = (ms: number): void => {
    nowMs += ms
  }
  return { supervisor, children, slept, refusals, advance, wake: () => wake() }
}

function fakeChild(orders: FakeChild['orders']): FakeChild {
  let listener: (message: ToParent) => void = () => {}
  let end: (how: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    end = resolve
  })
  return {
    orders,
    received: [],
    isKilled: false,
    pid: 1,
    ended,
    send(message) {
      this.received.push(message)
    },
    onMessage: (heard) => {
      listener = heard
    },
    kill() {
      this.isKilled = true
      end('was ended by SIGKILL')
    },
    says: (message) => listener(message),
    ends: (how = 'ended with code 1') => end(how),
  }
}

const started: ToParent = { kind: 'started', url: 'http://localhost:3000' }
const [first, second, third] = [0, 1, 2] as const

async function running() {
  const all = scene()
  const starting = all.supervisor.start()
  for (const child of all.children) child.says(started)
  assert.equal(await starting, 'http://localhost:3000')
  return all
}

test('all processes start together, each with its number, and the service has started when all have', async () => {
  const { supervisor, children } = scene(3)
  let isOver = false
  const starting = supervisor.start().then(() => {
    isOver = true
  })
  assert.deepEqual(
    children.map(({ orders }) => orders.number),
    [1, 2, 3],
  )
  children[first]?.says(started)
  children[second]?.says(started)
  await turn()
  assert.equal(isOver, false)
  assert.deepEqual([...supervisor.started.keys()], [1, 2])
  children[third]?.says(started)
  await starting
})

test('a process that ends is started again under its number, and the others are notified who died', async () => {
  const { supervisor, children, slept, wake } = await running()
  children[first]?.ends()
  await turn()
  assert.deepEqual(children[second]?.received, [{ kind: 'dead', nodeId: 'node-1' }])
  assert.deepEqual([...supervisor.started.keys()], [2])
  assert.deepEqual(slept, [100])
  assert.equal(children.length, 2, 'it waits')
  wake()
  await turn()
  assert.deepEqual(children[third]?.orders, { number: 1, nodeId: 'node-3', dead: ['node-1'] })
  children[third]?.says(started)
  assert.deepEqual([...supervisor.started.keys()], [1, 2])
  assert.equal(supervisor.restarts, 1)
})

test('one that ends again and again waits longer each time; after a steady life the pause is short again', async () => {
  const { children, slept, wake, advance } = await running()
  for (let death = 0; death < 4; death += 1) {
    const child = children.findLast(({ orders }) => orders.number === 1)
    if (death === 3) advance(60_000)
    child?.ends()
    await turn()
    wake()
    await turn()
  }
  assert.deepEqual(slept, [100, 200, 400, 100])
})

test('a first start that fails is reported in the words of the process, and is not tried again', async () => {
  const { supervisor, children } = scene()
  const starting = supervisor.start()
  children[first]?.says({ kind: 'failed', message: 'Port 3000 is in use' })
  children[first]?.ends()
  await assert.rejects(starting, { name: 'StartError', message: 'Port 3000 is in use' })
  const stopping = supervisor.stop(1_000)
  assert.deepEqual(children[second]?.received.at(-1), { kind: 'stop' })
  children[second]?.ends('ended with code 0')
  assert.equal(await stopping, true)
  assert.equal(children.length, 2)
})

test('a first start that breaks without words says how it ended', async () => {
  const { supervisor, children } = scene()
  const starting = supervisor.start()
  children[second]?.ends('was ended by SIGSEGV')
  await assert.rejects(starting, /^StartError: Process 2 was ended by SIGSEGV before it had started\.$/)
})

test('a stop asks all, waits for all, and starts none again', async () => {
  const { supervisor, children } = await running()
  let isOver = false
  const stopping = supervisor.stop(1_000).then((isClean) => {
    isOver = true
    return isClean
  })
  for (const child of children) assert.deepEqual(child.received, [{ kind: 'stop' }])
  children[first]?.ends('ended with code 0')
  await turn()
  assert.equal(isOver, false)
  children[second]?.ends('ended with code 0')
  assert.equal(await stopping, true)
  assert.equal(children.length, 2)
})

test('a stop during a pause before a restart starts nothing', async () => {
  const { supervisor, children } = await running()
  children[first]?.ends()
  await turn()
  const stopping = supervisor.stop(1_000)
  children[second]?.ends('ended with code 0')
  assert.equal(await stopping, true)
  assert.equal(children.length, 2)
})

test('whoever does not stop in time is ended, and the stop says so', async () => {
  const { supervisor, children, wake } = await running()
  const stopping = supervisor.stop(1_000)
  children[first]?.ends('ended with code 0')
  await turn()
  wake()
  assert.equal(await stopping, false)
  assert.deepEqual(
    children.map(({ isKilled }) => isKilled),
    [false, true],
  )
})

test('a system that has no room for another process is asked again later', async () => {
  const { supervisor, children, slept, refusals, wake } = scene(1)
  const started = supervisor.start()
  children[0]?.says({ kind: 'started', url: 'http://localhost:1' })
  await started
  refusals.push('spawn ENOMEM')
  children[0]?.ends()
  await turn()
  wake()
  await turn()
  assert.equal(children.length, 1)
  assert.equal(slept.length, 2)
  wake()
  await turn()
  assert.equal(children.length, 2)
})
