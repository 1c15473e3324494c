// Places what a batch decided: what is written now, which calls start with it, and which wait.
import { leased } from '../../domain/delivery/due.ts'
import type { Environment } from '../../domain/environment.ts'
import type { DeferredDecision, MadeAfter, Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { DecidedBatch } from '../decide/decide-batch.ts'
import type { Facts } from '../decide/load-facts.ts'
import type { SendsLeft } from '../decide/suppressed.ts'
import type { PendingCall } from './custom-calls.ts'
import type { BegunMessage, Outgoing } from './outgoing.ts'
import type { PlaceParts } from './place-sends.ts'
import { placeSends } from './place-sends.ts'

export interface PlacedBatch {
  readonly settlements: readonly Settlement[]
  readonly deferred: readonly DeferredDecision[]
  readonly madeAfter: MadeAfter
  /** These hold slots, and are marked with the decision. */
  readonly begun: readonly Outgoing<BegunMessage>[]
  /** Nothing is written of these before they have a slot, unless they follow another step. */
  readonly waiting: readonly Outgoing[]
  readonly calls: readonly PendingCall[]
}

export async function placeBatch(
  parts: PlaceParts,
  environment: Environment,
  facts: Facts,
  { settlements, deferred, madeAfter, calls }: DecidedBatch,
  left: SendsLeft,
  now: Date,
): Promise<PlacedBatch> {
  const placed = await placeSends({ parts, now }, environment, facts, left.sends)
  return {
    settlements: [
      ...settlements,
      ...left.skipped,
      ...placed.settlements,
      ...waitingFollowers(madeAfter, placed.waiting, placed.settlements),
      ...clearedCalls(calls),
    ],
    deferred,
    madeAfter,
    begun: placed.begun,
    waiting: placed.waiting,
    calls,
  }
}

/** Those that follow others and wait for a slot: unlike all that wait, they have no row yet. */
function waitingFollowers(
  madeAfter: MadeAfter,
  waiting: readonly Outgoing[],
  written: readonly Settlement[],
): Settlement[] {
  if (madeAfter.size === 0) return []
  const known = new Set(written.map(({ job }) => job.id))
  const held = waiting.map(({ facts }) => facts.job).filter(({ id }) => madeAfter.has(id) && !known.has(id))
  return held.map((job) => settles(job, 'queued', { due: leased }))
}

/** A custom step that was interrupted before waits for its slot, and then for its service: no death is its own from here on. */
function clearedCalls(calls: readonly PendingCall[]): Settlement[] {
  const suspected = calls.map(({ facts }) => facts.job).filter(({ interruptions }) => interruptions > 0)
  return suspected.map((job) => settles(job, job.status === 'running' ? 'running' : 'queued', { due: leased }))
}
