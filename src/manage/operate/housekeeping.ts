// Background work: sweeps expired idempotency responses and the subscriptions of deleted topics, creates partitions
// ahead.
import type { Db } from '../../db/sql.ts'
import type { RetentionDays } from '../../domain/operate/retention.ts'
import { sweepPresence } from '../../record/record-presence.ts'
import type { SweptFiles } from '../../store/events/attachments.ts'
import { sweepAttachments } from '../../store/events/attachments.ts'
import { sweepThrottleWindows } from '../../store/events/throttle-windows.ts'
import { sweepSignedTexts } from '../../store/integrations/inbound-tokens.ts'
import { sweepOutbox } from '../../store/messages/outbox.ts'
import { sweepDashboard } from '../../store/operate/dashboard-sessions.ts'
import { sweepStoredAnswers } from '../../store/operate/idempotency.ts'
import { sweepUserSessions } from '../../store/operate/user-sessions.ts'
import { sweepDeletedTopics } from '../../store/people/topic-subscriptions.ts'
import { sweepDeliveries } from '../../store/webhooks/webhook-deliveries.ts'
import { sweepDeletedEndpoints } from '../../store/webhooks/webhook-endpoints.ts'
import type { World } from '../../world/world.ts'
import { startFolding, sweepOldCounts } from './fold-counts.ts'
import { preparePartitions } from './partitions.ts'
import { applyRetention } from './retention.ts'
import { listOldMonths } from './retention-plan.ts'

const sweepEveryMs = 60_000
/** Partitions are made two months ahead: twice a day is often enough. */
const partitionsEveryMs = 12 * 60 * 60_000
/** Some could not be made, since their tables were in use. */
const partitionsAgainMs = 10 * 60_000
const sweepBatch = 5_000

/** Sweeps until a batch comes back short; returns how many rows were deleted. */
export async function sweep(db: Db, world: World, signal?: AbortSignal): Promise<number> {
  let total = 0
  for (const sweepOnce of [
    sweepStoredAnswers,
    sweepSignedTexts,
    sweepDeletedTopics,
    sweepThrottleWindows,
    sweepOutbox,
    sweepDashboard,
    sweepUserSessions,
    sweepDeliveries,
    sweepDeletedEndpoints,
  ]) {
    let count = sweepBatch
    while (count >= sweepBatch && signal?.aborted !== true) {
      count = await db.transaction((tx) => sweepOnce(tx, world.now(), sweepBatch))
      total += count
    }
  }
  total += await sweepPresence(db, world.now(), signal)
  return total + (await sweepOldAttachments(db, world, signal)) + (await sweepOldCounts(db, world, signal))
}

/** A run that ended an hour ago will not need its files again; if something failed they help to recover. */
async function sweepOldAttachments(db: Db, world: World, signal?: AbortSignal): Promise<number> {
  const now = world.now().getTime()
  const ages = { overBefore: new Date(now - hourMs), failedBefore: new Date(now - 7 * 24 * hourMs) }
  let total = 0
  let after: Date | null = null
  do {
    const from: Date | null = after
    const swept: SweptFiles = await db.transaction((tx) =>
      sweepAttachments(tx, { ...ages, after: from }, attachmentsPerSweep),
    )
    total += swept.deleted
    after = swept.lastAt
  } while (after !== null && signal?.aborted !== true)
  return total
}

const hourMs = 60 * 60_000
/** Each looks at the jobs of its event. */
const attachmentsPerSweep = 500

/** Often enough for something measured in days; it costs one catalogue lookup while nothing has expired. */
const retentionEveryMs = 60 * 60_000

/** Logged at startup, long before anything is dropped: an operator who did not know the setting can still change it. */
export async function announceRetention(db: Db, world: World, days: RetentionDays): Promise<void> {
  try {
    const months = await listOldMonths(db, world, days)
    if (months.length === 0) return
    const words =
      'Some months are older than POSTHORN_RETENTION_DAYS: those that are no longer needed are dropped in an hour'
    world.log.warn({ retentionDays: days, months }, `${words}. To keep them, restart with another number, or with off`)
  } catch (error) {
    world.log.warn({ error: (error as Error).message }, 'Could not look for old months; will retry later')
  }
}

/** What could not be dropped now is dropped next time. */
export async function retain(db: Db, world: World, days: RetentionDays, signal?: AbortSignal): Promise<void> {
  const progress = (line: string): void => world.log.info({ retentionDays: days }, line)
  await applyRetention(db, world, days, { progress, ...(signal === undefined ? {} : { signal }) }).catch(
    (error: Error) => world.log.warn({ error: error.message }, 'Could not drop old data; will retry later'),
  )
}

/** Every node sweeps; rows another node holds are skipped. */
export function startHousekeeping(
  db: Db,
  world: World,
  { retentionDays, announces = true }: { retentionDays: RetentionDays; announces?: boolean },
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const folding = startFolding(db, world)
  // Startup made one attempt: whatever it could not create is created soon.
  let partitionsAt = world.now().getTime() + partitionsAgainMs
  let retentionAt = world.now().getTime() + retentionEveryMs
  const loop = (async () => {
    if (announces) await announceRetention(db, world, retentionDays)
    while (!stopping.signal.aborted) {
      await world.sleep(sweepEveryMs, stopping.signal)
      if (stopping.signal.aborted) return
      if (world.now().getTime() >= partitionsAt) {
        const { busy } = await preparePartitions(db, world, { signal: stopping.signal })
        partitionsAt = world.now().getTime() + (busy > 0 ? partitionsAgainMs : partitionsEveryMs)
      }
      if (world.now().getTime() >= retentionAt) {
        retentionAt = world.now().getTime() + retentionEveryMs
        await retain(db, world, retentionDays, stopping.signal)
      }
      await sweep(db, world, stopping.signal).catch((error: Error) => {
        world.log.warn({ error: error.message }, 'Housekeeping failed; will retry in a minute')
      })
    }
  })()
  return {
    stop: async () => {
      stopping.abort()
      await folding.stop()
      await loop
    },
  }
}
