// The entries of POSTHORN_OUTBOUND_ALLOW: which private addresses may be reached, with which scheme and port, and for
// whom.
import { isIP } from 'node:net'
import { list } from './values.ts'

export interface AllowEntry {
  /** A host name, an address, or a network such as `10.1.0.0/16`. */
  readonly host: string
  /** Left out: whatever the scheme and the port. */
  readonly way?: { readonly scheme: AllowedScheme; readonly port: number }
  /** Not for addresses that subscribers or payloads choose. */
  readonly accountsOnly: boolean
}

const ports = { https: 443, http: 80, smtp: 25 } as const
export type AllowedScheme = keyof typeof ports

const accountsMark = 'accounts+'
const wholeEntry = /^(https?|smtp):\/\/(\[[0-9a-f:.]+\]|[^/:\s[\]]+)(\/\d{1,3})?(?::(\d{1,5}))?$/i

export function outboundAllow(value: string): readonly AllowEntry[] {
  return list(value).map(entryOf)
}

function entryOf(text: string): AllowEntry {
  const accountsOnly = text.startsWith(accountsMark)
  const given = accountsOnly ? text.slice(accountsMark.length) : text
  const [, scheme, name, bits = '', port] = wholeEntry.exec(given) ?? []
  const host = name === undefined ? given : `${name.replace(/^\[(.*)\]$/, '$1')}${bits}`
  const number = Number(port ?? 1)
  if (!isHostOrNetwork(host) || number < 1 || number > 65_535) {
    throw new Error(
      `must list host names, addresses or networks, such as https://10.1.2.3:8443 or accounts+https://10.1.0.0/16, not "${text}"`,
    )
  }
  if (scheme === undefined) return { host, accountsOnly }
  const known = scheme.toLowerCase() as AllowedScheme
  return { host, way: { scheme: known, port: port === undefined ? ports[known] : number }, accountsOnly }
}

function isHostOrNetwork(host: string): boolean {
  const [address = '', bits, ...rest] = host.split('/')
  const family = isIP(address)
  if (family === 0) return /^(?!-)[a-z0-9.-]{1,253}$/i.test(host)
  return rest.length === 0 && /^\d{1,3}$/.test(bits ?? '0') && Number(bits ?? 0) <= (family === 4 ? 32 : 128)
}

/** What an entry opens beyond what its author may have meant. */
export function allowWarnings(entries: readonly AllowEntry[]): string[] {
  return entries
    .filter(({ way, accountsOnly }) => way === undefined && !accountsOnly)
    .map(
      ({ host }) =>
        `POSTHORN_OUTBOUND_ALLOW opens every port of ${host}, also for URLs from subscribers: give a scheme and a port (https://${host}:443), or use accounts+${host} to limit it to URLs of integrations and workflows`,
    )
}
