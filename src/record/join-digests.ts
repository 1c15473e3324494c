// Digests are read, modified and written at once: who opens a window, who joins one, who passes.
import { createHash } from 'node:crypto'
import type { Tx } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { detail } from '../domain/execution-detail.ts'
import type { JobState } from '../domain/job.ts'
import type { DigestIdentity, JoinedWindow } from '../store/digests.ts'
import { gatherEvents, joinWindows, noteBackoffs } from '../store/digests.ts'
import { findEventOrder } from '../store/events.ts'
import type { World } from '../world/world.ts'
import type { DigestWish, Settlement } from './settlement.ts'
import { settles } from './settlement.ts'

/** Turns wishes into settlements. The jobs are held: nobody else settles them meanwhile. */
export async function joinDigests(
  tx: Tx,
  world: World,
  environment: Environment,
  wishes: readonly DigestWish[],
): Promise<Settlement[]> {
  if (wishes.length === 0) return []
  const now = world.now()
  // In the order the events were accepted: the first of a window speaks for the others.
  const order = await findEventOrder(tx, environment, [...new Set(wishes.map((wish) => wish.job.eventId))])
  const seqOf = ({ job }: DigestWish): number => order.get(job.eventId) ?? 0
  const ordered = [...wishes].sort((a, b) => seqOf(a) - seqOf(b))
  const passing = await firstAfterSilence(tx, environment, ordered, now)
  const joining = groupByIdentity(ordered.filter((wish) => !passing.has(wish)))
  const windows = await joinWindows(
    tx,
    environment,
    [...joining.values()].map(({ identity, wishes: [first, ...others] }) => ({
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
  for (const [key, { wishes: group }] of joining) {
    const window = byIdentity.get(key)
    if (window === undefined) throw new Error('A digest window was neither opened nor joined')
    for (const [index, wish] of group.entries()) {
      settlements.push(window.opened && index === 0 ? opens(wish, window) : joins(wish, window))
      gathered.push({
        windowId: window.id,
        eventId: wish.job.eventId,
        seq: seqOf(wish),
        carriedWindowId: wish.job.digestId,
      })
    }
  }
  await gatherEvents(tx, environment, gathered)
  return settlements
}

export function opens(wish: DigestWish, window: JoinedWindow): Settlement {
  const until = window.due_at.toISOString()
  const { held } = wish.join
  const delay = Math.max(0, window.due_at.getTime() - wish.now.getTime())
  return settles(wish.job, 'delayed', {
    due: window.due_at,
    state: { windowId: window.id, until, ...stateOf(wish) },
    details: [
      ...wish.join.details,
      held === undefined
        ? detail(wish.now, 'digested', { raw: { delay, untilDate: until } })
        : detail(wish.now, 'held', { raw: { by: held.by, delay, untilDate: until } }),
    ],
  })
}

export function joins(wish: DigestWish, window: JoinedWindow): Settlement {
  const { held } = wish.join
  const details = [
    held === undefined ? detail(wish.now, 'digestMerged') : detail(wish.now, 'heldMerged', { raw: { by: held.by } }),
  ]
  return settles(wish.job, 'merged', {
    state: { windowId: window.id, digestedNotificationId: window.notification_id, ...stateOf(wish) },
    details: [...wish.join.details, ...details],
    rest: wish.laterSteps.length === 0 ? null : { steps: wish.laterSteps, status: 'merged', details },
  })
}

export function passes(wish: DigestWish): Settlement {
  return settles(wish.job, 'skipped', {
    state: { backoffFirst: true, ...stateOf(wish) },
    details: [...wish.join.details, detail(wish.now, 'digestSkipped')],
    next: wish.nextStep === null ? null : { step: wish.nextStep, digestId: wish.job.digestId },
  })
}

const stateOf = ({ join: { digestValue, held } }: DigestWish): JobState => ({
  ...(digestValue === undefined ? {} : { digestValue }),
  ...(held === undefined ? {} : { heldBy: held.by }),
})

/** Of each back-off identity that was silent for long enough: its first event, which goes on at once. */
async function firstAfterSilence(
  tx: Tx,
  environment: Environment,
  ordered: readonly DigestWish[],
  now: Date,
): Promise<Set<DigestWish>> {
  const groups = groupByIdentity(ordered.filter((wish) => wish.join.backoffMs !== undefined))
  const noted = await noteBackoffs(
    tx,
    environment,
    [...groups.values()].map((group) => group.identity),
    now,
  )
  const first = new Set<DigestWish>()
  for (const row of noted) {
    const wish = groups.get(identityKey(identityOfRow(row)))?.wishes[0]
    if (wish === undefined) continue
    if (endsSilence(wish, row.previous_at, now)) first.add(wish)
  }
  return first
}

/** `previousAt`: when its identity last heard of something; null for never. */
export function endsSilence({ join }: DigestWish, previousAt: Date | null, now: Date): boolean {
  return previousAt === null || previousAt.getTime() < now.getTime() - (join.backoffMs ?? 0)
}

interface IdentityGroup {
  readonly identity: DigestIdentity
  readonly wishes: [DigestWish, ...DigestWish[]]
}

function groupByIdentity(wishes: readonly DigestWish[]): Map<string, IdentityGroup> {
  const groups = new Map<string, IdentityGroup>()
  for (const wish of wishes) {
    const identity = identityOf(wish)
    const key = identityKey(identity)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { identity, wishes: [wish] })
    else group.wishes.push(wish)
  }
  return groups
}

export function identityOf(wish: DigestWish): DigestIdentity {
  const { digestValue, held, apart } = wish.join
  // No value of a digest key makes the text of a held one, or of a test's: those begin with an equals sign.
  const value = digestValue === undefined ? '' : `=${digestValue}`
  const keyHash = createHash('sha256')
    .update(apart === undefined ? (held === undefined ? value : `held ${held.key}`) : `test ${apart}`)
    .digest()
  return { stepId: wish.join.stepId, subscriberId: wish.job.subscriberId, keyHash }
}

export function identityOfRow(row: { step_id: string; subscriber_id: string; key_hash: Buffer }): DigestIdentity {
  return { stepId: row.step_id, subscriberId: row.subscriber_id, keyHash: row.key_hash }
}

export const identityKey = (identity: DigestIdentity): string =>
  `${identity.stepId}/${identity.subscriberId}/${identity.keyHash.toString('base64')}`
