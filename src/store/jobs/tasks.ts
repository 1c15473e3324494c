// The tasks table: work that is no step, under the same claims as jobs.
import type { Clock } from '../../db/clock.ts'
import { dueAfter, dueAt, dueNow } from '../../db/due.ts'
import type { Part } from '../../db/one-statement.ts'
import type { Sql, Statement, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

/**
 * `receipt`: reports that came before their messages were settled; `poll`: providers that must be asked for the
 * result of messages; `reply`: a reply to an e-mail, on its way to a callback; `redrive`, `retract`: many
 * notifications are redriven or retracted; `news`: events become deliveries of webhooks; `webhook`: the deliveries of
 * one endpoint.
 */
const taskKinds = [
  'expand',
  'unsnooze',
  'cancel',
  'receipt',
  'poll',
  'reply',
  'redrive',
  'retract',
  'erase',
  'news',
  'webhook',
] as const

export interface NewTask {
  /** The same work has the same id: it is then one task, due at the newer time. */
  readonly id: string
  readonly kind: (typeof taskKinds)[number]
  readonly lane: number
  readonly dueAt: Date
  readonly state: Readonly<Record<string, unknown>>
}

/**
 * Inserts tasks, or resets existing ones: a claim that was on its way has lost them. With `clock` they are due at times
 * of this node's clock, for which they wait as long by the queue's; without it at once, or at a time that a caller gave.
 */
export async function insertTasks(
  tx: Tx,
  environment: Environment,
  tasks: readonly NewTask[],
  now: Date,
  clock?: Clock,
): Promise<void> {
  if (tasks.length === 0) return
  await tx.run(sql`
    ${insertion(environment, tasks, now, { clock })}
    on conflict (environment_id, id) do update
      set kind = excluded.kind, lane = excluded.lane, due_at = excluded.due_at, state = excluded.state, lease = null,
          ${cleared}, error = null, buried_at = null`)
}

/** Earlier faults of a task no longer count once it makes progress. */
const cleared = sql`claims = 0, interruptions = 0, faults = 0, faulted_since = null`

/** What is due now is due whatever the node's clock says. */
function insertion(
  environment: Environment,
  tasks: readonly NewTask[],
  now: Date,
  { clock, condition = sql`` }: { clock?: Clock | undefined; condition?: Statement | undefined } = {},
): Statement {
  const column = <Value>(read: (task: NewTask) => Value): Value[] => tasks.map(read)
  const due =
    clock === undefined
      ? sql`case when t.due_at <= ${now}::timestamptz then ${dueNow(now)} else t.due_at end`
      : dueAt(clock, sql`t.due_at`, now)
  return sql`
    insert into tasks (environment_id, id, kind, lane, due_at, state, created_at)
    select ${environment.id}, t.id, t.kind, t.lane, ${due}, t.state::jsonb, ${now}::timestamptz
    from unnest(${column((task) => task.id)}::uuid[], ${column((task) => task.kind)}::text[],
      ${column((task) => task.lane)}::smallint[], ${column((task) => task.dueAt)}::timestamptz[],
      ${column((task) => json(task.state))}::text[]) as t (id, kind, lane, due_at, state)
    ${condition} order by t.id`
}

/** Inserts those that do not exist yet; the others keep their time. */
export async function ensureTasks(
  tx: Sql,
  environment: Environment,
  tasks: readonly NewTask[],
  now: Date,
): Promise<void> {
  if (tasks.length > 0) await tx.run(taskInsertion(environment, tasks, now).statement)
}

/** The same as a part of a larger statement; with a condition, `where` included, perhaps not at all. */
export function taskInsertion(
  environment: Environment,
  tasks: readonly NewTask[],
  now: Date,
  condition?: { name: string; where: Statement },
): Part {
  const statement = insertion(environment, tasks, now, { condition: condition?.where })
  return {
    as: sql`new_tasks`,
    name: condition === undefined ? 'tasks-ensure' : `tasks-ensure-${condition.name}`,
    statement: sql`${statement} on conflict (environment_id, id) do nothing`,
  }
}

/**
 * There is something for them to do: those that do not exist are inserted, those that wait are due at once, or when their pause
 * (`pausedUntil` in their state) ends. One that runs looks again before it ends.
 */
export async function wakeTasks(tx: Tx, environment: Environment, tasks: readonly NewTask[], now: Date): Promise<void> {
  if (tasks.length === 0) return
  await tx.run(sql`
    ${insertion(environment, tasks, now)}
    on conflict (environment_id, id) do update
      set due_at = case when tasks.lease is not null then tasks.due_at
                        else least(tasks.due_at, greatest(excluded.due_at, (tasks.state->>'pausedUntil')::timestamptz)) end,
          buried_at = null`)
}

/** How many of them there were. */
export async function deleteTasks(tx: Tx, environment: Environment, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  return tx.run(sql`delete from tasks where environment_id = ${environment.id} and id = any(${ids}::uuid[])`)
}

/** A task in hand. */
export interface Task {
  readonly environmentId: string
  readonly id: string
  readonly kind: NewTask['kind']
  readonly lane: number
  readonly lease: string
  readonly interruptions: number
  readonly faults: number
  readonly faultedSince: Date | null
  readonly state: Readonly<Record<string, unknown>>
}

/** The tasks table as a queue, under the names of `Task`. A mail may hold megabytes: it is read when it is its turn. */
export const taskQueue = {
  name: 'tasks',
  table: sql`tasks`,
  columns: sql`q.environment_id as "environmentId", q.id, q.kind, (q.lane & 1) as lane, q.lease, q.interruptions, q.faults,
    q.faulted_since as "faultedSince", q.state - 'mail' as state`,
  // A newer node may have inserted others during an upgrade: they wait for a node that can run them.
  isKnown: (row: Statement): Statement => sql`and ${row}.kind = any(${taskKinds}::text[])`,
} as const

/** How much memory the mail of a task takes. */
export async function taskMailBytes(db: Sql, environment: Environment, id: string): Promise<number> {
  const row = await db.row<{ bytes: number }>(sql`
    select octet_length((state->'mail')::text) as bytes from tasks
    where environment_id = ${environment.id} and id = ${id} and state ? 'mail'`)
  return row?.bytes ?? 0
}

export async function findTaskMail(
  db: Sql,
  environment: Environment,
  id: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const row = await db.row<{ mail: Readonly<Record<string, unknown>> }>(sql`
    select state->'mail' as mail from tasks
    where environment_id = ${environment.id} and id = ${id} and state ? 'mail'`)
  return row?.mail
}

/** Notes how far a task has come and lets its lease count from now; false when it is no longer ours. */
export async function advanceTask(
  tx: Tx,
  environment: Environment,
  task: { id: string; lease: string; state: Readonly<Record<string, unknown>> },
  time: { clock: Clock; leaseMs: number },
): Promise<boolean> {
  const count = await tx.run(sql`
    update tasks set state = ${json(task.state)}::jsonb, ${cleared}, lane = lane & 1::smallint,
      due_at = ${dueAfter(time.clock, time.leaseMs)}
    where environment_id = ${environment.id} and id = ${task.id} and lease = ${task.lease}`)
  return count > 0
}

/** Deletes those that are still ours, and returns their ids. */
export async function finishTasks(
  tx: Tx,
  environment: Environment,
  tasks: readonly { id: string; lease: string }[],
): Promise<Set<string>> {
  if (tasks.length === 0) return new Set()
  const rows = await tx.rows<{ id: string }>(sql`
    delete from tasks t
    using unnest(${tasks.map((task) => task.id)}::uuid[], ${tasks.map((task) => task.lease)}::uuid[]) as f (id, lease)
    where t.environment_id = ${environment.id} and t.id = any(${tasks.map((task) => task.id)}::uuid[]) and t.id = f.id
      and t.lease = f.lease
    returning t.id`)
  return new Set(rows.map((row) => row.id))
}

/**
 * Free again after the wait, with these members of its state; one that is no longer ours is left. If it `isPaused`, nothing
 * wakes it before.
 */
export async function repeatTask(
  tx: Tx,
  environment: Environment,
  task: {
    id: string
    lease: string
    waitMs: number
    state: Readonly<Record<string, unknown>>
    isPaused?: true
  },
  clock: Clock,
): Promise<void> {
  const due = dueAfter(clock, task.waitMs)
  const pause = task.isPaused === true ? sql` || jsonb_build_object('pausedUntil', ${due})` : sql``
  await tx.run(sql`
    update tasks
    set lease = null, due_at = ${due}, state = state || ${json(task.state)}::jsonb${pause},
      ${cleared}, lane = lane & 1::smallint, error = null
    where environment_id = ${environment.id} and id = ${task.id} and lease = ${task.lease}`)
}

type HeldTask = Pick<Task, 'id' | 'lease'>

/** Left in the middle: free again at once, at its current position. */
export async function leaveTask(
  db: Sql,
  environment: Environment,
  { id, lease }: HeldTask,
  clock: Clock,
): Promise<void> {
  await db.run(sql`
    update tasks set lease = null, due_at = ${clock()}, ${cleared}, lane = lane & 1::smallint
    where environment_id = ${environment.id} and id = ${id} and lease = ${lease}`)
}

/** Before it waits for a service outside: a process that ends from here on is not ended by this task. */
export async function clearTask(db: Sql, environment: Environment, { id, lease }: HeldTask): Promise<void> {
  await db.run(sql`
    update tasks set ${cleared}, lane = lane & 1::smallint
    where environment_id = ${environment.id} and id = ${id} and lease = ${lease}`)
}

/** After a fault of ours, which is counted: free again later. */
export async function postponeFaultyTask(
  db: Sql,
  environment: Environment,
  { id, lease }: HeldTask,
  { waitMs, error, clock }: { waitMs: number; error: string; clock: Clock },
): Promise<void> {
  await db.run(sql`
    update tasks set lease = null, interruptions = 0, lane = lane & 1::smallint, faults = faults + 1, error = ${error},
      faulted_since = coalesce(faulted_since, ${clock()}), due_at = ${dueAfter(clock, waitMs)}
    where environment_id = ${environment.id} and id = ${id} and lease = ${lease}`)
}

/** Never run again unless it is redriven; one that is no longer ours is left. */
export async function buryTask(
  db: Sql,
  environment: Environment,
  { id, lease }: HeldTask,
  { error, now }: { error: string; now: Date },
): Promise<number> {
  return db.run(sql`
    update tasks set lease = null, due_at = null, error = ${error}, buried_at = ${now}
    where environment_id = ${environment.id} and id = ${id} and lease = ${lease}`)
}

/**
 * Deletes at most `limit` tasks that were created before and buried: nothing of what they were about is left. An array
 * is read once; `in (select … limit …)` may be read again for each row, and then finds others.
 */
export async function sweepBuriedTasks(
  tx: Tx,
  environment: Environment,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  return tx.run(sql`
    delete from tasks where environment_id = ${environment.id} and id = any(array(
      select id from tasks where environment_id = ${environment.id} and due_at is null and created_at < ${before}
      order by id limit ${limit} for update skip locked))`)
}

/** Whether an event that was accepted by then is still being expanded. One that was buried never will be. */
export async function isExpandingSince(tx: Sql, environment: Environment, at: Date): Promise<boolean> {
  const row = await tx.row(sql`
    select 1 from tasks
    where environment_id = ${environment.id} and kind = 'expand' and due_at is not null and created_at <= ${at} limit 1`)
  return row !== undefined
}

/** Snoozes and answers of these messages: they go with them. */
export async function deleteTasksOfMessages(
  tx: Tx,
  environment: Environment,
  messageIds: readonly string[],
): Promise<number> {
  if (messageIds.length === 0) return 0
  return tx.run(sql`
    delete from tasks
    where environment_id = ${environment.id} and (id = any(${messageIds}::uuid[])
      or (kind = 'reply' and state->>'messageId' = any(${messageIds}::text[])))`)
}

/** Restarts a buried task where it stopped; false if there is none. */
export async function redriveTask(tx: Tx, environment: Environment, id: string, now: Date): Promise<boolean> {
  const count = await tx.run(sql`
    update tasks set due_at = ${dueNow(now)}, lease = null, ${cleared}, lane = lane & 1::smallint, error = null, buried_at = null
    where environment_id = ${environment.id} and id = ${id} and due_at is null`)
  return count > 0
}
