// Tokens that are asked for before sending: one an account, shared by all that send with it, for as long as it lasts.
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
   * A token that has not ended, or why there is none. `account` names all that it is asked for with: half of that must
   * not fetch another's. Those who need one while it is asked for wait for the same answer.
   */
  tokenOf(world: World, account: string, ask: () => Promise<HeldToken | Outcome>): Promise<HeldToken | Outcome>
  /** Forgets a token that was refused, unless another took its place meanwhile. */
  forget(world: World, account: string, token: HeldToken): void
}

interface Held {
  token: HeldToken | undefined
  asking: Promise<HeldToken | Outcome> | undefined
}

/** What the send comes to that got no token: it is the account that was refused; and perhaps one was granted, but nothing was sent. */
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
    // Last in line again: the first is the one that was not used for longest.
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
