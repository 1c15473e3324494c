// The addresses that requests with a key may come from.
import { BlockList, isIP } from 'node:net'
import { Problem } from '../../domain/problem.ts'
import { addNetwork } from '../../world/outbound/address.ts'

/** Undefined where any will do. What is stored was checked before: an entry that cannot be read opens nothing. */
export function allowListOf(entries: readonly string[] | null): BlockList | undefined {
  if (entries === null) return undefined
  const list = new BlockList()
  for (const entry of entries) addNetwork(list, entry)
  return list
}

export function throwIfElsewhere(list: BlockList, address: string): void {
  const family = isIP(address)
  // Where both kinds of addresses are listened to, version 4 comes as `::ffff:10.1.2.3`: a BlockList knows it for what it is.
  if (family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')) return
  throw new Problem(403, 'This API key may not be used from this address')
}
