// The operator's list of private hosts that may be reached, matched against the terms of a request.
import { BlockList, isIP } from 'node:net'
import type { AllowEntry } from '../../config/outbound-allow.ts'
import { addNetwork } from './address.ts'

/** How a host is reached, and who chose it. */
export interface Terms {
  readonly scheme: 'http' | 'https' | 'smtp'
  readonly port: number
  /** The address is a subscriber's or came with an event. */
  readonly isTheirs?: boolean | undefined
}

export interface AllowList {
  /** Whether it holds this very name. */
  holdsName(host: string, terms: Terms | undefined): boolean
  holds(host: string, address: string, terms: Terms | undefined): boolean
}

interface Rule {
  readonly entry: AllowEntry
  readonly name: string | undefined
  readonly networks: BlockList
}

export function createAllowList(
  entries: readonly (AllowEntry | string)[],
  plainHost: (host: string) => string,
): AllowList {
  const rules = entries.map((given): Rule => {
    const entry = typeof given === 'string' ? { host: given, accountsOnly: false } : given
    const networks = new BlockList()
    const isNetwork = addNetwork(networks, entry.host)
    return { entry, name: isNetwork ? undefined : plainHost(entry.host), networks }
  })
  return {
    holdsName: (host, terms) => rules.some(({ entry, name }) => name === host && fits(entry, terms)),
    holds: (host, address, terms) =>
      rules.some(
        ({ entry, name, networks }) =>
          (name === host || networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) && fits(entry, terms),
      ),
  }
}

/** What is not known of a call is not allowed to it. */
function fits({ way, accountsOnly }: AllowEntry, terms: Terms | undefined): boolean {
  if (accountsOnly && terms?.isTheirs !== false) return false
  return way === undefined || (way.scheme === terms?.scheme && way.port === terms.port)
}
