// The nodes that work on this database: node_heartbeats for ours, and nodes for those of 0.1.0, which hold a session lock instead.
import type { Sql, Tx } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'

/** Where a process runs. All are null if the platform does not say. */
export interface HostFacts {
  readonly hostName: string | null
  readonly bootId: string | null
  readonly pidNamespace: string | null
  readonly pid: number | null
  /** In clock ticks after the boot. */
  readonly processStarted: number | null
}

export interface NodeIdentity {
  readonly nodeId: string
  readonly epoch: number
}

export interface NodeHeartbeat extends NodeIdentity, HostFacts {
  readonly beat: number
  /** As text: it fills all 64 bits. */
  readonly leaseKey: string
  /** It was found dead, and what it held is being freed. */
  readonly hasEnded: boolean
  /** Its last heartbeat, by the database's clock. */
  readonly seenAt: Date
}

/** What the database reports about itself when a heartbeat is written. */
export interface BeatAnswer {
  readonly databaseNow: Date
  readonly backendPid: number
  readonly serverStartedAt: string
  /** The environments in which nothing is sent: a restore holds them until they are released. */
  readonly heldEnvironments: readonly string[]
}

/** More nodes than any installation has. */
const nodesMax = 1_000

const beatAnswer = sql`clock_timestamp() as "databaseNow", pg_backend_pid() as "backendPid",
  extract(epoch from pg_postmaster_start_time())::text as "serverStartedAt",
  array(select h.environment_id::text from sending_holds h) as "heldEnvironments"`

/** Ends what the node was before: a node that registers again has given that up. */
export async function registerNode(
  db: Sql,
  node: { nodeId: string; previousEpoch: number; leaseKey: string; host: HostFacts },
): Promise<NodeIdentity & BeatAnswer> {
  const { nodeId, previousEpoch, leaseKey, host } = node
  // Not the sequence alone: a failover to a standby that lags may set it back.
  const row = await db.row<NodeIdentity & BeatAnswer>(sql`
    with superseded as (
      update node_heartbeats set ended_at = clock_timestamp() where node_id = ${nodeId} and ended_at is null)
    insert into node_heartbeats (node_id, epoch, lease_key, beat, host_name, boot_id, pid_namespace, pid, process_started,
                                 started_at, seen_at)
    values (${nodeId}, greatest(nextval('node_epochs'), ${previousEpoch + 1}::bigint), ${leaseKey}::bigint, 0,
            ${host.hostName}, ${host.bootId}, ${host.pidNamespace}, ${host.pid}, ${host.processStarted},
            clock_timestamp(), clock_timestamp())
    returning node_id as "nodeId", epoch, ${beatAnswer}`)
  if (row === undefined) throw new Error('A node could not be registered')
  return row
}

/** Undefined when this identity is over: the node was found dead, or a failover lost its row. */
export async function writeBeat(
  db: Sql,
  { nodeId, epoch, clockAheadMs }: NodeIdentity & { clockAheadMs: number | undefined },
): Promise<BeatAnswer | undefined> {
  return db.row<BeatAnswer>(sql`
    update node_heartbeats set beat = beat + 1, seen_at = clock_timestamp(), clock_ahead_ms = ${clockAheadMs ?? null}::bigint
    where node_id = ${nodeId} and epoch = ${epoch} and ended_at is null
    returning ${beatAnswer}`)
}

export async function listHeartbeats(db: Sql): Promise<NodeHeartbeat[]> {
  return db.rows<NodeHeartbeat>(sql`
    select node_id as "nodeId", epoch, beat, lease_key::text as "leaseKey", host_name as "hostName", boot_id as "bootId",
           pid_namespace as "pidNamespace", pid, process_started as "processStarted", ended_at is not null as "hasEnded",
           seen_at as "seenAt"
    from node_heartbeats order by node_id, epoch limit ${nodesMax}`)
}

/**
 * Ends the identities that are still as they were seen, and returns those: each is returned to one caller only. Without
 * a `beat` the death is certain, and a heartbeat in progress when the process died changes nothing.
 */
export async function endHeartbeats(
  db: Sql,
  dead: readonly (NodeIdentity & { beat: number | undefined })[],
): Promise<NodeIdentity[]> {
  if (dead.length === 0) return []
  return db.rows<NodeIdentity>(sql`
    update node_heartbeats h set ended_at = clock_timestamp()
    from unnest(${dead.map((one) => one.nodeId)}::uuid[], ${dead.map((one) => one.epoch)}::bigint[],
                ${dead.map((one) => one.beat ?? null)}::bigint[]) as d (node_id, epoch, beat)
    where h.node_id = d.node_id and h.epoch = d.epoch and (d.beat is null or h.beat = d.beat) and h.ended_at is null
    returning h.node_id as "nodeId", h.epoch`)
}

/** Every node but this one is dead: the caller alone holds the database. */
export async function endAllOthers(tx: Tx, nodeId: string): Promise<void> {
  await tx.run(sql`
    update node_heartbeats set ended_at = clock_timestamp() where node_id <> ${nodeId} and ended_at is null`)
  await tx.run(sql`with gone as (delete from nodes returning id, lock_key, started_at) ${asEnded}`)
}

/** False when another node is freeing what this one held. */
export async function lockEnded(tx: Tx, { nodeId, epoch }: NodeIdentity): Promise<boolean> {
  const row = await tx.row(sql`
    select 1 from node_heartbeats where node_id = ${nodeId} and epoch = ${epoch} and ended_at is not null
    for update skip locked`)
  return row !== undefined
}

/** Deletes the row of a dead node, unless it ended so recently that a statement of its may still be running. */
export async function forgetEnded(tx: Tx, { nodeId, epoch }: NodeIdentity, keptMs: number): Promise<void> {
  await tx.run(sql`
    delete from node_heartbeats where node_id = ${nodeId} and epoch = ${epoch}
      and ended_at <= clock_timestamp() - ${keptMs}::double precision * interval '1 millisecond'`)
}

/** For a node that stops in order, after it has given back what it held. */
export async function deleteHeartbeat(db: Sql, { nodeId, epoch }: NodeIdentity): Promise<void> {
  await db.run(sql`delete from node_heartbeats where node_id = ${nodeId} and epoch = ${epoch}`)
}

/** A node of 0.1.0. */
export interface OldNode {
  readonly id: string
  /** Its session does not hold the lock right now. */
  readonly isUnlocked: boolean
}

/** The locks that could be taken are given back with the end of the statement. */
export async function listOldNodes(db: Sql): Promise<OldNode[]> {
  return db.rows<OldNode>(sql`
    with listed as materialized (select id, lock_key from nodes order by id limit ${nodesMax})
    select id, pg_try_advisory_xact_lock(lock_key) as "isUnlocked" from listed`)
}

/** Ends those whose lock is still free. One of them that comes back waits for this statement, and finds its row gone. */
export async function endOldNodes(db: Sql, ids: readonly string[]): Promise<NodeIdentity[]> {
  if (ids.length === 0) return []
  return db.rows<NodeIdentity>(sql`
    with unlocked as materialized (
        select id from nodes where id = any(${ids}::uuid[]) and pg_try_advisory_xact_lock(lock_key)),
      gone as (delete from nodes n using unlocked u where n.id = u.id returning n.id, n.lock_key, n.started_at)
    ${asEnded}`)
}

/** A dead node of 0.1.0 is treated like a dead node of ours: what it held is freed in the same way. */
const asEnded = sql`
  insert into node_heartbeats (node_id, epoch, lease_key, beat, started_at, seen_at, ended_at)
  select id, nextval('node_epochs'), lock_key, 0, started_at, clock_timestamp(), clock_timestamp() from gone
  returning node_id as "nodeId", epoch`
