// Records a placed batch in one transaction, and returns only what was still ours.
import { isInfrastructureError } from '../db/failure.ts'
import type { Job } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { recordDecisions } from '../record/record-decisions.ts'
import type { BegunMessage, Outgoing } from './send/outgoing.ts'
import type { PlacedBatch } from './send/place-batch.ts'
import type { SendQueue } from './send/place-sends.ts'
import type { Unconfirmed } from './unconfirmed.ts'
import type { Writing } from './writing.ts'

export interface RecordParts extends Writing {
  readonly sends: Pick<SendQueue, 'wake'>
  readonly unconfirmed: Pick<Unconfirmed, 'note'>
}

export interface RecordedBatch {
  /** All that were run. */
  readonly jobs: readonly Job[]
  /** Calls that are marked, and hold their slots. */
  readonly begun: PlacedBatch['begun']
  readonly waiting: PlacedBatch['waiting']
  readonly calls: PlacedBatch['calls']
  readonly madeAfter: PlacedBatch['madeAfter']
}

/** Slots that were taken for a transaction that failed are free again; one without a response is remembered. */
export async function recordPlaced(
  { db, world, queue, sends, unconfirmed }: RecordParts,
  environment: Environment,
  jobs: readonly Job[],
  { settlements, deferred, madeAfter, begun, waiting, calls }: PlacedBatch,
): Promise<RecordedBatch> {
  let ours: ReadonlySet<string>
  try {
    ours = await recordDecisions(db, world, environment, queue, { settlements, deferred, madeAfter })
  } catch (error) {
    if (isInfrastructureError(error)) unconfirmed.note({ jobs, madeAfter, marked: begun.flatMap(markedBy) })
    leaveSlots(begun)
    sends.wake()
    throw error
  }
  const written = new Set(settlements.map(({ job }) => job.id))
  const isOurs = ({ facts: { job } }: Outgoing): boolean => ours.has(job.id)
  // One of which nothing was written waits whatever happened to the others: its lease is checked when it starts.
  const mayWait = (outgoing: Outgoing): boolean => isOurs(outgoing) || !written.has(outgoing.facts.job.id)
  const lost = begun.filter((outgoing) => !isOurs(outgoing))
  leaveSlots(lost)
  if (lost.length > 0) sends.wake()
  return { jobs, begun: begun.filter(isOurs), waiting: waiting.filter(mayWait), calls, madeAfter }
}

export const markedBy = ({ facts, messages }: Outgoing<BegunMessage>): { job: Job; messageId: string }[] =>
  messages.filter(({ marksLater }) => !marksLater).map(({ id }) => ({ job: facts.job, messageId: id }))

export function leaveSlots(outgoing: readonly Outgoing<BegunMessage>[]): void {
  for (const { messages } of outgoing) for (const { slot } of messages) slot.leave()
}
