// Digests are read, modified and written at once: who opens a window, who joins one, who passes.
import { createHash } from 'node:crypto'
import type { Clock } from '../db/clock.ts'
import type { Tx } from '../db/sql.ts'
import { until } from '../domain/delivery/due.ts'
import type { JobState } from '../domain/delivery/job.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/insight/execution-detail.ts'
import type { Queue } from '../queue/queue.ts'
import type { DigestIdentity, JoinedWindow } from '../store/events/digests.ts'
import { gatherEvents, joinWindows, noteBackoffs } from '../store/events/digests.ts'
import { findEventOrder } from '../store/events/events.ts'
import type { World } from '../world/world.ts'
import type { DeferredDigest, Settlement } from './settlement.ts'
import { settles } from './settlement.ts'

/** Turns deferred decisions into settlements. The jobs are leased: no other worker settles them in the meantime. */
export async function joinDigests(
  tx: Tx,
  world: World,
  environment: Environment,
  { clock }: Pick<Queue, 'clock'>,
  deferred: readonly DeferredDigest[],
): Promise<Settlement[]> {
  if (deferred.length === 0) return []
  const now = world.now()
  // In the order the events were accepted: the first of a window speaks for the others.
  const order = await findEventOrder(tx, environment, [...new Set(deferred.map((decision) => decision.job.eventId))])
  const seqOf = ({ job }: DeferredDigest): number => order.get(job.eventId) ?? 0
  const ordered = [...deferred].sort((a, b) => seqOf(a) - seqOf(b))
  const passing = await firstAfterSilence(tx, environment, clock, ordered)
  const joining = groupByIdentity(ordered.filter((decision) => !passing.has(decision)))
  const windows = await joinWindows(
    tx,
    environment,
    [...joining.values()].map(({ identity, deferred: [first, ...others] }) => ({
      ...identity,
      id: world.newId(now),
      workflowId: first.workflowId,
      jobId: first.job.id,
      notificationId: first.job.notificationId,
      eventCount: 1 + others.length,
      dueAt: first.join.dueAt,
    })),
    now,
  )
  const byIdentity = new Map(windows.map((window) => [identityKey(identityOfRow(window)), window]))
  const settlements = [...passing].map(passes)
  const gathered = []
  for (const [key, { deferred: group }] of joining) {
    const window = byIdentity.get(key)
    if (window === undefined) throw new Error('A digest window was neither opened nor joined')
    for (const [index, decision] of group.entries()) {
      settlements.push(window.opened && index === 0 ? opens(decision, window) : joins(decision, window))
      gathered.push({
        windowId: window.id,
        eventId: decision.job.eventId,
        seq: seqOf(decision),
        carriedWindowId: decision.job.digestId,
      })
    }
  }
  await gatherEvents(tx, environment, gathered)
  return settlements
}

export function opens(decision: DeferredDigest, window: JoinedWindow): Settlement {
  const untilDate = window.due_at.toISOString()
  const { held } = decision.join
  const delay = Math.max(0, window.due_at.getTime() - decision.now.getTime())
  return settles(decision.job, 'delayed', {
    due: until(window.due_at),
    state: { windowId: window.id, until: untilDate, ...stateOf(decision) },
    details: [
      ...decision.join.details,
      held === undefined
        ? detail(decision.now, 'digested', { raw: { delay, untilDate } })
        : detail(decision.now, 'held', { raw: { by: held.by, delay, untilDate } }),
    ],
  })
}

export function joins(decision: DeferredDigest, window: JoinedWindow): Settlement {
  const { held } = decision.join
  const details = [
    held === undefined
      ? detail(decision.now, 'digestMerged')
      : detail(decision.now, 'heldMerged', { raw: { by: held.by } }),
  ]
  return settles(decision.job, 'merged', {
    state: { windowId: window.id, digestedNotificationId: window.notification_id, ...stateOf(decision) },
    details: [...decision.join.details, ...details],
    rest: decision.laterSteps.length === 0 ? null : { steps: decision.laterSteps, status: 'merged', details },
  })
}

export function passes(decision: DeferredDigest): Settlement {
  return settles(decision.job, 'skipped', {
    state: { backoffFirst: true, ...stateOf(decision) },
    details: [...decision.join.details, detail(decision.now, 'digestSkipped')],
    next: decision.nextStep === null ? null : { step: decision.nextStep, digestId: decision.job.digestId },
  })
}

const stateOf = ({ join: { digestValue, held } }: DeferredDigest): JobState => ({
  ...(digestValue === undefined ? {} : { digestValue }),
  ...(held === undefined ? {} : { heldBy: held.by }),
})

/** Of each back-off identity that was silent for long enough: its first event, which goes on at once. */
async function firstAfterSilence(
  tx: Tx,
  environment: Environment,
  clock: Clock,
  ordered: readonly DeferredDigest[],
): Promise<Set<DeferredDigest>> {
  const groups = groupByIdentity(ordered.filter((decision) => decision.join.backoffMs !== undefined))
  const noted = await noteBackoffs(
    tx,
    environment,
    [...groups.values()].map((group) => group.identity),
    clock,
  )
  const first = new Set<DeferredDigest>()
  for (const row of noted) {
    const decision = groups.get(identityKey(identityOfRow(row)))?.deferred[0]
    if (decision === undefined) continue
    if (endsSilence(decision, row.previous_at, row.now)) first.add(decision)
  }
  return first
}

/** `previousAt`: when its identity last heard of something; null for never. Both by one clock. */
export function endsSilence({ join }: DeferredDigest, previousAt: Date | null, now: Date): boolean {
  return previousAt === null || previousAt.getTime() < now.getTime() - (join.backoffMs ?? 0)
}

interface IdentityGroup {
  readonly identity: DigestIdentity
  readonly deferred: [DeferredDigest, ...DeferredDigest[]]
}

function groupByIdentity(deferred: readonly DeferredDigest[]): Map<string, IdentityGroup> {
  const groups = new Map<string, IdentityGroup>()
  for (const decision of deferred) {
    const identity = identityOf(decision)
    const key = identityKey(identity)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { identity, deferred: [decision] })
    else group.deferred.push(decision)
  }
  return groups
}

export function identityOf(decision: DeferredDigest): DigestIdentity {
  const { digestValue, held, apart } = decision.join
  // No value of a digest key produces the text of a held one, or of a test's: those begin with an equals sign.
  const value = digestValue === undefined ? '' : `=${digestValue}`
  const keyHash = createHash('sha256')
    .update(apart === undefined ? (held === undefined ? value : `held ${held.key}`) : `test ${apart}`)
    .digest()
  return { stepId: decision.join.stepId, subscriberId: decision.job.subscriberId, keyHash }
}

export function identityOfRow(row: { step_id: string; subscriber_id: string; key_hash: Buffer }): DigestIdentity {
  return { stepId: row.step_id, subscriberId: row.subscriber_id, keyHash: row.key_hash }
}

export const identityKey = (identity: DigestIdentity): string =>
  `${identity.stepId}/${identity.subscriberId}/${identity.keyHash.toString('base64')}`
