// How many of an integration's latest calls reported an unregistered device: if most do, the account is to blame.
import { BoundedMap } from '../domain/bounded-map.ts'

export interface TokenDeaths {
  /** One more call that reported whether its device exists. */
  note(integrationId: string, isDead: boolean): void
  /** Whether its word on a device can be believed. */
  mayPrune(integrationId: string): boolean
}

/** Fewer say nothing of an account: a person may well have lost three phones of four. */
const callsMin = 20
const callsKept = 200
/**
 * A wrong app id or certificate makes every device look unregistered; people who left an app are fewer than those who
 * stayed.
 */
const deadShareMax = 0.5
const integrationsKept = 1_000

export function createTokenDeaths(): TokenDeaths {
  const calls = new BoundedMap<string, boolean[]>(integrationsKept)
  return {
    note(integrationId, isDead) {
      const known = calls.get(integrationId) ?? []
      if (known.push(isDead) > callsKept) known.shift()
      calls.set(integrationId, known)
    },
    mayPrune(integrationId) {
      const known = calls.get(integrationId) ?? []
      return !mostAreDead(known.filter(Boolean).length, known.length)
    },
  }
}

/** Whether this many indicate a wrong account rather than unregistered devices. */
export function mostAreDead(dead: number, calls: number): boolean {
  return calls >= callsMin && dead > calls * deadShareMax
}
