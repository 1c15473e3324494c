// This node's heartbeat: its identity, the row it writes, and how long ago it last could.
import type { Db } from '../../db/sql.ts'
import type { LeaseSource } from '../../queue/lease-source.ts'
import { createLeaseSource } from '../../queue/lease-source.ts'
import type { BeatAnswer, HostFacts, NodeIdentity } from '../../store/operate/nodes.ts'
import { endAllOthers, registerNode, writeBeat } from '../../store/operate/nodes.ts'
import type { World } from '../../world/world.ts'
import { createSkewReport, skewOf } from './clock-skew.ts'

export interface HeartbeatOptions {
  /** One connection for this alone, with timeouts far below `aliveMsMax`. */
  readonly heartbeatDb: Db
  readonly world: World
  readonly nodeId: string
  readonly host: HostFacts
  /** No other process works on this database when this one starts. */
  readonly isSoleHolder: boolean
  /** Statements go by whatever connection a pooler chooses: another backend is no sign of a reconnect. */
  readonly isPooled: boolean
  monotonicMs(): number
  /** Others considered this node dead: what it holds may be with them. */
  onLost(): void
}

/** Without a heartbeat for this long a node starts nothing; others consider it dead 4 s later at the earliest. */
export const aliveMsMax = 6_000

export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #reportSkew: ReturnType<typeof createSkewReport>
  #leases = createLeaseSource()
  #epoch = 0
  #isRegistered = false
  #beatStartedAtMs = Number.NEGATIVE_INFINITY
  #connectedAtMs = Number.POSITIVE_INFINITY
  #hasFailed = false
  #connection = ''
  #clockAheadMs: number | undefined
  #held: ReadonlySet<string> = new Set()

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#reportSkew = createSkewReport(options.world.log)
  }

  /** Undefined before the first registration. */
  get identity(): NodeIdentity | undefined {
    return this.#isRegistered ? { nodeId: this.#options.nodeId, epoch: this.#epoch } : undefined
  }

  get leases(): LeaseSource {
    return this.#leases
  }

  /** The environments in which nothing is sent, as of the last heartbeat. */
  get held(): ReadonlySet<string> {
    return this.#held
  }

  /** Since when this node has been connected without a break. */
  get connectedAtMs(): number {
    return this.#connectedAtMs
  }

  /** Since the start of the last heartbeat that was written: after a freeze it is large at once. */
  ageMs(): number {
    return this.#options.monotonicMs() - this.#beatStartedAtMs
  }

  isFresh(): boolean {
    return this.ageMs() < aliveMsMax
  }

  /** Writes one heartbeat; registers where there is no identity, or it was lost. */
  async beat(): Promise<void> {
    const { world, monotonicMs } = this.#options
    const startedAtMs = monotonicMs()
    const askedAt = world.now()
    const epochBefore = this.#epoch
    try {
      const answer = await this.#write()
      const skew = skewOf({ askedAt, answeredAt: world.now(), databaseNow: answer.databaseNow })
      this.#clockAheadMs = skew.aheadMs
      this.#reportSkew(skew, monotonicMs())
      const connection = this.#options.isPooled
        ? answer.serverStartedAt
        : `${answer.serverStartedAt}/${answer.backendPid}`
      const isNew = this.#epoch !== epochBefore || connection !== this.#connection
      const wasAway = this.#hasFailed || startedAtMs - this.#beatStartedAtMs >= aliveMsMax
      if (isNew || wasAway) this.#connectedAtMs = monotonicMs()
      this.#connection = connection
      this.#held = sameOr(this.#held, answer.heldEnvironments)
      this.#hasFailed = false
      this.#beatStartedAtMs = startedAtMs
    } catch (error) {
      this.#hasFailed = true
      throw error
    }
  }

  async #write(): Promise<BeatAnswer> {
    const { heartbeatDb, onLost } = this.#options
    const { identity } = this
    if (identity === undefined) return this.#register()
    const answer = await writeBeat(heartbeatDb, { ...identity, clockAheadMs: this.#clockAheadMs })
    if (answer !== undefined) return answer
    // From here on it is not fresh, whatever becomes of the registration.
    this.#beatStartedAtMs = Number.NEGATIVE_INFINITY
    onLost()
    return this.#register()
  }

  /** With a lease key that was never used: that of a registration whose response was lost is in the table. */
  async #register(): Promise<BeatAnswer> {
    const { heartbeatDb, nodeId, host, isSoleHolder } = this.#options
    const leases = createLeaseSource()
    const node = { nodeId, previousEpoch: this.#epoch, leaseKey: leases.key.toString(), host }
    // Only the first time: processes that were started since are no dead ones.
    const endsOthers = isSoleHolder && !this.#isRegistered
    const { epoch, ...answer } = endsOthers
      ? await heartbeatDb.transaction(async (tx) => {
          await endAllOthers(tx, nodeId)
          return registerNode(tx, node)
        })
      : await registerNode(heartbeatDb, node)
    this.#leases = leases
    this.#epoch = epoch
    this.#isRegistered = true
    return answer
  }
}

/** The set itself while nothing changes: whoever holds it can compare. */
const sameOr = (before: ReadonlySet<string>, now: readonly string[]): ReadonlySet<string> =>
  before.size === now.length && now.every((id) => before.has(id)) ? before : new Set(now)
