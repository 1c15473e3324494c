// A batch that takes its time to be decided: requests and heartbeats have their turn in between.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job } from '../../domain/delivery/job.ts'
import { Turn } from '../../domain/turn.ts'
import { decideBatch } from './decide-batch.ts'

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
