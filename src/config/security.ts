// Settings that close what others may not see or reach, and that tell whom to believe.
import { isIP } from 'node:net'
import { apiKey, list, oneOf } from './values.ts'

export interface SecurityConfig {
  readonly operatorReach: 'on' | 'off'
  readonly revealSecrets: 'on' | 'off'
  readonly trustedProxies: readonly string[]
  readonly metricsKey: string | undefined
  readonly docs: 'on' | 'off'
  readonly dashboard: 'on' | 'off'
}

export const securitySettings = {
  operatorReach: {
    variable: 'POSTHORN_OPERATOR_REACH',
    meaning:
      'Whether the addresses of integrations (`baseUrl`, mail servers and the like) may be private: `on`, or `off` for those in POSTHORN_OUTBOUND_ALLOW alone. Switch it off where holders of full keys must not reach your network.',
    shownDefault: 'on',
    defaultValue: 'on' as const,
    read: oneOf('on', 'off'),
  },
  revealSecrets: {
    variable: 'POSTHORN_REVEAL_SECRETS',
    meaning:
      'Whether full keys read the secrets of integrations in clear: `on`, where each key’s first look at each integration in an hour stands in the audit log, or `off`: they read `[hidden]`, and saving that keeps the secret that is stored.',
    shownDefault: 'on',
    defaultValue: 'on' as const,
    read: oneOf('on', 'off'),
  },
  trustedProxies: {
    variable: 'POSTHORN_TRUSTED_PROXIES',
    meaning:
      'Addresses and networks of the proxies in front of the service, separated by commas: what they write into `X-Forwarded-For` is taken for the caller’s address, in the audit log and where failed authentications are counted.',
    shownDefault: 'none: the address of the connection counts',
    defaultValue: [],
    read: addressesAndNetworks,
  },
  metricsKey: {
    variable: 'POSTHORN_METRICS_KEY',
    meaning: 'Closes `/metrics` to whoever does not send `Authorization: Bearer` and this key.',
    shownDefault: 'none: open to all who reach the port',
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
    meaning:
      'Whether the dashboard is served, and `npm start` builds it when its sources changed: `on` or `off`. Its sessions are calls of the API like any other: `off` saves the build, and hides the pages.',
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
