// Dispatching: every job is reported once, when nothing of it is in flight any more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import type { DispatchParts } from './dispatch.ts'
import { dispatch } from './dispatch.ts'
import type { Queued } from './send/call-queue.ts'

type Dispatched = Parameters<typeof dispatch>[2]

const environment = { id: 'e' } as unknown as Environment
const jobOf = (id: string): Job => ({ id }) as unknown as Job
const callOf = (job: Job) => ({ facts: { job } })

function scene(batch: { [Name in keyof Dispatched]?: unknown }) {
  const done: string[] = []
  const started: Queued<unknown>[] = []
  const added: Queued<unknown>[] = []
  const called: Queued<unknown>[] = []
  const parts = {
    sends: {
      start: (calls: Queued<unknown>[]) => void started.push(...calls),
      add: (calls: Queued<unknown>[]) => void added.push(...calls),
    },
    customCalls: { add: (calls: Queued<unknown>[]) => void called.push(...calls) },
  } as unknown as DispatchParts
  const handling = { done: ({ id }: Job) => void done.push(id), again: () => assert.fail('nothing runs again') }
  const empty = { jobs: [], begun: [], waiting: [], calls: [], madeAfter: new Map() }
  dispatch(parts, environment, { ...empty, ...batch } as unknown as Dispatched, handling)
  return { done, started, added, called }
}

test('jobs without a call are over at once; the others when their calls are', () => {
  const [settled, begun, waiting, custom] = ['settled', 'begun', 'waiting', 'custom'].map(jobOf) as [Job, Job, Job, Job]
  const { done, started, added, called } = scene({
    jobs: [settled, begun, waiting, custom],
    begun: [callOf(begun)],
    waiting: [callOf(waiting)],
    calls: [callOf(custom)],
  })
  assert.deepEqual(done, ['settled'])
  assert.deepEqual([started.length, added.length, called.length], [1, 1, 1])
  for (const { ended } of [...added, ...called, ...started]) ended()
  assert.deepEqual(done, ['settled', 'waiting', 'custom', 'begun'])
})

test('the call of a step that follows another at once is the other’s: it is over with it', () => {
  const first = jobOf('first')
  const { done, started } = scene({
    jobs: [first],
    begun: [callOf(jobOf('follower'))],
    madeAfter: new Map([['follower', 'first']]),
  })
  assert.deepEqual(done, [])
  started[0]?.ended()
  assert.deepEqual(done, ['first'])
})

test('jobs whose conditions are being asked are reported when that is over', () => {
  const [asking, other] = ['asking', 'other'].map(jobOf) as [Job, Job]
  assert.deepEqual(scene({ jobs: [asking, other], asking: [asking] }).done, ['other'])
})
