// Placing sends: which start with the decision, which wait, which come back later; a failing job costs no other its
// slot.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Limits } from '../../deliver/limits.ts'
import { createLimits } from '../../deliver/limits.ts'
import type { SendDecision } from '../../domain/delivery/decision.ts'
import { leased, until } from '../../domain/delivery/due.ts'
import type { Environment } from '../../domain/environment.ts'
import { Turn } from '../../domain/turn.ts'
import type { Renderer } from '../../domain/workflows/rendering.ts'
import type { JobFacts } from '../decide/job-facts.ts'
import type { Facts } from '../decide/load-facts.ts'
import type { Outgoing } from './outgoing.ts'
import type { PlacedSends, Placing, SendQueue } from './place-sends.ts'
import { placeSends } from './place-sends.ts'

const id = (number: number): string => `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`
const now = new Date('2024-02-29T10:00:00.000Z')
const inMs = (ms: number): Date => new Date(now.getTime() + ms)
const turnAt = inMs(9_000)

interface Scene {
  readonly limits?: Limits
  readonly isAlive?: boolean
  readonly capacity?: number
  readonly isBehindOthers?: boolean
}

const facts = {
  integrations: [{ _id: 'i', identifier: 'i-1', providerId: 'fcm', channel: 'push', credentials: {} }],
} as unknown as Facts

function sendOf(number: number, more: { interruptions?: number; channel?: string } = {}) {
  const { interruptions = 0, channel = 'push' } = more
  const own = id(number)
  const job = { id: own, eventId: own, notificationId: own, state: null, status: 'queued', lane: 0, interruptions }
  const draft = { target: 'device', integrationId: 'i', envelope: { target: 'device', content: 'Hi' }, channel }
  return {
    facts: { job, step: { template: { type: 'push' } }, event: { payload: {}, attachments: 0 } } as unknown as JobFacts,
    decision: { messages: [draft], details: [] } as unknown as SendDecision,
  }
}

function placing({
  limits = createLimits(),
  isAlive = true,
  capacity = 1,
  isBehindOthers = false,
}: Scene = {}): Placing {
  return {
    parts: {
      limits,
      world: { random: () => 0 },
      renderer: {} as Renderer,
      operatorMail: undefined,
      rates: { mayTake: () => true, take: () => {}, callsMax: (_environment, _integration, max) => max },
      sends: {
        capacity: () => capacity,
        isBehindOthers: () => isBehindOthers,
        turnAt: () => turnAt,
      } as unknown as SendQueue,
      isAlive: () => isAlive,
    },
    now,
  }
}

const place = (scene: Scene, ...sends: ReturnType<typeof sendOf>[]): Promise<PlacedSends> =>
  placeSends(placing(scene), {} as Environment, facts, sends)

const idsOf = (outgoing: readonly Outgoing[]): string[] => outgoing.map((one) => one.facts.job.id)

/** A slot is all there is. */
function nearlyFull(): Limits {
  const limits = createLimits()
  for (let count = 0; count < 49; count += 1) limits.take('i', 50, now)
  return limits
}

test('where one job of a batch cannot be placed, no slot stays taken for the others', async () => {
  const limits = nearlyFull()
  // Its event lacks what choosing an integration asks for.
  await assert.rejects(place({ limits }, sendOf(1), sendOf(2, { channel: 'email' })), TypeError)
  assert.equal(limits.underWay('i'), 49)
  assert.equal((await place({ limits }, sendOf(1))).begun.length, 1)
  assert.equal(limits.underWay('i'), 50)
})

test('what has a slot begins with the decision, the next waits, and one that finds no room comes back at its turn', async () => {
  const placed = await place({ limits: nearlyFull() }, sendOf(1), sendOf(2), sendOf(3))
  assert.deepEqual(idsOf(placed.begun), [id(1)])
  assert.deepEqual(idsOf(placed.waiting), [id(2)])
  assert.deepEqual(
    placed.settlements.map(({ job, status, due }) => [job.id, status, due]),
    [
      [id(1), 'running', leased],
      [id(3), 'queued', until(turnAt)],
    ],
    'nothing is written of the one that waits',
  )
})

test('nothing begins while others came before it, or while this node cannot show that it lives', async () => {
  for (const scene of [{ isBehindOthers: true }, { isAlive: false }]) {
    const placed = await place(scene, sendOf(1))
    assert.deepEqual([placed.begun.length, idsOf(placed.waiting)], [0, [id(1)]])
  }
})

test('one that was interrupted before is written when it waits: from there on no death is its own', async () => {
  const placed = await place({ isAlive: false, capacity: 2 }, sendOf(1, { interruptions: 4 }), sendOf(2))
  assert.deepEqual(idsOf(placed.waiting), [id(1), id(2)])
  assert.deepEqual(
    placed.settlements.map(({ job, status, due }) => [job.id, status, due]),
    [[id(1), 'queued', leased]],
  )
})

test('one whose integration rests is held instead of waiting for a slot', async () => {
  const limits = createLimits()
  limits.pauseUntil('i', inMs(20_000))
  const placed = await place({ limits, capacity: 100 }, sendOf(1))
  assert.deepEqual([placed.begun.length, placed.waiting.length], [0, 0])
  assert.deepEqual(
    placed.settlements.map(({ status, due }) => [status, due]),
    [['queued', until(inMs(20_000))]],
  )
})

test('one without an integration fails, and no message is made', async () => {
  const { facts: job, decision } = sendOf(1)
  const gone = await placeSends(placing(), {} as Environment, { integrations: [] } as unknown as Facts, [
    {
      facts: { ...job, version: { definition: { steps: [] } }, event: { ...job.event, overrides: {} } },
      decision,
    } as never,
  ])
  assert.deepEqual([gone.begun.length, gone.waiting.length], [0, 0])
  assert.equal(gone.settlements[0]?.status, 'failed')
})

test('others have their turn while the integrations of a batch are chosen, and whether this node lives is asked after that', async () => {
  const { begun, turns } = await placedInTurns(() => true)
  assert.equal(begun.length, 6)
  assert.ok(turns >= 2, `${turns} turns of others`)
  let turnsOfOthers = 0
  const { begun: none, waiting } = await placedInTurns(
    () => turnsOfOthers < 2,
    () => {
      turnsOfOthers += 1
    },
  )
  assert.deepEqual([none.length, waiting.length], [0, 6])
})

/** Each of six takes 15 ms. */
async function placedInTurns(isAlive: () => boolean, onTurn = () => {}): Promise<PlacedSends & { turns: number }> {
  let nowMs = 0
  const turn = new Turn(() => {
    nowMs += 15
    return nowMs
  })
  let turns = 0
  const wait = (): void => {
    turns += 1
    onTurn()
    if (turns < 10) setImmediate(wait)
  }
  setImmediate(wait)
  const { parts } = placing({ capacity: 100 })
  const sends = [1, 2, 3, 4, 5, 6].map((number) => sendOf(number))
  const placed = await placeSends({ parts: { ...parts, isAlive }, now }, {} as Environment, facts, sends, turn)
  return { ...placed, turns }
}
