// Running jobs while the database does not answer: they run again soon, and none is reported as over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../test/support/fake-world.ts'
import { DatabaseUnavailable } from '../db/sql.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { runJobs } from './run-jobs.ts'
import type { Stages } from './stages.ts'
import type { TaskParts } from './tasks/run-tasks.ts'
import { runTasks } from './tasks/run-tasks.ts'

const away = (): Promise<never> => Promise.reject(new DatabaseUnavailable(new Error('Connection terminated')))
const rows = ['a', 'b'].map((id) => ({
  id,
  environmentId: 'e',
  interruptions: 0,
  status: 'queued',
})) as unknown as Job[]

function scene(parts: { environments?: () => Promise<Map<string, Environment>>; resolve?: () => Promise<unknown> }) {
  const again: string[] = []
  const done: string[] = []
  const handling = {
    done: ({ id }: { id: string }) => void done.push(id),
    again: (some: readonly { id: string }[]) => void again.push(...some.map(({ id }) => id)),
  }
  const known = async (): Promise<Map<string, Environment>> => new Map([['e', { id: 'e' } as unknown as Environment]])
  const world = createFakeWorld()
  const environments = { of: parts.environments ?? known }
  const unconfirmed = { resolve: parts.resolve }
  const stages = { record: { world }, environments, unconfirmed } as unknown as Stages
  const tasks = { world, environments } as unknown as TaskParts
  return { again, done, handling, stages, tasks }
}

test('where environments cannot be read, jobs and tasks run again soon, under the same lease', async () => {
  for (const run of [
    ({ stages, handling }: ReturnType<typeof scene>) => runJobs(stages, rows, handling),
    ({ tasks, handling }: ReturnType<typeof scene>) => runTasks(tasks, rows as never, handling as never),
  ]) {
    const one = scene({ environments: away })
    await run(one)
    assert.deepEqual([one.again, one.done], [['a', 'b'], []])
    const broken = scene({ environments: () => Promise.reject(new TypeError('A bug')) })
    await assert.rejects(run(broken), TypeError)
  }
})

test('rows of an environment that is gone are over', async () => {
  const { stages, handling, again, done } = scene({ environments: async () => new Map() })
  await runJobs(stages, rows, handling)
  assert.deepEqual([again, done], [[], ['a', 'b']])
})

test('where a doubt of before cannot be resolved, the jobs run again; those that are settled are over', async () => {
  const doubted = scene({ resolve: away })
  await runJobs(doubted.stages, rows, doubted.handling)
  assert.deepEqual([doubted.again, doubted.done], [['a', 'b'], []])
  const settled = scene({ resolve: async () => rows.map((given) => ({ given, now: undefined })) })
  await runJobs(settled.stages, rows, settled.handling)
  assert.deepEqual([settled.again, settled.done], [[], ['a', 'b']])
})
