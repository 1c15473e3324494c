// A batch that takes its time to be decided: requests and heartbeats have their turn in between.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job } from '../../domain/delivery/job.ts'
import { Turn } from '../../domain/turn.ts'
import { RenderElsewhere } from '../../domain/workflows/rendering.ts'
import type { RunOptions } from '../../world/threads.ts'
import { ThreadFailure } from '../../world/threads.ts'
import { DecidedLater, decideBatch } from './decide-batch.ts'

test('others have their turn where the jobs of a batch take long, and all are decided', async () => {
  const version = { definition: { steps: [{ active: true, template: { type: 'in_app' } }] } }
  const facts = { versions: new Map([['v', version]]), events: new Map([['e', {}]]), subscribers: new Map() }
  const jobs = Array.from({ length: 6 }, (_, index) => ({ id: `${index}`, versionId: 'v', eventId: 'e', step: 0 }))
  // Each job takes 15 ms.
  let nowMs = 0
  const turn = new Turn(() => {
    nowMs += 15
    return nowMs
  })
  let others = 0
  const wait = (): void => {
    others += 1
    if (others < 10) setImmediate(wait)
  }
  setImmediate(wait)
  const renderer = {}
  const parts = { facts, renderer, links: undefined, answers: new Map(), tracing: undefined, now: new Date(0) }
  const { settlements } = await decideBatch(parts as never, jobs as unknown as Job[], turn)
  assert.equal(settlements.length, 6)
  assert.ok(others >= 2, `${others} turns of others`)
})

/** A batch of jobs that have to be rendered in threads, which answer as `run` does. */
function expensiveScene(count: number, run: (asked: number, onBegun: () => void) => Promise<unknown>) {
  const step = { active: true, filters: [], variants: [], template: { type: 'in_app', content: 'Hello' } }
  const version = {
    id: 'v',
    definition: { steps: [step], preferenceSettings: {}, critical: true, tags: [] },
    identifier: 'w',
    workflowId: 'w',
  }
  const event = { payload: {}, overrides: {}, actorId: null, tenantId: null, contextKeys: null }
  const facts = {
    versions: new Map([['v', version]]),
    events: new Map([['e', event]]),
    subscribers: new Map([['s', { id: 's', subscriber_id: 'ann', channels: [] }]]),
    ...{ tenants: new Map(), contexts: new Map(), digests: new Map(), previous: new Map(), channels: new Map() },
    ...{ tenantOverrides: new Map(), followers: new Map(), wording: {} },
    integrations: [{ channel: 'in_app', active: true }],
  }
  const jobs = Array.from({ length: count }, (_, index) => ({
    ...{ id: `${index}`, versionId: 'v', eventId: 'e', subscriberId: 's', notificationId: 'n', step: 0 },
    ...{ status: 'queued', state: null, digestId: null },
  })) as unknown as Job[]
  let asked = 0
  const threads = {
    size: 2,
    run: (_message: unknown, { onBegun }: RunOptions = {}) => {
      asked += 1
      return run(asked, onBegun ?? (() => {}))
    },
  }
  const small = {
    inApp: (_key: string, template: unknown, scope: unknown) => {
      throw new RenderElsewhere({ kind: 'inApp', template, scope } as never)
    },
  }
  const world = { threads, now: () => new Date(0) }
  const parts = {
    facts,
    renderer: { small },
    world,
    holding: {},
    links: undefined,
    answers: new Map(),
    now: new Date(0),
  }
  return { parts, jobs, asked: () => asked }
}

const value = { content: 'Hello' }

test('jobs that cost much are rendered side by side; those for which there was no time are left as they were', async () => {
  let running = 0
  let most = 0
  const { parts, jobs } = expensiveScene(6, async (asked) => {
    running += 1
    most = Math.max(most, running)
    if (asked > 4) await new Promise(() => {})
    await new Promise(setImmediate)
    running -= 1
    return { value }
  })
  const { settlements, unrendered, faulty } = await decideBatch({ ...parts, threadsMsMax: 200 } as never, jobs)
  assert.equal(most, 2)
  assert.deepEqual(
    settlements.map(({ job, status }) => [job.id, status]),
    ['0', '1', '2', '3'].map((id) => [id, 'completed']),
  )
  assert.deepEqual([unrendered.map(({ id }) => id), faulty], [['4', '5'], []])
})

test('one that takes all the time, or fails in its thread, is at fault; the others are not', async () => {
  const { parts, jobs } = expensiveScene(4, async (asked, onBegun) => {
    onBegun()
    if (asked === 1) await new Promise(() => {})
    return asked === 3 ? { fault: 'a bug' } : { value }
  })
  const { settlements, unrendered, faulty } = await decideBatch({ ...parts, threadsMsMax: 200 } as never, jobs)
  assert.deepEqual([settlements.map(({ job }) => job.id), unrendered], [['1', '3'], []])
  assert.deepEqual(
    faulty.map(({ job, error }) => [job.id, (error as Error).message]),
    [
      ['0', 'The templates of the step took longer than 100 ms to render'],
      ['2', 'a bug'],
    ],
  )
})

test('jobs that no thread began, or had time for, are not at fault: others had the threads', async () => {
  const { parts, jobs } = expensiveScene(4, async (asked) => {
    if (asked === 2) throw new ThreadFailure('busy', 'no')
    if (asked !== 3) await new Promise(() => {})
    return { value }
  })
  const { settlements, unrendered, faulty } = await decideBatch({ ...parts, threadsMsMax: 50 } as never, jobs)
  assert.deepEqual([settlements.map(({ job }) => job.id), faulty], [['2'], []])
  assert.deepEqual(
    unrendered.map(({ id }) => id),
    ['0', '1', '3'],
  )
})

test('where a caller waits, what costs much is left to its own turn, and no thread is asked', async () => {
  const { parts, jobs, asked } = expensiveScene(1, async () => ({ value }))
  await assert.rejects(decideBatch({ ...parts, isAtOnce: true } as never, jobs), DecidedLater)
  assert.equal(asked(), 0)
})
