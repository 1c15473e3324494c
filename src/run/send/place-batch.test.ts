// Placing a batch: what is written with the decisions beside the decisions themselves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLimits } from '../../deliver/limits.ts'
import { leased, over } from '../../domain/delivery/due.ts'
import type { Job } from '../../domain/delivery/job.ts'
import type { Environment } from '../../domain/environment.ts'
import { settles } from '../../record/settlement.ts'
import type { DecidedBatch } from '../decide/decide-batch.ts'
import type { Facts } from '../decide/load-facts.ts'
import type { Send } from '../decide/suppressed.ts'
import { placeBatch } from './place-batch.ts'
import type { PlaceParts } from './place-sends.ts'

const now = new Date('2024-02-29T10:00:00.000Z')
const id = (number: number): string => `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`
const jobOf = (number: number, more: Partial<Job> = {}): Job =>
  ({
    id: id(number),
    eventId: id(number),
    notificationId: id(number),
    state: null,
    status: 'queued',
    lane: 0,
    interruptions: 0,
    ...more,
  }) as unknown as Job

const facts = {
  integrations: [{ _id: 'i', identifier: 'i-1', providerId: 'fcm', channel: 'push', credentials: {} }],
} as unknown as Facts

function sendOf(job: Job): Send {
  const draft = {
    target: 'device',
    integrationId: 'i',
    envelope: { target: 'device', content: 'Hi' },
    channel: 'push',
  }
  return {
    facts: { job, step: { template: { type: 'push' } }, event: { payload: {}, attachments: 0 } },
    decision: { messages: [draft], details: [] },
  } as unknown as Send
}

async function place(decided: Partial<DecidedBatch>, sends: readonly Send[], { isAlive = true } = {}) {
  const parts = {
    limits: createLimits(),
    world: { random: () => 0 },
    isAlive: () => isAlive,
    sends: { capacity: () => 100, isBehindOthers: () => false, turnAt: () => now },
    rates: { mayTake: () => true, take: () => {} },
  } as unknown as PlaceParts
  const empty = { settlements: [], deferred: [], sends: [], calls: [], asking: [], madeAfter: new Map() }
  const left = { sends, skipped: [settles(jobOf(90), 'skipped', {})] }
  const placed = await placeBatch(parts, {} as Environment, facts, { ...empty, ...decided } as DecidedBatch, left, now)
  return { ...placed, written: placed.settlements.map(({ job, status, due }) => [job.id, status, due]) }
}

test('what was decided, what is skipped and what begins is written together', async () => {
  const { written, begun } = await place({ settlements: [settles(jobOf(1), 'completed', {})] }, [sendOf(jobOf(2))])
  assert.equal(begun.length, 1)
  assert.deepEqual(written, [
    [id(1), 'completed', over],
    [id(90), 'skipped', over],
    [id(2), 'running', leased],
  ])
})

test('of one that waits for a slot nothing is written, unless it follows another and has no row yet', async () => {
  const madeAfter = new Map([[id(3), id(1)]])
  const { written, waiting } = await place({ madeAfter }, [sendOf(jobOf(2)), sendOf(jobOf(3))], { isAlive: false })
  assert.equal(waiting.length, 2)
  assert.deepEqual(written.slice(1), [[id(3), 'queued', leased]])
})

test('one that follows another, waits, and was interrupted is written once', async () => {
  const madeAfter = new Map([[id(3), id(1)]])
  const { written } = await place({ madeAfter }, [sendOf(jobOf(3, { interruptions: 1 }))], { isAlive: false })
  assert.deepEqual(written.slice(1), [[id(3), 'queued', leased]])
})

test('a custom step that was interrupted before is cleared with the others: from there on no death is its own', async () => {
  const callOf = (job: Job) => ({ facts: { job } }) as never
  const calls = [
    callOf(jobOf(4)),
    callOf(jobOf(5, { interruptions: 2 })),
    callOf(jobOf(6, { interruptions: 2, status: 'running' })),
  ]
  const { written, calls: placed } = await place({ calls }, [])
  assert.equal(placed.length, 3)
  assert.deepEqual(written.slice(1), [
    [id(5), 'queued', leased],
    [id(6), 'running', leased],
  ])
})
