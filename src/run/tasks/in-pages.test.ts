// Tasks that are done page by page: how many pages they take at a time, and what stops them in between.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../../test/support/fake-world.ts'
import type { Db } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Queue } from '../../queue/queue.ts'
import type { Task } from '../../store/jobs/tasks.ts'
import { inPages } from './in-pages.ts'

const environment = { id: 'e' } as unknown as Environment
const task = { id: 't', lease: 'l' } as unknown as Task

/** A task of so many pages; the node stops, or is no longer alive, after some of them. */
async function run(pages: number, { stopsAfter = 99, diesAfter = 99 } = {}) {
  let done = 0
  let left = 0
  const written = async () => {
    left += 1
    return 1
  }
  const parts = {
    db: { run: written, rows: written, row: written } as unknown as Db,
    world: createFakeWorld(),
    queue: { clock: () => sql`now()` } as unknown as Queue,
    isAlive: () => done < diesAfter,
    isStopping: () => done >= stopsAfter,
  }
  await inPages(parts, environment, task, 1, async (page) => {
    done += 1
    return page < pages ? page + 1 : undefined
  })
  return { done, isLeft: left > 0 }
}

test('a task that ends within its pages is not left for later', async () => {
  assert.deepEqual(await run(1), { done: 1, isLeft: false })
  assert.deepEqual(await run(10), { done: 10, isLeft: false })
})

test('a longer one makes way for others after ten pages', async () => {
  assert.deepEqual(await run(11), { done: 10, isLeft: true })
})

test('between two pages it stops if the service does, or if the node cannot show that it is alive', async () => {
  assert.deepEqual(await run(5, { stopsAfter: 2 }), { done: 2, isLeft: true })
  assert.deepEqual(await run(5, { diesAfter: 3 }), { done: 3, isLeft: true })
  assert.deepEqual(await run(5, { stopsAfter: 0 }), { done: 0, isLeft: true })
})
