// Settings that restrict what others can see or reach, and that say which proxies to trust.
import { isIP } from 'node:net'
import { apiKey, list, oneOf } from './values.ts'

export interface SecurityConfig {
  readonly operatorReach: 'on' | 'off'
  readonly revealSecrets: 'on' | 'off'
  readonly unknownMembers: 'warn' | 'refuse'
  readonly trustedProxies: readonly string[]
  readonly metricsKey: string | undefined
  readonly docs: 'on' | 'off'
  readonly dashboard: 'on' | 'off'
}

export const securitySettings = {
  operatorReach: {
    variable: 'POSTHORN_OPERATOR_REACH',
    meaning:
      'Whether integrations may use private addresses (`baseUrl`, mail servers and similar): `on`, or `off` to allow only those in POSTHORN_OUTBOUND_ALLOW. Switch it off if holders of full keys must not reach your network.',
    shownDefault: 'on',
    defaultValue: 'on' as const,
    read: oneOf('on', 'off'),
  },
  revealSecrets: {
    variable: 'POSTHORN_REVEAL_SECRETS',
    meaning:
      'Whether full keys can read the secrets of integrations in plain text. With `on`, the first read of each integration by each key per hour is recorded in the audit log. With `off`, secrets read as `[hidden]`, and saving `[hidden]` keeps the stored secret.',
    shownDefault: 'on',
    defaultValue: 'on' as const,
    read: oneOf('on', 'off'),
  },
  unknownMembers: {
    variable: 'POSTHORN_UNKNOWN_MEMBERS',
    meaning:
      'What happens to a request whose body has fields that are not known: `warn` ignores them and names them in the header `Posthorn-Warnings`, `refuse` answers with 422.',
    shownDefault: 'warn',
    defaultValue: 'warn' as const,
    read: oneOf('warn', 'refuse'),
  },
  trustedProxies: {
    variable: 'POSTHORN_TRUSTED_PROXIES',
    meaning:
      'Addresses and networks of the proxies in front of the service, separated by commas. Their `X-Forwarded-For` header is trusted for the client address, in the audit log and for counting failed authentications.',
    shownDefault: 'none: the address of the connection is used',
    defaultValue: [],
    read: addressesAndNetworks,
  },
  metricsKey: {
    variable: 'POSTHORN_METRICS_KEY',
    meaning: 'Restricts `/metrics` to clients that send `Authorization: Bearer` with this key.',
    shownDefault: 'none: open to everyone who can reach the port',
    secret: true as const,
    defaultValue: undefined,
    read: apiKey,
  },
  docs: {
    variable: 'POSTHORN_DOCS',
    meaning: 'Whether `/docs` and `/openapi.json` are served: `on` or `off`.',
    shownDefault: 'on',
    defaultValue: 'on' as const,
    read: oneOf('on', 'off'),
  },
  dashboard: {
    variable: 'POSTHORN_DASHBOARD',
    meaning: 'Whether the dashboard is served: `on` or `off`. With `off`, `npm start` does not build it either.',
    shownDefault: 'on',
    defaultValue: 'on' as const,
    read: oneOf('on', 'off'),
  },
}

function addressesAndNetworks(value: string): readonly string[] {
  const entries = list(value)
  for (const entry of entries) {
    const [address = '', bits, ...rest] = entry.split('/')
    const family = isIP(address)
    const isGood = family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits ?? '0')
    if (!isGood || Number(bits ?? 0) > (family === 4 ? 32 : 128)) {
      throw new Error(`must list addresses or networks such as 10.1.0.0/16, not "${entry}"`)
    }
  }
  return entries
}
