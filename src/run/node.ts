// This node among others: it shows that it lives, frees what dead ones held, and passes hints on.
import type { Clock } from '../db/clock.ts'
import type { Session } from '../db/session.ts'
import type { Db } from '../db/sql.ts'
import { sql } from '../db/sql.ts'
import { createHint } from '../queue/hint.ts'
import { createLeaseSource, leasesOfNode } from '../queue/lease-source.ts'
import type { LeaseRange, QueueTable } from '../queue/leases.ts'
import { freeLeases } from '../queue/leases.ts'
import { leaseMs } from '../queue/queue.ts'
import { deleteNode, insertNode, isNode, listOtherNodes } from '../store/nodes.ts'
import type { World } from '../world/world.ts'

export interface NodeOptions {
  readonly db: Db
  /** A connection that nothing else waits for. */
  readonly heartbeatDb: Db
  readonly world: World
  readonly clock: Clock
  readonly queues: readonly QueueTable[]
  openSession(): Promise<Session>
  /** True once the others can see that this node lives, false when they no longer can. */
  onAlive(alive: boolean): void
  /** What a dead node held can be claimed. */
  onDue(): void
}

export interface Node {
  isAlive(): boolean
  newLease(): string
  /** Tells the others that something is due: rarely, and only when there are others. */
  hint(): void
  stop(): Promise<void>
}

/** How soon the death of a node is noticed, and how long a lost connection waits for the next try. */
const lookEveryMs = 5_000
const reconnectMs = 1_000

export function startNode(options: NodeOptions): Node {
  return new LivingNode(options)
}

class LivingNode implements Node {
  readonly #options: NodeOptions
  readonly #stopping = new AbortController()
  readonly #living: Promise<void>
  #leases = createLeaseSource()
  /** Of its row; empty before there was one. */
  #id = ''
  #alive = false
  #others = 0
  readonly hint: () => void

  constructor(options: NodeOptions) {
    this.#options = options
    this.hint = createHint(options.db, () => this.#others > 0)
    this.#living = this.#live()
  }

  isAlive(): boolean {
    return this.#alive
  }

  newLease(): string {
    return this.#leases.newLease()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#living
  }

  async #live(): Promise<void> {
    const { world } = this.#options
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#liveOnce()
      } catch (error) {
        world.log.warn({ error: (error as Error).message }, 'This node cannot show that it lives; it sends nothing')
      }
      await world.sleep(reconnectMs, this.#stopping.signal)
    }
  }

  /** One connection's life. */
  async #liveOnce(): Promise<void> {
    const { db, world } = this.#options
    const session = await this.#options.openSession()
    const ended = new AbortController()
    session.lost.then(() => ended.abort())
    const over = AbortSignal.any([this.#stopping.signal, ended.signal])
    try {
      await this.#takeIdentity(session)
      this.#setAlive(true)
      while (!over.aborted) {
        await this.#freeDeadNodes(session)
        await world.sleep(lookEveryMs, over)
        // A connection that hangs is as good as gone.
        if (!over.aborted) await session.rows(sql`select 1`)
      }
    } finally {
      this.#setAlive(false)
      // Nobody will take this node for dead once its row is gone: what it still holds is given back here.
      if (this.#stopping.signal.aborted) {
        await this.#free(this.#leases.all).catch(() => {})
        await db.transaction((tx) => deleteNode(tx, this.#id)).catch(() => {})
      }
      await session.close().catch(() => {})
    }
  }

  /**
   * After a lost connection this is still the same node, and its leases are good, as long as nobody took it for dead: then
   * its row would be gone. It is a new one otherwise.
   */
  async #takeIdentity(session: Session): Promise<void> {
    const { db, world } = this.#options
    if (this.#id !== '') {
      // The server may not have noticed yet that the old connection is gone: then this waits for it.
      await session.rows(sql`select pg_advisory_lock(${this.#leases.lockKey.toString()}::bigint)`)
      if (await isNode(db, this.#id)) return
      this.#leases = createLeaseSource()
    }
    const lockKey = this.#leases.lockKey.toString()
    await session.rows(sql`select pg_advisory_lock(${lockKey}::bigint)`)
    const id = world.newId(world.now())
    await db.transaction((tx) => insertNode(tx, { id, lockKey, now: world.now() }))
    this.#id = id
  }

  async #freeDeadNodes(session: Session): Promise<void> {
    const { db, world } = this.#options
    const others = await listOtherNodes(db, this.#id)
    this.#others = others.length
    for (const other of others) {
      const [row] = await session.rows<{ dead: boolean }>(
        sql`select pg_try_advisory_lock(${other.lockKey}::bigint) as dead`,
      )
      if (row?.dead !== true) continue
      const { freed, left } = await this.#free(leasesOfNode(BigInt(other.lockKey)))
      // While something is still locked its row stays, so that somebody looks again.
      if (left === 0) await db.transaction((tx) => deleteNode(tx, other.id))
      await session.rows(sql`select pg_advisory_unlock(${other.lockKey}::bigint)`)
      world.log.warn({ node: other.id, freed, left }, 'A node is gone; what it held is due again')
      if (freed > 0) this.#options.onDue()
    }
  }

  async #free(leases: LeaseRange): Promise<{ freed: number; left: number }> {
    const { db, clock, queues } = this.#options
    const results = []
    for (const queue of queues) results.push(await freeLeases(db, queue, clock, { ...leases, leaseMs }))
    return {
      freed: results.reduce((sum, one) => sum + one.freed, 0),
      left: results.reduce((sum, one) => sum + one.left, 0),
    }
  }

  #setAlive(alive: boolean): void {
    if (this.#alive === alive) return
    this.#alive = alive
    this.#options.onAlive(alive)
  }
}
