// What a held environment would do at once if it were released: counted by workflow and step, with examples.
import type { Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { findDueEvents, findHold, isDueNow } from '../../store/operate/sending-holds.ts'

export interface DueSteps {
  readonly workflow: string
  readonly step: string
  readonly type: string
  readonly count: number
  readonly oldestDueAt: string
}

export interface DueExample {
  readonly transactionId: string
  readonly workflow: string
  readonly subscriberId: string
  readonly acceptedAt: string
}

/** `due`, `fanOuts` and `examples` are of events that were accepted before the restore. */
export interface SendingHoldView {
  readonly held: boolean
  readonly heldAt: string | null
  readonly backupAt: string | null
  readonly movedAt: string | null
  readonly due: readonly DueSteps[]
  /** Events whose recipients are still being found. */
  readonly fanOuts: number
  readonly examples: readonly DueExample[]
  /** Other work: webhooks to your services, replies, notifications that return from a snooze. */
  readonly otherTasks: number
  /** Entries of the audit log that its streams are still to be sent, once for each stream. */
  readonly auditEntries: number
  /** Steps of events that were accepted since the restore. */
  readonly acceptedSince: number
  /** Steps whose time has not come, such as delays and digests. */
  readonly later: number
  /** Of these, those of events that have something due: cancelling cancels whole events. */
  readonly laterOfDue: number
}

const groupsMax = 200
const examplesMax = 20
const notHeld: SendingHoldView = {
  held: false,
  heldAt: null,
  backupAt: null,
  movedAt: null,
  due: [],
  fanOuts: 0,
  examples: [],
  otherTasks: 0,
  auditEntries: 0,
  acceptedSince: 0,
  later: 0,
  laterOfDue: 0,
}

export async function findSendingHold(db: Sql, environment: Environment): Promise<SendingHoldView> {
  const hold = await findHold(db, environment)
  if (hold === undefined) return notHeld
  const { heldAt, backupAt, movedAt } = hold
  const counts = await db.row<
    Pick<SendingHoldView, 'acceptedSince' | 'later' | 'fanOuts' | 'otherTasks' | 'auditEntries'>
  >(sql`
    select
      (select count(*) from jobs j where j.environment_id = ${environment.id} and ${isDueNow(sql`j`)}
         and j.created_at >= ${heldAt}) as "acceptedSince",
      (select count(*) from jobs j where j.environment_id = ${environment.id} and j.due_at > now() and j.lease is null) as later,
      (select count(*) from tasks t where t.environment_id = ${environment.id} and ${isDueNow(sql`t`)} and t.kind = 'expand'
         and t.created_at < ${heldAt}) as "fanOuts",
      (select count(*) from tasks t where t.environment_id = ${environment.id} and ${isDueNow(sql`t`)}
         and t.kind not in ('expand', 'cancel')) as "otherTasks",
      (select count(*) from audit_streams s join audit_log a on a.environment_id = s.environment_id and a.seq > s.position
         where s.environment_id = ${environment.id}) as "auditEntries"`)
  return {
    ...notHeld,
    ...counts,
    held: true,
    heldAt: heldAt.toISOString(),
    backupAt: backupAt?.toISOString() ?? null,
    movedAt: movedAt?.toISOString() ?? null,
    due: await listDueSteps(db, environment, heldAt),
    examples: await listExamples(db, environment, heldAt),
    laterOfDue: await countLaterOf(db, environment, await findDueEvents(db, environment, heldAt)),
  }
}

async function countLaterOf(db: Sql, environment: Environment, eventIds: readonly string[]): Promise<number> {
  if (eventIds.length === 0) return 0
  const row = await db.row<{ count: number }>(sql`
    select count(*) as count from jobs j
    where j.environment_id = ${environment.id} and j.due_at > now() and j.lease is null
      and j.event_id = any(${eventIds}::uuid[])`)
  return row?.count ?? 0
}

async function listDueSteps(db: Sql, environment: Environment, heldAt: Date): Promise<DueSteps[]> {
  const rows = await db.rows<Omit<DueSteps, 'oldestDueAt'> & { oldestDueAt: Date }>(sql`
    with due as materialized (
      select j.version_id, j.step, count(*) as count, min(j.due_at) as oldest from jobs j
      where j.environment_id = ${environment.id} and ${isDueNow(sql`j`)} and j.created_at < ${heldAt}
      group by j.version_id, j.step order by count(*) desc limit ${groupsMax})
    select coalesce(w.identifier, 'deleted') as workflow,
      coalesce(v.definition->'steps'->(d.step::int)->>'name', 'step ' || (d.step + 1)) as step,
      coalesce(v.definition->'steps'->(d.step::int)->'template'->>'type', 'unknown') as type,
      d.count, d.oldest as "oldestDueAt"
    from due d
    left join workflow_versions v on v.environment_id = ${environment.id} and v.id = d.version_id
    left join workflows w on w.environment_id = ${environment.id} and w.id = v.workflow_id
    order by d.count desc, 1, 2`)
  return rows.map((row) => ({ ...row, oldestDueAt: row.oldestDueAt.toISOString() }))
}

async function listExamples(db: Sql, environment: Environment, heldAt: Date): Promise<DueExample[]> {
  const rows = await db.rows<Omit<DueExample, 'acceptedAt'> & { acceptedAt: Date }>(sql`
    with due as materialized (
      select j.event_id, j.subscriber_id, j.due_at from jobs j
      where j.environment_id = ${environment.id} and ${isDueNow(sql`j`)} and j.created_at < ${heldAt}
      order by j.due_at limit ${examplesMax})
    select e.transaction_id as "transactionId", coalesce(w.identifier, 'deleted') as workflow,
      coalesce(s.subscriber_id, 'deleted') as "subscriberId", e.created_at as "acceptedAt"
    from due d
    join events e on e.environment_id = ${environment.id} and e.id = d.event_id
    left join workflows w on w.environment_id = ${environment.id} and w.id = e.workflow_id
    left join subscribers s on s.environment_id = ${environment.id} and s.id = d.subscriber_id
    order by d.due_at`)
  return rows.map((row) => ({ ...row, acceptedAt: row.acceptedAt.toISOString() }))
}
