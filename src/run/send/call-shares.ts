// Concurrent calls for accounts that allow few, such as mail servers: all nodes together make no more than the account
// allows.
import type { Db } from '../../db/sql.ts'
import { shareMs, shareOut } from '../../domain/delivery/call-share.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { Environment } from '../../domain/environment.ts'
import { providerOf } from '../../providers/registry.ts'
import { lockShares, writeShares } from '../../store/integrations/call-shares.ts'

export interface CallShares {
  /**
   * How many calls this node may have in flight, of the `max` that the account allows. If it has too few, it requests
   * more.
   */
  callsMax(environment: Environment, integration: Integration, max: number): number
  /** Leaves everything to the others. Nothing may be in flight, and nothing may start. */
  stop(): Promise<void>
}

export interface CallShareParts {
  readonly db: Db
  readonly nodeId: string
  /** Whether other nodes may call too: without any, nothing is requested. */
  hasOthers(): boolean
  /** Calls of the integration that this node has under way. */
  underWay(integrationId: string): number
  onMore(integrationId: string): void
  /** Other nodes may have so many connections less: idle ones beyond this are closed. */
  keepConnections(integration: Integration, max: number): void
  monotonicMs(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** How often a share is renewed; and how soon again if there is none, or another waits for calls to end. */
const renewMs = 1_000
const againMs = 250
/** Well before the others count it as free. */
const freshMs = shareMs - 2_000
/** An account that was not wanted for so long is left to the others. */
const wantedMs = 2_000

/** Without a database a share ends by itself; that need not hold up a stop. */
const stopWaitMs = 2_000

interface Share {
  readonly environment: Environment
  integration: Integration
  max: number
  /** How many may be in flight; none starts while more are. */
  allowed: number
  wantedAtMs: number
  grantedAtMs: number
}

export function createCallShares(parts: CallShareParts): CallShares {
  return new SharedCalls(parts)
}

class SharedCalls implements CallShares {
  readonly #parts: CallShareParts
  readonly #shares = new Map<string, Share>()
  readonly #running = new Set<Promise<void>>()
  readonly #stopping = new AbortController()

  constructor(parts: CallShareParts) {
    this.#parts = parts
  }

  callsMax(environment: Environment, integration: Integration, max: number): number {
    const nowMs = this.#parts.monotonicMs()
    const found = this.#shares.get(integration._id)
    if (found === undefined && !this.#parts.hasOthers()) return max
    const share = found ?? { environment, integration, max, allowed: 0, wantedAtMs: nowMs, grantedAtMs: nowMs }
    share.wantedAtMs = nowMs
    share.integration = integration
    share.max = max
    if (found === undefined) this.#begin(share)
    return nowMs - share.grantedAtMs < freshMs ? share.allowed : 0
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    const ended = new AbortController()
    await Promise.race([Promise.all(this.#running), this.#parts.sleep(stopWaitMs, ended.signal)])
    ended.abort()
  }

  #begin(share: Share): void {
    this.#shares.set(share.integration._id, share)
    const running = this.#lookAfter(share).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #lookAfter(share: Share): Promise<void> {
    const { signal } = this.#stopping
    while (await this.#renew(share)) {
      // Also if there is nothing: waiting calls request again, which keeps this going.
      this.#parts.onMore(share.integration._id)
      const isSettled = share.allowed > 0 && share.allowed >= this.#parts.underWay(share.integration._id)
      await this.#parts.sleep(isSettled ? renewMs : againMs, signal)
    }
    this.#shares.delete(share.integration._id)
    // Another caller may have arrived during the last draw.
    if (!signal.aborted && this.#isWanted(share)) this.#parts.onMore(share.integration._id)
  }

  /** One draw; false if no one here needs the share any more. */
  async #renew(share: Share): Promise<boolean> {
    const { underWay, monotonicMs, keepConnections } = this.#parts
    const { integration, allowed: before } = share
    const startedAtMs = monotonicMs()
    const inUse = underWay(integration._id)
    const wants = this.#parts.hasOthers() && this.#isWanted(share) && !this.#stopping.signal.aborted
    // During the draw no further call may start: the result may be that there is none.
    share.allowed = Math.min(before, inUse)
    try {
      share.allowed = await this.#draw(share, inUse, wants)
      share.grantedAtMs = startedAtMs
    } catch {
      // Without the database nothing is granted, and what was granted ends.
    }
    if (share.allowed < before) keepConnections(integration, share.allowed)
    return wants || (inUse > 0 && !this.#stopping.signal.aborted)
  }

  #draw({ environment, integration, max }: Share, inUse: number, wants: boolean): Promise<number> {
    const { db, nodeId } = this.#parts
    return db.transaction(async (tx) => {
      const { holders, nowMs } = await lockShares(tx, environment, integration._id)
      const result = shareOut(holders, { node: nodeId, max, inUse, wants }, nowMs)
      await writeShares(tx, environment, integration._id, result.holders)
      return result.allowed
    })
  }

  #isWanted({ wantedAtMs }: Share): boolean {
    return this.#parts.monotonicMs() - wantedAtMs < wantedMs
  }
}

/** A provider that fails over its account keeps its connections until they are idle for long enough. */
export function closeIdleConnections({ providerId, credentials }: Integration, max: number): void {
  try {
    providerOf(providerId)?.keepConnections?.(credentials as never, max)
  } catch {}
}
