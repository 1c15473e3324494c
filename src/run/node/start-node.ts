// This node among others: it shows that it lives, frees what dead ones held, and passes hints on.
import type { Clock } from '../../db/clock.ts'
import type { Hearing } from '../../db/hearing.ts'
import { startHearing } from '../../db/hearing.ts'
import type { Session } from '../../db/session.ts'
import type { Db } from '../../db/sql.ts'
import { createHint } from '../../queue/hint.ts'
import type { QueueTable } from '../../queue/leases.ts'
import { deleteHeartbeat } from '../../store/operate/nodes.ts'
import type { Pause } from '../../world/pause.ts'
import { createPause } from '../../world/pause.ts'
import type { World } from '../../world/world.ts'
import { Deaths } from './deaths.ts'
import { aliveMsMax, Heartbeat } from './heartbeat.ts'
import type { HostProcess } from './host-process.ts'
import { hostProcess } from './host-process.ts'

export interface NodeOptions {
  readonly db: Db
  /** One connection only for heartbeats, with timeouts of a few seconds: nothing else may keep it busy. */
  readonly heartbeatDb: Db
  readonly world: World
  readonly clock: Clock
  readonly queues: readonly QueueTable[]
  /** Hears hints. Undefined behind a transaction pooler: then polling finds what is due. */
  openSession?: (() => Promise<Session>) | undefined
  /** No other process works on this database when this one starts: whatever is in the tables of one is of a dead one. */
  readonly soleHolder?: boolean | undefined
  /** Statements go through a transaction pooler. */
  readonly pooled?: boolean | undefined
  /** If others must know it before the process does. */
  readonly nodeId?: string | undefined
  /** For tests. */
  readonly host?: HostProcess | undefined
  monotonicMs?: (() => number) | undefined
  /** True once the others can see that this node lives, false when they no longer can. */
  onAlive(alive: boolean): void
  /** What a dead node held can be claimed. */
  onDue(): void
}

export interface Node {
  /** The same for as long as the process lives. */
  readonly id: string
  isAlive(): boolean
  /** Since the start of the last heartbeat that was written, by the monotonic clock: at once large after a freeze. */
  lastBeatAgeMs(): number
  newLease(): string
  /** Lets the others know that something is due: rarely, and only when there are others. */
  hint(): void
  /** Whether other nodes work on this database, as of the last look. */
  hasOthers(): boolean
  /** The environments in which nothing may be sent, as of the last heartbeat. */
  heldEnvironments(): ReadonlySet<string>
  /** The process of another node was seen to end: what it held is freed without waiting. */
  reportDeath(nodeId: string): void
  stop(): Promise<void>
}

const beatEveryMs = 2_000
/** After a heartbeat that could not be written. */
const beatAgainMs = 500
const lookEveryMs = 5_000
/** A node among others asks the tables more often, and in between whether the processes on its own machine are there. */
const glanceEveryMs = 500
const glancesPerLook = 4
/** A heartbeat that hangs does not keep a node from stopping. */
const stopWaitMs = 3_000

export function startNode(options: NodeOptions): Node {
  return new HeartbeatNode(options)
}

class HeartbeatNode implements Node {
  readonly id: string
  readonly hint: () => void
  readonly #options: NodeOptions
  readonly #heartbeat: Heartbeat
  readonly #deaths: Deaths
  readonly #hearing: Hearing | undefined
  readonly #betweenBeats: Pause
  readonly #betweenLooks: Pause
  readonly #monotonicMs: () => number
  readonly #running: Promise<unknown>
  #isStopping = false
  #isAlive = false
  /** What a dead process left behind is free. */
  #isClear: boolean
  /** Says so when no heartbeat was written for too long. */
  #alarm: NodeJS.Timeout | undefined
  #lastError: string | undefined

  constructor(options: NodeOptions) {
    const { db, heartbeatDb, world, clock, queues, openSession, onDue, host = hostProcess() } = options
    const { soleHolder = false, pooled = false, monotonicMs = () => performance.now() } = options
    const { nodeId = world.newId(world.now()) } = options
    this.id = nodeId
    this.#options = options
    this.#monotonicMs = monotonicMs
    this.#isClear = !soleHolder
    const heartbeat = new Heartbeat({
      heartbeatDb,
      world,
      nodeId,
      host: host.facts,
      isSoleHolder: soleHolder,
      isPooled: pooled,
      monotonicMs,
      onLost: () => this.#lost(),
    })
    this.#heartbeat = heartbeat
    this.#deaths = new Deaths({ db, heartbeatDb, world, clock, queues, nodeId, host, heartbeat, monotonicMs, onDue })
    this.hint = createHint(db, () => this.#deaths.others > 0)
    this.#betweenBeats = createPause(world)
    this.#betweenLooks = createPause(world)
    this.#running = Promise.all([this.#beatOn(), this.#lookOn()])
    this.#hearing = openSession === undefined ? undefined : startHearing({ world, openSession, onOpened: onDue })
  }

  isAlive(): boolean {
    return this.#isAlive && this.#heartbeat.isFresh()
  }

  lastBeatAgeMs(): number {
    return this.#heartbeat.ageMs()
  }

  newLease(): string {
    return this.#heartbeat.leases.newLease()
  }

  hasOthers(): boolean {
    return this.#deaths.others > 0
  }

  heldEnvironments(): ReadonlySet<string> {
    return this.#heartbeat.held
  }

  reportDeath(nodeId: string): void {
    if (nodeId === this.id) throw new Error('A node cannot report its own death')
    this.#deaths.report(nodeId)
    this.#betweenLooks.wake()
  }

  async stop(): Promise<void> {
    const { world, heartbeatDb } = this.#options
    this.#isStopping = true
    this.#betweenBeats.wake()
    this.#betweenLooks.wake()
    const waited = new AbortController()
    await Promise.race([this.#running, world.sleep(stopWaitMs, waited.signal)])
    waited.abort()
    clearTimeout(this.#alarm)
    this.#setAlive(false)
    await this.#hearing?.stop()
    const { identity } = this.#heartbeat
    if (identity === undefined) return
    try {
      await this.#deaths.freeOwn()
      // Last: while the row exists, other nodes take care of what could not be freed.
      await deleteHeartbeat(heartbeatDb, identity)
    } catch (error) {
      world.log.warn(
        { error: (error as Error).message },
        'This node could not deregister; other nodes will detect that it is gone',
      )
    }
  }

  async #beatOn(): Promise<void> {
    while (!this.#isStopping) {
      const startedAtMs = this.#monotonicMs()
      const isWritten = await this.#beat()
      const pauseMs = isWritten ? startedAtMs + beatEveryMs - this.#monotonicMs() : beatAgainMs
      if (!this.#isStopping) await this.#betweenBeats.sleep(Math.max(0, pauseMs))
    }
  }

  async #beat(): Promise<boolean> {
    try {
      const heldBefore = this.#heartbeat.held
      await this.#heartbeat.beat()
      this.#reportHeld(heldBefore)
      if (!this.#isClear) await this.#deaths.freeEverything()
      this.#isClear = true
      this.#lastError = undefined
      // One that took very long is too old already; the next follows at once.
      if (this.#heartbeat.isFresh()) this.#setAlive(true)
      return true
    } catch (error) {
      const { message } = error as Error
      if (!this.#isAlive && this.#lastError !== message) this.#warn(message)
      this.#lastError = message
      return false
    }
  }

  /** Looks are not bound to heartbeats: freeing much takes its time, and must not keep this node from showing that it lives. */
  async #lookOn(): Promise<void> {
    const { world } = this.#options
    while (!this.#isStopping) {
      if (this.isAlive()) {
        await this.#deaths.look().catch((error: Error) => {
          world.log.warn({ error: error.message }, 'Could not look for dead nodes; will retry')
        })
      }
      if (!this.#isStopping) await this.#untilNextLook()
    }
  }

  async #untilNextLook(): Promise<void> {
    if (this.#deaths.others === 0) {
      await this.#betweenLooks.sleep(lookEveryMs)
      return
    }
    for (let glances = 0; glances < glancesPerLook; glances += 1) {
      const wasCut = await this.#betweenLooks.sleep(glanceEveryMs)
      if (wasCut || this.#deaths.missesNeighbour()) return
    }
  }

  #reportHeld(before: ReadonlySet<string>): void {
    const { held } = this.#heartbeat
    if (held === before) return
    const { world, onDue } = this.#options
    const environments = [...held]
    if (held.size === 0) world.log.info({}, 'Sending was released in all environments')
    else
      world.log.warn(
        { environments },
        'Sending is held after a restore or a move; `posthorn release` shows what is due',
      )
    onDue()
  }

  #lost(): void {
    this.#options.world.log.warn(
      { node: this.id, epoch: this.#heartbeat.identity?.epoch },
      'Other nodes considered this one dead and may have taken over its work; it continues with a new identity',
    )
    this.#setAlive(false)
  }

  #setAlive(isAlive: boolean): void {
    clearTimeout(this.#alarm)
    if (isAlive) {
      this.#alarm = setTimeout(() => this.#fallSilent(), aliveMsMax - this.#heartbeat.ageMs())
    }
    if (this.#isAlive === isAlive) return
    this.#isAlive = isAlive
    this.#options.onAlive(isAlive)
    if (isAlive) this.#betweenLooks.wake()
  }

  #fallSilent(): void {
    this.#setAlive(false)
    this.#warn(this.#lastError ?? 'The database has not responded yet')
  }

  #warn(error: string): void {
    this.#options.world.log.warn({ error }, 'This node cannot write its heartbeat; it starts no new work until it can')
  }
}
