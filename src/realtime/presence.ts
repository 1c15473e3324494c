// Who is online: written when the first connection of a subscriber opens on this process, and a while after the last has closed.
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import { recordPresence, silentSecondsMax } from '../record/record-presence.ts'
import { beatInboxProcess } from '../store/people/presence.ts'
import type { World } from '../world/world.ts'

/** Changes are gathered for so long, and written together. */
const writeEveryMs = 2_000
/** A page that reloads, or loses its connection briefly, writes nothing. */
const graceMs = 15_000
/** So often the process shows that it is alive, while it has connections. */
const beatEveryMs = 30_000
const changesPerWriteMax = 1_000

export interface Presence {
  arrived(environment: Environment, subscriberId: string): void
  left(environment: Environment, subscriberId: string): void
  /** Writes what is due. Called by a timer; a test calls it itself. */
  write(): Promise<void>
  /** Rows stay: those who do not connect to another process are set offline by housekeeping. */
  stop(): Promise<void>
}

interface Change {
  readonly environment: Environment
  readonly subscriberId: string
  readonly dueAtMs: number
}

export function createPresence(db: Db, world: World, processId: string): Presence {
  return new ProcessPresence(db, world, processId)
}

class ProcessPresence implements Presence {
  readonly #db: Db
  readonly #world: World
  readonly #processId: string
  /** Subscribers with a connection to this process. */
  readonly #here = new Map<string, Change>()
  /** Those of whom the database says so. */
  readonly #recorded = new Set<string>()
  /** Where the two may differ. */
  readonly #changed = new Map<string, Change>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #beatAtMs = Number.NEGATIVE_INFINITY

  constructor(db: Db, world: World, processId: string) {
    this.#db = db
    this.#world = world
    this.#processId = processId
  }

  arrived(environment: Environment, subscriberId: string): void {
    const change = { environment, subscriberId, dueAtMs: this.#nowMs() }
    const key = keyOf(change)
    this.#here.set(key, change)
    this.#changed.set(key, change)
    this.#timer ??= setInterval(() => void this.write(), writeEveryMs)
  }

  left(environment: Environment, subscriberId: string): void {
    const change = { environment, subscriberId, dueAtMs: this.#nowMs() + graceMs }
    const key = keyOf(change)
    this.#here.delete(key)
    this.#changed.set(key, change)
  }

  async write(): Promise<void> {
    this.#writing ??= this.#writeAll()
      .catch((error: Error) => {
        this.#world.log.debug({ error: error.message }, 'Online states could not be written; will try again')
      })
      .finally(() => {
        this.#writing = undefined
      })
    await this.#writing
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
  }

  async #writeAll(): Promise<void> {
    await this.#beat()
    const due = [...this.#changed].filter(([, change]) => change.dueAtMs <= this.#nowMs())
    for (const [key, change] of due) if (!this.#differs(key)) this.#settle(key, change)
    const open = due.filter(([key]) => this.#differs(key))
    for (const [, some] of grouped(open, ([, { environment }]) => environment.id)) {
      for (let from = 0; from < some.length; from += changesPerWriteMax) {
        await this.#writeSome(some.slice(from, from + changesPerWriteMax))
      }
    }
  }

  async #writeSome(changes: readonly (readonly [string, Change])[]): Promise<void> {
    const environment = changes[0]?.[1].environment
    if (environment === undefined) return
    const isHere = new Map(changes.map(([key]) => [key, this.#here.has(key)]))
    const idsOf = (here: boolean): string[] =>
      changes.filter(([key]) => isHere.get(key) === here).map(([, change]) => change.subscriberId)
    const change = { processId: this.#processId, arrived: idsOf(true), left: idsOf(false) }
    await this.#db.transaction((tx) => recordPresence(tx, environment, change, this.#world.now()))
    for (const [key, one] of changes) {
      if (isHere.get(key) === true) this.#recorded.add(key)
      else this.#recorded.delete(key)
      this.#settle(key, one)
    }
  }

  #differs(key: string): boolean {
    return this.#here.has(key) !== this.#recorded.has(key)
  }

  /** Unless it changed again meanwhile. */
  #settle(key: string, change: Change): void {
    if (this.#changed.get(key) === change) this.#changed.delete(key)
  }

  async #beat(): Promise<void> {
    const nowMs = this.#nowMs()
    const isIdle = this.#here.size === 0 && this.#recorded.size === 0
    if (isIdle || nowMs - this.#beatAtMs < beatEveryMs) return
    const wasLost = await beatInboxProcess(this.#db, this.#processId, silentSecondsMax)
    this.#beatAtMs = nowMs
    if (!wasLost) return
    // It was silent for so long that others took it for lost: all of it is written again.
    this.#recorded.clear()
    for (const [key, change] of this.#here) this.#changed.set(key, change)
  }

  #nowMs(): number {
    return this.#world.now().getTime()
  }
}

const keyOf = ({ environment, subscriberId }: Pick<Change, 'environment' | 'subscriberId'>): string =>
  `${environment.id}/${subscriberId}`
