// How many of an integration's latest calls said that the device is gone: when most do, the account is to blame.

export interface TokenDeaths {
  /** One more call that reported whether its device exists. */
  note(integrationId: string, isDead: boolean): void
  /** Whether its word on a device can be believed. */
  mayPrune(integrationId: string): boolean
}

/** Fewer say nothing of an account: a person may well have lost three phones of four. */
const callsMin = 20
const callsKept = 200
/** A wrong app id or certificate makes every device look gone; people who left an app are fewer than those who stayed. */
const deadShareMax = 0.5
const integrationsKept = 1_000

export function createTokenDeaths(): TokenDeaths {
  const calls = new Map<string, boolean[]>()
  return {
    note(integrationId, isDead) {
      const known = calls.get(integrationId) ?? []
      if (known.push(isDead) > callsKept) known.shift()
      if (calls.size >= integrationsKept && !calls.has(integrationId)) calls.clear()
      calls.set(integrationId, known)
    },
    mayPrune(integrationId) {
      const known = calls.get(integrationId) ?? []
      return !mostAreDead(known.filter(Boolean).length, known.length)
    },
  }
}

/** Whether so many say that the account is wrong, and not the devices gone. */
export function mostAreDead(dead: number, calls: number): boolean {
  return calls >= callsMin && dead > calls * deadShareMax
}
