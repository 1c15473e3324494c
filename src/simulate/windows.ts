// Digests and throttles of simulated runs: the open windows are read, and not joined.
import type { Clock } from '../db/clock.ts'
import type { Sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { endsSilence, identityKey, identityOf, identityOfRow, joins, opens, passes } from '../record/join-digests.ts'
import type { DeferredDecision, DeferredDigest, DeferredThrottle, Settlement } from '../record/settlement.ts'
import { throttleIdentityOf, throttleIdentityOfRow, throttleKey, throttleSettlement } from '../record/take-throttles.ts'
import type { JoinedWindow } from '../store/events/digests.ts'
import type { LastHeard, OpenThrottle, OpenWindow } from '../store/events/open-windows.ts'
import { findLastHeard, findOpenThrottles, findOpenWindows } from '../store/events/open-windows.ts'
import type { Run, WindowSeen } from './run.ts'
import { stepRunOf } from './run.ts'

export interface DeferredRun<Kind extends DeferredDecision = DeferredDecision> {
  readonly run: Run
  readonly decision: Kind
}

export interface Settled {
  readonly run: Run
  readonly settlement: Settlement
}

export interface WindowParts {
  /** False for an unsaved workflow: there can be no window for its steps. */
  readonly isSaved: boolean
  /** The actual time: whatever is open then is open, however late its end. */
  readonly trueNow: Date
  readonly clock: Clock
  newId(at: Date): string
}

/** At most three statements, however many decisions. */
export async function settleDeferred(
  db: Sql,
  environment: Environment,
  deferredRuns: readonly DeferredRun[],
  parts: WindowParts,
): Promise<Settled[]> {
  const joining = deferredRuns.filter((one): one is DeferredRun<DeferredDigest> => 'join' in one.decision)
  const taking = deferredRuns.filter((one): one is DeferredRun<DeferredThrottle> => 'take' in one.decision)
  const backing = joining.filter(({ decision }) => decision.join.backoffMs !== undefined)
  const of = (some: readonly DeferredRun<DeferredDigest>[]) => some.map(({ decision }) => identityOf(decision))
  const asksThrottles = taking.map(({ decision }) => throttleIdentityOf(decision))
  const time = { clock: parts.clock, now: parts.trueNow }
  const [heard, open, throttles] = parts.isSaved
    ? await Promise.all([
        findLastHeard(db, environment, of(backing), time),
        findOpenWindows(db, environment, of(joining), time),
        findOpenThrottles(db, environment, asksThrottles, time),
      ])
    : [[], [], []]
  const digests = { heard: byDigest(heard), windows: byDigest(open), parts }
  const asked = byThrottle(throttles)
  return [...joining.map((one) => joined(one, digests)), ...taking.map((one) => taken(one, asked))]
}

interface OpenDigests {
  readonly heard: ReadonlyMap<string, LastHeard>
  readonly windows: ReadonlyMap<string, OpenWindow>
  readonly parts: WindowParts
}

function joined({ run, decision }: DeferredRun<DeferredDigest>, { heard, windows, parts }: OpenDigests): Settled {
  const identity = identityOf(decision)
  const key = identityKey(identity)
  if (decision.join.backoffMs !== undefined && endsSilence(decision, heard.get(key)?.last_at ?? null, decision.now)) {
    return { run, settlement: passes(decision) }
  }
  const step = stepRunOf(run, decision.job.step)
  const open = windows.get(key)
  if (open !== undefined && (open.open_until > decision.now || decision.now <= parts.trueNow)) {
    step.window = seenOf(open)
    return { run, settlement: joins(decision, open) }
  }
  const window: JoinedWindow = {
    id: parts.newId(decision.now),
    step_id: identity.stepId,
    subscriber_id: identity.subscriberId,
    key_hash: identity.keyHash,
    notification_id: run.notificationId,
    due_at: decision.join.dueAt,
    opened: true,
  }
  // The events of a digest before this one come along.
  const carried = run.gathered.get(decision.job.digestId ?? '')
  const payloads = carried?.payloads ?? [{ ...(decision.job.event?.payload ?? {}) }]
  const total = carried?.total ?? 1
  run.gathered.set(window.id, { window_id: window.id, step_id: identity.stepId, total, payloads })
  step.window = { opened: true, until: window.due_at, events: total, transactionIds: [] }
  return { run, settlement: opens(decision, window) }
}

const seenOf = (row: OpenWindow): WindowSeen => ({
  opened: false,
  until: row.open_until,
  events: row.event_count + 1,
  openedAt: row.opened_at,
  notificationId: row.notification_id,
  transactionIds: row.transaction_ids,
})

function taken(
  { run, decision }: DeferredRun<DeferredThrottle>,
  throttles: ReadonlyMap<string, OpenThrottle>,
): Settled {
  const row = throttles.get(throttleKey(throttleIdentityOf(decision)))
  const open = row !== undefined && row.until_at > decision.now ? row : undefined
  const until = open?.until_at ?? decision.take.until
  const settlement = throttleSettlement(decision, open?.asked ?? 0, until)
  const { threshold } = decision.take
  stepRunOf(run, decision.job.step).throttle = { count: settlement.state?.throttleCount ?? 0, threshold, until }
  return { run, settlement }
}

const byDigest = <Row extends Parameters<typeof identityOfRow>[0]>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [identityKey(identityOfRow(row)), row]))

const byThrottle = (rows: readonly OpenThrottle[]): Map<string, OpenThrottle> =>
  new Map(rows.map((row) => [throttleKey(throttleIdentityOfRow(row)), row]))
