// The nodes table: who works on this database. A session lock, not the row, tells who lives.
import type { Sql, Tx } from '../db/sql.ts'
import { sql } from '../db/sql.ts'

export interface NodeRow {
  readonly id: string
  /** As text: it fills all 64 bits. */
  readonly lockKey: string
}

export async function insertNode(tx: Tx, node: NodeRow & { now: Date }): Promise<void> {
  await tx.run(sql`insert into nodes (id, lock_key, started_at) values (${node.id}, ${node.lockKey}, ${node.now})`)
}

export async function listOtherNodes(db: Sql, ownId: string): Promise<NodeRow[]> {
  return db.rows<NodeRow>(
    sql`select id, lock_key::text as "lockKey" from nodes where id <> ${ownId} order by id limit 1000`,
  )
}

export async function isNode(db: Sql, id: string): Promise<boolean> {
  return (await db.row(sql`select 1 from nodes where id = ${id}`)) !== undefined
}

export async function deleteNode(tx: Tx, id: string): Promise<void> {
  await tx.run(sql`delete from nodes where id = ${id}`)
}
