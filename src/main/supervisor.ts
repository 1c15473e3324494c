// Looks after the processes of one service: starts them, starts again whichever ends, and stops them together.
import { StartError } from '../manage/operate/first-start.ts'
import type { Log } from '../world/log.ts'
import type { Child, Orders, ToParent } from './child-messages.ts'
import { restartDelayMs } from './restart-delay.ts'

export interface SupervisorParts {
  readonly processes: number
  readonly log: Log
  fork(orders: Pick<Orders, 'number' | 'nodeId' | 'dead'>): Child
  newNodeId(): string
  monotonicMs(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** A child that has started says something that is not for the supervisor. */
  onMessage(number: number, child: Child, message: ToParent): void
  onEnded(number: number): void
}

/** Deaths that a new process is informed of; older ones were seen by others long ago. */
const deadListMax = 100

interface Slot {
  readonly number: number
  child: Child | undefined
  isStarted: boolean
  delayMs: number | undefined
}

export class Supervisor {
  readonly #parts: SupervisorParts
  readonly #slots: readonly Slot[]
  readonly #dead: string[] = []
  readonly #stopping = new AbortController()
  readonly #loops: Promise<void>[] = []
  #restarts = 0

  constructor(parts: SupervisorParts) {
    this.#parts = parts
    this.#slots = Array.from({ length: parts.processes }, (_, index) => ({
      number: index + 1,
      child: undefined,
      isStarted: false,
      delayMs: undefined,
    }))
  }

  /**
   * Starts all, and resolves with their URL once each has started. Rejects with the message of the first that could
   * not.
   */
  async start(): Promise<string> {
    const starts = this.#slots.map(
      (slot) =>
        new Promise<string>((resolve, reject) => {
          this.#loops.push(this.#lookAfter(slot, resolve, (words) => reject(new StartError(words))))
        }),
    )
    const [url = ''] = await Promise.all(starts)
    return url
  }

  /** Those that have started, by their numbers. */
  get started(): ReadonlyMap<number, Child> {
    return new Map(
      this.#slots.flatMap(({ number, child, isStarted }) =>
        child !== undefined && isStarted ? [[number, child]] : [],
      ),
    )
  }

  /** How many processes were started again. */
  get restarts(): number {
    return this.#restarts
  }

  /** Asks all to stop, kills those that take longer; false if one did. */
  async stop(withinMs: number): Promise<boolean> {
    this.#stopping.abort()
    for (const { child } of this.#slots) child?.send({ kind: 'stop' })
    const waited = new AbortController()
    let isLate = false
    const late = this.#parts.sleep(withinMs, waited.signal).then(() => {
      if (waited.signal.aborted) return
      isLate = true
      for (const { number, child } of this.#slots) {
        if (child === undefined) continue
        this.#parts.log.error({ process: number, pid: child.pid }, 'A process did not stop in time and was killed')
        child.kill()
      }
    })
    await Promise.all(this.#loops)
    waited.abort()
    await late
    return !isLate
  }

  /** Until the stop. A first start that fails is not tried again: the service has not started. */
  async #lookAfter(slot: Slot, onStarted: (url: string) => void, onFailed: (words: string) => void): Promise<void> {
    const { log, monotonicMs, sleep, onEnded } = this.#parts
    let hasEverStarted = false
    while (!this.#stopping.signal.aborted) {
      const startedAtMs = monotonicMs()
      const nodeId = this.#parts.newNodeId()
      const { ended, failure } = await this.#live(slot, nodeId, (url) => {
        hasEverStarted = true
        onStarted(url)
      })
      onEnded(slot.number)
      this.#reportDeath(nodeId)
      if (!hasEverStarted) return onFailed(failure ?? `Process ${slot.number} ${ended} before it had started.`)
      if (this.#stopping.signal.aborted) return
      slot.delayMs = restartDelayMs(slot.delayMs, monotonicMs() - startedAtMs)
      const facts = { process: slot.number, node: nodeId, ended, againInMs: slot.delayMs }
      log.error(failure === undefined ? facts : { ...facts, failure }, 'A process ended and is being restarted')
      await sleep(slot.delayMs, this.#stopping.signal)
      this.#restarts += 1
    }
  }

  /** One life of a child. */
  async #live(slot: Slot, nodeId: string, onStarted: (url: string) => void) {
    const { number } = slot
    const child = this.#fork({ number, nodeId, dead: this.#dead.slice(-deadListMax) })
    if (typeof child === 'string') return { ended: child, failure: undefined }
    let failure: string | undefined
    slot.child = child
    child.onMessage((message) => {
      if (message.kind === 'failed') failure = message.message
      else if (message.kind === 'started') {
        slot.isStarted = true
        onStarted(message.url)
      } else this.#parts.onMessage(number, child, message)
    })
    // It may have been started while the others were asked to stop.
    if (this.#stopping.signal.aborted) child.send({ kind: 'stop' })
    const ended = await child.ended
    slot.child = undefined
    slot.isStarted = false
    return { ended, failure }
  }

  /** The system may have no capacity for another process now: that is logged, and retried as if it had ended. */
  #fork(orders: Parameters<SupervisorParts['fork']>[0]): Child | string {
    try {
      return this.#parts.fork(orders)
    } catch (error) {
      return `could not be started: ${(error as Error).message}`
    }
  }

  /** One that stopped in order has signed off itself; that it is dead is true all the same. */
  #reportDeath(nodeId: string): void {
    this.#dead.push(nodeId)
    if (this.#dead.length > deadListMax) this.#dead.shift()
    for (const { child } of this.#slots) child?.send({ kind: 'dead', nodeId })
  }
}
