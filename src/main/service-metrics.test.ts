// The metrics of all processes: gathered, added up, and kept over the end of one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { MetricFamily } from '../http/metrics/shared-metrics.ts'
import { textOf } from '../http/metrics/shared-metrics.ts'
import type { Child, ToChild, ToParent } from './child-messages.ts'
import { joinMetricsBy, ServiceMetrics } from './service-metrics.ts'

/** A process that has handled so many requests and uses so much memory. */
const families = (requests: number, bytes: number): MetricFamily[] => [
  {
    name: 'requests_total',
    help: 'Requests',
    type: 'counter',
    aggregator: 'sum',
    values: [{ labels: { status: '200' }, value: requests }],
  },
  { name: 'memory_bytes', help: 'Memory', type: 'gauge', aggregator: 'sum', values: [{ labels: {}, value: bytes }] },
  { name: 'lag', help: 'Lag', type: 'gauge', aggregator: 'average', values: [{ labels: {}, value: Number.NaN }] },
]

function scene() {
  const children = new Map<number, Child>()
  let sleeping: (() => void)[] = []
  const metrics = new ServiceMetrics({
    children: () => children,
    restarts: () => 4,
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        sleeping.push(resolve)
        if (signal.aborted) resolve()
        signal.addEventListener('abort', () => resolve())
      }),
  })
  /** Undefined: it does not answer. */
  const add = (number: number, answer: () => MetricFamily[] | undefined): void => {
    const send = (message: ToChild): void => {
      if (message.kind !== 'ask-metrics') return
      const own = answer()
      if (own !== undefined) metrics.answered(message.question, own)
    }
    children.set(number, { send } as unknown as Child)
  }
  const timeUp = (): void => {
    for (const wake of sleeping) wake()
    sleeping = []
  }
  return { metrics, children, add, timeUp }
}

const read = async (metrics: ServiceMetrics): Promise<string> => textOf(await metrics.ofAll())

test('what the processes count is added up, and how many there are is reported', async () => {
  const { metrics, add } = scene()
  add(1, () => families(3, 10))
  add(2, () => families(4, 20))
  const text = await read(metrics)
  assert.match(text, /^requests_total\{status="200"\} 7$/m)
  assert.match(text, /^memory_bytes 30$/m)
  assert.match(text, /^posthorn_processes 2$/m)
  assert.match(text, /^posthorn_process_restarts_total 4$/m)
})

test('a process that ended leaves its counts and nothing else: no sum shrinks', async () => {
  const { metrics, children, add } = scene()
  add(1, () => families(3, 10))
  add(2, () => families(4, 20))
  await read(metrics)
  children.delete(1)
  metrics.childEnded(1)
  assert.match(await read(metrics), /^requests_total\{status="200"\} 7$/m)
  add(1, () => families(1, 5))
  const text = await read(metrics)
  assert.match(text, /^requests_total\{status="200"\} 8$/m)
  assert.match(text, /^memory_bytes 25$/m)
  children.delete(1)
  metrics.childEnded(1)
  assert.match(await read(metrics), /^requests_total\{status="200"\} 8$/m)
})

test('a process that does not respond in time is reported as it last was', async () => {
  const { metrics, add, timeUp } = scene()
  let isBusy = false
  add(1, () => (isBusy ? undefined : families(3, 10)))
  await read(metrics)
  isBusy = true
  const reading = read(metrics)
  await turn()
  timeUp()
  assert.match(await reading, /^requests_total\{status="200"\} 3$/m)
})

test('a process that ends while it is asked does not hold up the answer', async () => {
  const { metrics, children, add } = scene()
  add(1, () => undefined)
  add(2, () => families(4, 20))
  const reading = read(metrics)
  children.delete(1)
  metrics.childEnded(1)
  assert.match(await reading, /^requests_total\{status="200"\} 4$/m)
})

test('a child answers for itself when it is asked, and asks its parent for all', async () => {
  const sent: ToParent[] = []
  const listeners: ((message: ToChild) => void)[] = []
  const join = joinMetricsBy({
    send: (message) => void sent.push(message),
    onMessage: (listener) => void listeners.push(listener),
  })
  const hear = (message: ToChild): void => {
    for (const listener of listeners) listener(message)
  }
  const own = families(1, 1)
  const ofAll = join(async () => own)
  hear({ kind: 'ask-metrics', question: 9 })
  await turn()
  assert.deepEqual(sent, [{ kind: 'metrics', question: 9, families: own }])
  const asking = ofAll()
  assert.deepEqual(sent[1], { kind: 'ask-metrics', question: 1 })
  const all = families(7, 7)
  hear({ kind: 'metrics', question: 1, families: all })
  assert.equal(await asking, all)
})
