// A call queue whose slots, marks and calls are answered by the test.
import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { until } from '../../src/domain/delivery/due.ts'
import type { Job } from '../../src/domain/delivery/job.ts'
import type { Environment } from '../../src/domain/environment.ts'
import type { JobOutcome } from '../../src/record/job-outcome.ts'
import { settles } from '../../src/record/settlement.ts'
import type { CallKind, CallQueue } from '../../src/run/send/call-queue.ts'
import { createCallQueue } from '../../src/run/send/call-queue.ts'
import type { FakeWorld } from './fake-world.ts'
import { createFakeWorld } from './fake-world.ts'

export interface TestCall {
  readonly job: Job
  readonly key: string
}

export interface CallScene {
  readonly world: FakeWorld
  readonly environment: Environment
  readonly queue: CallQueue<TestCall, TestCall>
  /** What happened, in order: `begin a b`, `call a`, `leave a`, `ended a`, `later a`, `fault a`, `recorded a`. */
  readonly events: string[]
  /** Slots that are free. */
  free: number
  isAlive: boolean
  rests: boolean
  /** Throws, or returns the ids that are ours. */
  begin: (ids: readonly string[]) => readonly string[]
  fault: (id: string) => void
  /** Settles the call of this name, which frees its slot. */
  answer(id: string, failure?: Error): Promise<void>
  /** The same with an answer after which the job goes on then. */
  answerUntil(id: string, at: Date): Promise<void>
  /** By name; the fan-out ones are in capitals. */
  add(ids: string, key?: string): void
  start(ids: string): void
  /** Lets everything happen that can. */
  settle(): Promise<void>
  /** Those events of one kind. */
  of(kind: string): string[]
  readonly pokes: () => number
}

const environment = { id: 'environment' } as unknown as Environment
const turnsToSettle = 20

export function callScene(waitingMax = 8): CallScene {
  const world = createFakeWorld()
  const events: string[] = []
  const open = new Map<string, OpenCall>()
  let pokes = 0
  const jobOf = (id: string): Job =>
    ({ id, lane: id === id.toLowerCase() ? 0 : 1, status: 'queued', state: null }) as unknown as Job
  const kind = scriptedKind(() => scene, open)
  const queue = createCallQueue(kind, {
    world,
    waitingMax,
    crowdMin: waitingMax - 1,
    isAlive: () => scene.isAlive,
    poke: () => void pokes++,
    recorder: {
      record: async (_environment, { settlement: { job, status } }) => {
        events.push(`${status === 'queued' ? 'later' : 'recorded'} ${job.id}`)
      },
      isBehind: () => false,
      stop: () => {},
    },
  })
  const queued = (ids: string, key: string) =>
    [...ids].map((id) => ({
      environment,
      call: { job: jobOf(id), key },
      ended: () => void events.push(`ended ${id}`),
    }))
  const settle = async (): Promise<void> => {
    for (let count = 0; count < turnsToSettle; count += 1) await turn()
  }
  const end = async (id: string, answer: (call: OpenCall) => void): Promise<void> => {
    const found = open.get(id) ?? assert.fail(`${id} is not being called`)
    open.delete(id)
    scene.free += 1
    answer(found)
    queue.wake(found.call.key)
    await settle()
  }
  const scene: CallScene = {
    world,
    environment,
    queue,
    events,
    free: 0,
    isAlive: true,
    rests: false,
    begin: (ids) => ids,
    fault: () => {},
    answer: (id, failure) =>
      end(id, ({ resolve, reject, call }) => {
        if (failure === undefined) resolve({ settlement: settles(call.job, 'completed'), results: [] })
        else reject(failure)
      }),
    answerUntil: (id, at) =>
      end(id, ({ resolve, call }) =>
        resolve({ settlement: settles(call.job, 'queued', { due: until(at) }), results: [] }),
      ),
    add: (ids, key = 'key') => queue.add(queued(ids, key)),
    start: (ids) => queue.start(queued(ids, 'key')),
    settle,
    of: (name) => events.flatMap((event) => (event.startsWith(`${name} `) ? [event.slice(name.length + 1)] : [])),
    pokes: () => pokes,
  }
  return scene
}

interface OpenCall {
  readonly call: TestCall
  resolve(outcome: JobOutcome): void
  reject(error: Error): void
}

/** Does what the scene says at that time. */
function scriptedKind(scene: () => CallScene, open: Map<string, OpenCall>): CallKind<TestCall, TestCall> {
  const namesOf = (calls: readonly TestCall[]): string => calls.map(({ job }) => job.id).join('')
  return {
    name: 'test calls',
    jobOf: ({ job }) => job,
    keyOf: ({ key }) => key,
    batchPlan: () => (call) => {
      if (scene().free === 0) return undefined
      scene().free -= 1
      return call
    },
    leave: ({ job }) => {
      scene().free += 1
      scene().events.push(`leave ${job.id}`)
    },
    together: (calls) => [calls],
    begin: async (_environment, calls) => {
      scene().events.push(`begin ${namesOf(calls)}`)
      return new Set(scene().begin(calls.map(({ job }) => job.id)))
    },
    call: (_environment, calls) =>
      calls.map((call) => {
        scene().events.push(`call ${call.job.id}`)
        return new Promise((resolve, reject) => open.set(call.job.id, { resolve, reject, call }))
      }),
    rests: () => scene().rests,
    postponed: ({ job }, turnAt) => settles(job, 'queued', { due: until(turnAt) }),
    fault: async (_environment, { job }) => {
      scene().events.push(`fault ${job.id}`)
      scene().fault(job.id)
    },
  }
}
