// The address guard: which hosts and addresses an outbound call may reach.
import { lookup as systemLookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import type { AllowEntry } from '../../config/outbound-allow.ts'
import { kindOfAddress } from './address.ts'
import type { Terms } from './allow-list.ts'
import { createAllowList } from './allow-list.ts'
import { OutboundError } from './outbound-error.ts'

/**
 * `guarded`: public addresses and those of the allow-list. `listed`: only the allow-list. `public`: as guarded, with
 * any scheme and port. `operator`: everything but metadata addresses, which no list can open either.
 */
export type Reach = 'guarded' | 'listed' | 'public' | 'operator'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

export type ResolveName = (hostname: string) => Promise<readonly ResolvedAddress[]>

export interface AddressGuard {
  /** The addresses of a host, all of them vetted. The terms are matched against the allow-list. */
  addressesOf(host: string, reach: Reach, terms?: Terms): Promise<readonly ResolvedAddress[]>
  /** `addressesOf` as sockets ask for it: the address that was vetted is the one connected to. */
  lookup(reach: Reach, terms?: Terms): LookupFunction
  /** Whether the allow-list holds this very name. */
  isListedName(host: string, terms?: Terms): boolean
}

/** Names that hand out a cloud's secrets, and never anything else. */
const metadataNames = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
])
/** Names that only mean something on the machine or network we run on. */
const privateName = /(^|\.)(localhost|local|internal|localdomain|home\.arpa)$/

/** Whether a host, as written, is one that no reach and no list opens. */
export function isMetadataHost(given: string): boolean {
  const host = plainHost(given)
  return metadataNames.has(host) || (isIP(host) !== 0 && kindOfAddress(host) === 'metadata')
}

/** Whether a host, as written, is one that a guarded call reaches only where the operator lists it; names are not resolved. */
export function isPrivateHost(given: string): boolean {
  const host = plainHost(given)
  if (isMetadataHost(host) || privateName.test(host)) return true
  return isIP(host) !== 0 && kindOfAddress(host) !== 'public'
}

const resolveBySystem: ResolveName = (hostname) => systemLookup(hostname, { all: true, verbatim: true })

export function createAddressGuard(
  allow: readonly (AllowEntry | string)[],
  resolve: ResolveName = resolveBySystem,
): AddressGuard {
  const allowed = createAllowList(allow, plainHost)

  function refuseAddress(host: string, address: string, reach: Reach, terms: Terms | undefined): void {
    const kind = kindOfAddress(address)
    if (kind === 'metadata') throw refused(host, 'is a metadata address, which is always blocked')
    if (reach === 'operator' || allowed.holds(host, address, terms)) return
    if (reach === 'listed') {
      throw refused(
        host,
        'is not allowed: only public hosts with https on port 443, or entries of POSTHORN_OUTBOUND_ALLOW',
      )
    }
    if (kind === 'private') throw refused(host, 'is a private address; add it to POSTHORN_OUTBOUND_ALLOW to allow it')
  }

  async function addressesOf(given: string, asked: Reach, terms?: Terms): Promise<readonly ResolvedAddress[]> {
    const host = plainHost(given)
    if (isMetadataHost(host)) throw refused(host, 'is a metadata address, which is always blocked')
    const reach = (asked === 'guarded' || asked === 'public') && privateName.test(host) ? 'listed' : asked
    const family = isIP(host)
    const addresses = family === 0 ? await resolvedOnce(host) : [{ address: host, family }]
    for (const { address } of addresses) refuseAddress(host, address, reach, terms)
    return addresses
  }

  /**
   * The system resolves four names at a time: callers that need one that is being resolved wait for the same result.
   */
  const asking = new Map<string, Promise<readonly ResolvedAddress[]>>()
  function resolvedOnce(host: string): Promise<readonly ResolvedAddress[]> {
    const asked = asking.get(host) ?? resolved(host).finally(() => asking.delete(host))
    asking.set(host, asked)
    return asked
  }

  async function resolved(host: string): Promise<readonly ResolvedAddress[]> {
    const addresses = await resolve(host).catch((error: unknown) => {
      throw new OutboundError('not-sent', `The name ${host} could not be resolved (${codeOf(error)})`, error)
    })
    if (addresses.length === 0) throw new OutboundError('not-sent', `The name ${host} has no address`)
    return addresses
  }

  const lookup =
    (reach: Reach, terms?: Terms): LookupFunction =>
    (hostname, options, callback) => {
      addressesOf(hostname, reach, terms).then(
        (addresses) => {
          if (options.all === true) callback(null, [...addresses])
          else callback(null, addresses[0]?.address ?? '', addresses[0]?.family ?? 0)
        },
        (error: NodeJS.ErrnoException) => callback(error, ''),
      )
    }
  return { addressesOf, lookup, isListedName: (host, terms) => allowed.holdsName(plainHost(host), terms) }
}

/** Lower case, without the brackets of an IPv6 address and the dot at the end of a full name. */
export function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}

function refused(host: string, why: string): OutboundError {
  return new OutboundError('refused-address', `${host} ${why}`)
}

export function codeOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return String(code ?? message ?? 'unknown')
}
