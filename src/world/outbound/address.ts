// What an IP address is: public, private, or one of the addresses at which clouds serve secrets.
import { BlockList, isIP } from 'node:net'

export type AddressKind = 'public' | 'private' | 'metadata'

/**
 * Where clouds serve credentials to anyone who asks. The whole IPv4 link-local block is among them: besides
 * 169.254.169.254 it contains those of AWS containers (169.254.170.2, .23) and Tencent (169.254.0.23), and no relay is
 * there.
 */
const metadata = blockListOf([
  '169.254.0.0/16',
  '100.100.100.200/32', // Alibaba
  '192.0.0.192/32', // Oracle
  '168.63.129.16/32', // Azure's wire server
  'fd00:ec2::/32', // AWS
  'fd20:ce::254/128', // Google
  'fd00:c1::a9fe:a9fe/128', // Oracle
  'fd00:a9fe:a9fe::1/128', // Linode
  'fd00:42::42/128', // Scaleway
  'fe80::a9fe:a9fe/128', // OpenStack
])

/** The special-purpose registries of IANA, for IPv4. */
const privateIpv4 = blockListOf([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])

/** Only 2000::/3 is given out to the world; of that, these are tunnels, benchmarks and documentation. */
const globalIpv6 = blockListOf(['2000::/3'])
const privateIpv6 = blockListOf(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/** The kind of an address; what is no address at all counts as private. */
export function kindOfAddress(address: string): AddressKind {
  const family = isIP(address)
  if (family === 0) return 'private'
  if (family === 4) return kindOfIpv4(address)
  if (metadata.check(address, 'ipv6')) return 'metadata'
  const inner = embeddedIpv4(address)
  if (inner !== undefined) {
    const kind = kindOfIpv4(inner.address)
    return kind === 'public' && !inner.routed ? 'private' : kind
  }
  return globalIpv6.check(address, 'ipv6') && !privateIpv6.check(address, 'ipv6') ? 'public' : 'private'
}

function kindOfIpv4(address: string): AddressKind {
  if (metadata.check(address, 'ipv4')) return 'metadata'
  return privateIpv4.check(address, 'ipv4') ? 'private' : 'public'
}

/** The IPv4 address that an IPv6 one stands for. `routed`: packets to it arrive there on an ordinary network. */
function embeddedIpv4(address: string): { address: string; routed: boolean } | undefined {
  const parts = ipv6Parts(address)
  const startsWith = (...prefix: number[]): boolean => prefix.every((part, index) => parts[index] === part)
  // IPv4-mapped, and NAT64: behind DNS64 every IPv4 host of the world looks like that.
  if (startsWith(0, 0, 0, 0, 0, 0xffff)) return { address: ipv4Of(parts, 6), routed: true }
  if (startsWith(0x64, 0xff9b, 0, 0, 0, 0)) return { address: ipv4Of(parts, 6), routed: true }
  // NAT64 with a prefix of one's own network (RFC 8215).
  if (startsWith(0x64, 0xff9b, 1)) return { address: ipv4Of(parts, 6), routed: false }
  // IPv4-compatible, IPv4-translated and 6to4: relics that nothing public uses any more.
  if (startsWith(0, 0, 0, 0, 0, 0)) return { address: ipv4Of(parts, 6), routed: false }
  if (startsWith(0, 0, 0, 0, 0xffff, 0)) return { address: ipv4Of(parts, 6), routed: false }
  if (startsWith(0x2002)) return { address: ipv4Of(parts, 1), routed: false }
  return undefined
}

/** The eight 16-bit parts of a valid IPv6 address. */
function ipv6Parts(address: string): number[] {
  const [withoutZone = ''] = address.split('%')
  // The URL parser writes every form in hexadecimal, dotted tails too.
  const canonical = new URL(`http://[${withoutZone}]/`).hostname.slice(1, -1)
  const [head = '', tail] = canonical.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].map((part) => Number.parseInt(part, 16))
}

function ipv4Of(parts: readonly number[], at: number): string {
  const [high = 0, low = 0] = parts.slice(at, at + 2)
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`
}

/** `text` is an address or a network such as `10.1.0.0/16`; false when it is neither. */
export function addNetwork(list: BlockList, text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0 || address.includes('%')) return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  if (bits === undefined) {
    list.addAddress(address, type)
    return true
  }
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false
  list.addSubnet(address, Number(bits), type)
  return true
}

function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    if (!addNetwork(list, network)) throw new Error(`${network} is not a network`)
  }
  return list
}
