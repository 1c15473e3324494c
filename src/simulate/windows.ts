// Digests and throttles of simulated runs: the open windows are read, and not joined.
import type { Sql } from '../db/sql.ts'
import { sql } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { endsSilence, identityKey, identityOf, identityOfRow, joins, opens, passes } from '../record/join-digests.ts'
import type { DeferredDecision, DeferredDigest, DeferredThrottle, Settlement } from '../record/settlement.ts'
import { throttleIdentityOf, throttleIdentityOfRow, throttleKey, throttleSettlement } from '../record/take-throttles.ts'
import type { DigestIdentity, JoinedWindow } from '../store/events/digests.ts'
import type { ThrottleIdentity } from '../store/events/throttle-windows.ts'
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
  newId(at: Date): string
}

/** At most three statements, however many decision. */
export async function settleDeferred(
  db: Sql,
  environment: Environment,
  deferredRuns: readonly DeferredRun[],
  parts: WindowParts,
): Promise<Settled[]> {
  const joining = deferredRuns.filter((one): one is DeferredRun<DeferredDigest> => 'join' in one.decision)
  const taking = deferredRuns.filter((one): one is DeferredRun<DeferredThrottle> => 'take' in one.decision)
  const backing = joining.filter(({ decision }) => decision.join.backoffMs !== undefined)
  const [heard, windows, throttles] = parts.isSaved
    ? await Promise.all([
        lastHeard(
          db,
          environment,
          backing.map(({ decision }) => identityOf(decision)),
        ),
        openWindows(
          db,
          environment,
          joining.map(({ decision }) => identityOf(decision)),
        ),
        openThrottles(
          db,
          environment,
          taking.map(({ decision }) => throttleIdentityOf(decision)),
        ),
      ])
    : [new Map<string, Date>(), new Map<string, WindowRow>(), new Map<string, ThrottleRow>()]
  return [
    ...joining.map((one) => joined(one, { heard, windows, parts })),
    ...taking.map((one) => taken(one, throttles)),
  ]
}

interface OpenDigests {
  readonly heard: ReadonlyMap<string, Date>
  readonly windows: ReadonlyMap<string, WindowRow>
  readonly parts: WindowParts
}

function joined({ run, decision }: DeferredRun<DeferredDigest>, { heard, windows, parts }: OpenDigests): Settled {
  const identity = identityOf(decision)
  const key = identityKey(identity)
  if (decision.join.backoffMs !== undefined && endsSilence(decision, heard.get(key) ?? null, decision.now)) {
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

const seenOf = (row: WindowRow): WindowSeen => ({
  opened: false,
  until: row.open_until,
  events: row.event_count + 1,
  openedAt: row.opened_at,
  notificationId: row.notification_id,
  transactionIds: row.transaction_ids,
})

function taken({ run, decision }: DeferredRun<DeferredThrottle>, throttles: ReadonlyMap<string, ThrottleRow>): Settled {
  const row = throttles.get(throttleKey(throttleIdentityOf(decision)))
  const open = row !== undefined && row.until_at > decision.now ? row : undefined
  const until = open?.until_at ?? decision.take.until
  const settlement = throttleSettlement(decision, open?.asked ?? 0, until)
  const { threshold } = decision.take
  stepRunOf(run, decision.job.step).throttle = { count: settlement.state?.throttleCount ?? 0, threshold, until }
  return { run, settlement }
}

interface WindowRow extends Omit<JoinedWindow, 'opened'> {
  readonly opened: false
  readonly event_count: number
  readonly opened_at: Date
  /** Later than its due_at where the subscriber's hours put its end off. */
  readonly open_until: Date
  readonly transaction_ids: string[]
}

/** This many events of an open window are shown by their transaction ids. */
const eventsShownMax = 10

async function openWindows(
  db: Sql,
  environment: Environment,
  identities: readonly DigestIdentity[],
): Promise<Map<string, WindowRow>> {
  if (identities.length === 0) return new Map()
  const rows = await db.rows<WindowRow>(sql`
    select w.id, w.step_id, w.subscriber_id, w.key_hash, w.notification_id, w.due_at, false as opened, w.event_count,
      w.opened_at,
      greatest(w.due_at, (select j.due_at from jobs j
        where j.environment_id = ${environment.id} and j.id = w.job_id limit 1)) as open_until,
      array(select e.transaction_id from digest_events d
        cross join lateral (select found.transaction_id from events found
          where found.environment_id = ${environment.id} and found.id = d.event_id limit 1) e
        where d.environment_id = ${environment.id} and d.window_id = w.id
        order by d.seq limit ${eventsShownMax}) as transaction_ids
    from ${askedFor(identities)}
    cross join lateral (select * from digest_windows found
      where found.environment_id = ${environment.id} and found.step_id = asked.step_id
        and found.subscriber_id = asked.subscriber_id and found.key_hash = asked.key_hash and found.closed_at is null
      limit 1) w`)
  return new Map(rows.map((row) => [identityKey(identityOfRow(row)), row]))
}

async function lastHeard(
  db: Sql,
  environment: Environment,
  identities: readonly DigestIdentity[],
): Promise<Map<string, Date>> {
  if (identities.length === 0) return new Map()
  const rows = await db.rows<{ step_id: string; subscriber_id: string; key_hash: Buffer; last_at: Date }>(sql`
    select b.step_id, b.subscriber_id, b.key_hash, b.last_at
    from ${askedFor(identities)}
    cross join lateral (select * from digest_backoffs found
      where found.environment_id = ${environment.id} and found.step_id = asked.step_id
        and found.subscriber_id = asked.subscriber_id and found.key_hash = asked.key_hash limit 1) b`)
  return new Map(rows.map((row) => [identityKey(identityOfRow(row)), row.last_at]))
}

interface ThrottleRow {
  readonly step_id: string
  readonly subscriber_id: string
  readonly key_hash: Buffer
  readonly asked: number
  readonly until_at: Date
}

async function openThrottles(
  db: Sql,
  environment: Environment,
  identities: readonly ThrottleIdentity[],
): Promise<Map<string, ThrottleRow>> {
  if (identities.length === 0) return new Map()
  const rows = await db.rows<ThrottleRow>(sql`
    select t.step_id, t.subscriber_id, t.key_hash, t.asked, t.until_at
    from ${askedFor(identities)}
    cross join lateral (select * from throttle_windows found
      where found.environment_id = ${environment.id} and found.step_id = asked.step_id
        and found.subscriber_id = asked.subscriber_id and found.key_hash = asked.key_hash limit 1) t`)
  return new Map(rows.map((row) => [throttleKey(throttleIdentityOfRow(row)), row]))
}

const askedFor = (identities: readonly DigestIdentity[]) => sql`
  unnest(${identities.map((one) => one.stepId)}::uuid[], ${identities.map((one) => one.subscriberId)}::uuid[],
         ${identities.map((one) => one.keyHash)}::bytea[]) as asked (step_id, subscriber_id, key_hash)`
