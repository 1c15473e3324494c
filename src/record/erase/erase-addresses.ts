// The addresses of an erased person: on the suppression list they become hashes and stay suppressed.
import type { Tx } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'
import { hiddenAddress } from '../../domain/people/erasure.ts'
import type { SuppressionChannel } from '../../domain/people/suppression.ts'
import { comparedAddress } from '../../domain/people/suppression.ts'
import { findAddressKey } from '../../store/operate/installation.ts'
import { hideSuppressions } from '../../store/people/suppressions.ts'
import type { World } from '../../world/world.ts'

export interface PersonalAddress {
  readonly channel: SuppressionChannel
  readonly address: string
}

/** Of people, messages, and recipients as they were given. */
export function addressesOf(
  holders: readonly { readonly email?: unknown; readonly phone?: unknown }[],
): PersonalAddress[] {
  const found = holders.flatMap(({ email, phone }) => [...listed('email', email), ...listed('sms', phone)])
  return [...new Map(found.map((one) => [`${one.channel}/${one.address}`, one])).values()]
}

function listed(channel: SuppressionChannel, address: unknown): PersonalAddress[] {
  if (typeof address !== 'string' || address === '') return []
  return [{ channel, address: comparedAddress(channel, address) }]
}

/** How many of them were on the list. */
export async function hideAddresses(
  tx: Tx,
  world: World,
  environment: Environment,
  addresses: readonly PersonalAddress[],
): Promise<number> {
  if (addresses.length === 0) return 0
  const key = await findAddressKey(tx, world.sealer, environment)
  if (key === undefined) throw new Error('An erasure is running in an environment without an address key')
  const hidden = addresses.map((one) => ({ ...one, hidden: hiddenAddress(key, one.channel, one.address) }))
  return hideSuppressions(tx, environment, hidden)
}
