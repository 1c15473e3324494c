// Throttles are read, modified and written at once: who is let through, and who is not.
import { createHash } from 'node:crypto'
import type { Tx } from '../db/sql.ts'
import type { JobState } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import type { Queue } from '../queue/queue.ts'
import { findEventOrder } from '../store/events/events.ts'
import type { AskedWindow, ThrottleIdentity } from '../store/events/throttle-windows.ts'
import { askThrottles } from '../store/events/throttle-windows.ts'
import type { DeferredThrottle, Settlement } from './settlement.ts'
import { settles } from './settlement.ts'

/** Turns deferred decisions into settlements. The jobs are leased: no other worker settles them in the meantime. */
export async function takeThrottles(
  tx: Tx,
  environment: Environment,
  { clock }: Pick<Queue, 'clock'>,
  deferred: readonly DeferredThrottle[],
): Promise<Settlement[]> {
  if (deferred.length === 0) return []
  const ordered = await inEventOrder(tx, environment, deferred)
  const groups = grouped(ordered, (decision) => throttleKey(throttleIdentityOf(decision)))
  const windows = await askThrottles(
    tx,
    environment,
    [...groups.values()].map((group) => {
      const first = group[0] as DeferredThrottle
      return { ...throttleIdentityOf(first), count: group.length, openMs: first.take.openMs, until: first.take.until }
    }),
    clock,
  )
  const settlements: Settlement[] = []
  for (const window of windows) {
    const group = groups.get(throttleKey(throttleIdentityOfRow(window))) ?? []
    const before = window.asked - group.length
    for (const [index, decision] of group.entries())
      settlements.push(throttleSettlement(decision, before + index, window.until_at))
  }
  if (settlements.length !== deferred.length) throw new Error('A throttle did not decide on every job')
  return settlements
}

/** In the order the events were accepted; who is alone with their throttle needs no order. */
async function inEventOrder(
  tx: Tx,
  environment: Environment,
  deferred: readonly DeferredThrottle[],
): Promise<readonly DeferredThrottle[]> {
  const identities = new Set(deferred.map((decision) => throttleKey(throttleIdentityOf(decision))))
  if (identities.size === deferred.length) return deferred
  const order = await findEventOrder(tx, environment, [...new Set(deferred.map((decision) => decision.job.eventId))])
  const seqOf = ({ job }: DeferredThrottle): number => order.get(job.eventId) ?? 0
  return [...deferred].sort((a, b) => seqOf(a) - seqOf(b))
}

/** `before`: how many asked in the window before this one. */
export function throttleSettlement(decision: DeferredThrottle, before: number, untilAt: Date): Settlement {
  const { job, take, now, nextStep, laterSteps } = decision
  const { threshold } = take
  const throttledUntil = untilAt.toISOString()
  const executionCount = Math.min(before, threshold)
  const isGranted = before < threshold
  const state: JobState = {
    throttleCount: isGranted ? executionCount + 1 : executionCount,
    ...(take.throttleValue === undefined ? {} : { throttleValue: take.throttleValue }),
  }
  if (isGranted) {
    const raw = { executionCount: executionCount + 1, threshold, throttledUntil }
    return settles(job, 'completed', {
      state,
      details: [...take.details, detail(now, 'throttlePassed', { raw })],
      next: nextStep === null ? null : { step: nextStep, digestId: job.digestId },
    })
  }
  const details = [detail(now, 'throttled', { raw: { executionCount, threshold, throttledUntil } })]
  return settles(job, 'skipped', {
    state,
    details: [...take.details, ...details],
    rest: laterSteps.length === 0 ? null : { steps: laterSteps, status: 'skipped', details },
  })
}

export function throttleIdentityOf({ job, take }: DeferredThrottle): ThrottleIdentity {
  const keyHash = createHash('sha256')
    .update(take.throttleValue === undefined ? '' : `=${take.throttleValue}`)
    .digest()
  return { stepId: take.stepId, subscriberId: job.subscriberId, keyHash }
}

export const throttleIdentityOfRow = (
  row: Pick<AskedWindow, 'step_id' | 'subscriber_id' | 'key_hash'>,
): ThrottleIdentity => ({
  stepId: row.step_id,
  subscriberId: row.subscriber_id,
  keyHash: row.key_hash,
})

export const throttleKey = (identity: ThrottleIdentity): string =>
  `${identity.stepId}/${identity.subscriberId}/${identity.keyHash.toString('base64')}`
