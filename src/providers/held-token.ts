// Tokens that are requested before sending: one per account, shared by all sends with it, for as long as it is valid.
import { BoundedMap } from '../domain/bounded-map.ts'
import type { Outcome } from '../domain/delivery/outcome.ts'
import { certainlyNotSent, misconfigured } from '../domain/delivery/outcome.ts'
import { originOf } from '../world/outbound/may-leave.ts'
import type { World } from '../world/world.ts'

export interface HeldToken {
  readonly value: string
  readonly endsAt: Date
}

export interface HeldTokens {
  /**
   * A valid token, or why there is none. `account` contains everything it is requested with: half of that must not
   * fetch another's. Callers that need one while it is being requested wait for the same response.
   */
  tokenOf(world: World, account: string, ask: () => Promise<HeldToken | Outcome>): Promise<HeldToken | Outcome>
  /** Forgets a rejected token, unless another replaced it in the meantime. */
  forget(world: World, account: string, token: HeldToken): void
}

interface Held {
  token: HeldToken | undefined
  asking: Promise<HeldToken | Outcome> | undefined
}

/**
 * The outcome of a send without a token: the account was rejected; or a token may have been granted, but nothing was
 * sent.
 */
export function outcomeWithoutToken(outcome: Outcome): Outcome {
  if (outcome.kind === 'refused') return misconfigured(outcome.detail)
  return certainlyNotSent(outcome)
}

/** Each is a kilobyte; one that was dropped is asked for again. */
const accountsMax = 1_000

/** The tokens of one provider. */
export function createHeldTokens(): HeldTokens {
  // By world, so that nothing outlives it.
  const byWorld = new WeakMap<World, Map<string, Held>>()

  function heldOf(world: World, account: string): Held {
    const origin = originOf(world)
    const all = byWorld.get(origin) ?? new BoundedMap<string, Held>(accountsMax)
    byWorld.set(origin, all)
    const held = all.get(account) ?? { token: undefined, asking: undefined }
    // Last again: the first is the least recently used.
    all.set(account, held)
    return held
  }

  async function asked(held: Held, ask: () => Promise<HeldToken | Outcome>): Promise<HeldToken | Outcome> {
    const granted = await ask()
    held.token = 'kind' in granted ? undefined : granted
    return granted
  }

  return {
    async tokenOf(world, account, ask) {
      const held = heldOf(world, account)
      if (held.token !== undefined && held.token.endsAt > world.now()) return held.token
      held.asking ??= asked(held, ask).finally(() => {
        held.asking = undefined
      })
      return held.asking
    },

    forget(world, account, token) {
      const held = heldOf(world, account)
      if (held.token === token) held.token = undefined
    },
  }
}
