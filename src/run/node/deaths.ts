// Looks for dead nodes among the others, ends them, and frees what they held.

import type { Clock } from '../../db/clock.ts'
import type { Db, Sql } from '../../db/sql.ts'
import { BoundedMap } from '../../domain/bounded-map.ts'
import { leasesOfNode } from '../../queue/lease-source.ts'
import type { DeadNode, QueueTable } from '../../queue/leases.ts'
import type { NodeHeartbeat, NodeIdentity, OldNode } from '../../store/operate/nodes.ts'
import {
  endHeartbeats,
  endOldNodes,
  forgetEnded,
  listHeartbeats,
  listOldNodes,
  lockEnded,
} from '../../store/operate/nodes.ts'
import type { World } from '../../world/world.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { HostProcess } from './host-process.ts'
import type { Sighting, Sightings } from './judge.ts'
import { judge } from './judge.ts'
import type { Freed } from './leftovers.ts'
import { freeEverything, freeLeasesOf } from './leftovers.ts'

export interface DeathsOptions {
  readonly db: Db
  readonly heartbeatDb: Db
  readonly world: World
  readonly clock: Clock
  readonly queues: readonly QueueTable[]
  readonly nodeId: string
  readonly host: HostProcess
  readonly heartbeat: Heartbeat
  monotonicMs(): number
  /** What a dead node held can be claimed. */
  onDue(): void
}

/** A statement that a node had in progress when it died may still take leases: its rows are watched for this long. */
const endedKeptMs = 15_000
const reportedMax = 1_000

const keyOf = ({ nodeId, epoch }: NodeIdentity): string => `${nodeId}/${epoch}`

export class Deaths {
  readonly #options: DeathsOptions
  #seen: Sightings = new Map()
  #others = 0
  /** Those that lived when they were last looked at. */
  #neighbours: readonly NodeHeartbeat[] = []
  /** Nodes whose processes were seen to end. */
  readonly #reported = new BoundedMap<string, true>(reportedMax)

  constructor(options: DeathsOptions) {
    this.#options = options
  }

  /** How many other nodes live, as far as is known. */
  get others(): number {
    return this.#others
  }

  /** Whether a process of this machine has ended since the last look: asks the machine, not the database. */
  missesNeighbour(): boolean {
    return this.#neighbours.some((node) => this.#options.host.isGone(node))
  }

  /** Remembered beyond the next look: a registration in progress may be committed later. */
  report(nodeId: string): void {
    this.#reported.set(nodeId, true)
  }

  /** One look at all nodes. Not to be called while another is in progress. */
  async look(): Promise<void> {
    const { heartbeatDb, heartbeat, monotonicMs } = this.#options
    const own = heartbeat.identity
    if (own === undefined) return
    const startedAtMs = monotonicMs()
    const [all, oldNodes] = await heartbeatDb.together((db) => Promise.all([listHeartbeats(db), listOldNodes(db)]))
    const living = all.filter((node) => !node.hasEnded && keyOf(node) !== keyOf(own))
    const sightings = [...living.map((node) => this.#sightingOf(node)), ...oldNodes.flatMap(sightingOfOld)]
    const times = { startedAtMs, endedAtMs: monotonicMs(), connectedAtMs: heartbeat.connectedAtMs }
    const { seen, dead } = judge(this.#seen, { ...times, sightings })
    this.#seen = seen
    this.#others = living.length + oldNodes.length - dead.size
    this.#neighbours = living.filter((node) => !dead.has(keyOf(node)))
    await this.#end(
      living.filter((node) => dead.has(keyOf(node))),
      oldNodes.filter(({ id }) => dead.has(id)),
      new Set(sightings.flatMap(({ key, isCertain }) => (isCertain ? [key] : []))),
    )
    if (dead.size > 0 || all.some((node) => node.hasEnded)) await this.#freeEnded()
  }

  /** For the only process on a database, before it claims anything. */
  freeEverything(): Promise<void> {
    return freeEverything(this.#options)
  }

  /** What this node holds itself: nothing may be in progress. */
  async freeOwn(): Promise<void> {
    await this.#free(this.#options.db, { ...this.#options.heartbeat.leases.all, wasStopped: true })
  }

  #sightingOf(node: NodeHeartbeat): Sighting {
    const { host, nodeId } = this.#options
    // An earlier identity of this very node is over: it has another now.
    const isCertain = node.nodeId === nodeId || this.#reported.has(node.nodeId) || host.isGone(node)
    return { key: keyOf(node), sign: String(node.beat), isCertain }
  }

  /** In two statements: whoever is returned was ended by this node, and by no other. */
  async #end(
    nodes: readonly NodeHeartbeat[],
    oldNodes: readonly OldNode[],
    certain: ReadonlySet<string>,
  ): Promise<void> {
    const { heartbeatDb, world } = this.#options
    const asSeen = nodes.map((node) => ({ ...node, beat: certain.has(keyOf(node)) ? undefined : node.beat }))
    const ended = await endHeartbeats(heartbeatDb, asSeen)
    const endedOld = await endOldNodes(
      heartbeatDb,
      oldNodes.map(({ id }) => id),
    )
    for (const node of [...ended, ...endedOld]) {
      const isCertain = certain.has(keyOf(node))
      world.log.warn({ node: node.nodeId, epoch: node.epoch, isCertain }, 'A node is gone; its jobs are due again')
    }
  }

  /**
   * Frees what ended nodes held, each in a separate transaction with its row locked. The row stays until nothing is
   * left and nothing can arrive any more, so that another node looks again should this one die now.
   */
  async #freeEnded(): Promise<void> {
    const { db, heartbeatDb, world, onDue } = this.#options
    const ended = (await listHeartbeats(heartbeatDb)).filter((node) => node.hasEnded)
    for (const node of ended) {
      const { freed, left } = await db.transaction(async (tx) => {
        if (!(await lockEnded(tx, node))) return { freed: 0, left: 0 }
        const leases = leasesOfNode(BigInt(node.leaseKey))
        const result = await this.#free(tx, { ...leases, aliveAt: node.seenAt })
        if (result.left === 0) await forgetEnded(tx, node, endedKeptMs)
        return result
      })
      if (freed === 0) continue
      world.log.info({ node: node.nodeId, epoch: node.epoch, freed, left }, 'Work of a dead node was freed')
      onDue()
    }
  }

  #free(db: Sql, dead: Omit<DeadNode, 'leaseMs'>): Promise<Freed> {
    return freeLeasesOf(db, this.#options, dead)
  }
}

/** A node of 0.1.0 whose lock is held lives, and is not remembered: it is only dead when its lock stays free. */
function sightingOfOld({ id, isUnlocked }: OldNode): Sighting[] {
  return isUnlocked ? [{ key: id, sign: 'unlocked', isCertain: false }] : []
}
