// Settings for signing in to the dashboard by an identity provider (OpenID Connect).
import { list, oneOf, text } from './values.ts'

export interface OidcConfig {
  readonly oidcIssuer: string | undefined
  readonly oidcClientId: string | undefined
  readonly oidcClientSecret: string | undefined
  readonly oidcName: string | undefined
  readonly oidcDefaultRole: 'none' | 'viewer' | 'editor' | 'owner'
  readonly oidcDomains: readonly string[]
}

export const oidcSettings = {
  oidcIssuer: {
    variable: 'POSTHORN_OIDC_ISSUER',
    meaning:
      'The issuer of an OpenID Connect provider that users sign in to the dashboard with, such as `https://accounts.example.com`. Register `/v1/dashboard/oidc/callback` below POSTHORN_BASE_URL, which must be set, as the redirect URI. See docs/dashboard.md.',
    shownDefault: 'none',
    defaultValue: undefined,
    read: issuer,
  },
  oidcClientId: {
    variable: 'POSTHORN_OIDC_CLIENT_ID',
    meaning: 'The client id that the provider gave to this service.',
    shownDefault: 'none',
    defaultValue: undefined,
    read: text,
  },
  oidcClientSecret: {
    variable: 'POSTHORN_OIDC_CLIENT_SECRET',
    meaning: 'The secret of the client. Without it the service is a public client, which PKCE alone protects.',
    shownDefault: 'none',
    secret: true as const,
    defaultValue: undefined,
    read: text,
  },
  oidcName: {
    variable: 'POSTHORN_OIDC_NAME',
    meaning: 'What the provider is called on the sign-in page.',
    shownDefault: 'the host of POSTHORN_OIDC_ISSUER',
    defaultValue: undefined,
    read: text,
  },
  oidcDefaultRole: {
    variable: 'POSTHORN_OIDC_DEFAULT_ROLE',
    meaning:
      'The role of people who sign in by the provider and have no user yet: `viewer`, `editor` or `owner`. With `none` they are refused, and owners invite them first.',
    shownDefault: 'none',
    defaultValue: 'none' as const,
    read: oneOf('none', 'viewer', 'editor', 'owner'),
  },
  oidcDomains: {
    variable: 'POSTHORN_OIDC_DOMAINS',
    meaning:
      'Domains of e-mail addresses that may sign in by the provider, separated by commas. Set it if the provider is open to everyone and POSTHORN_OIDC_DEFAULT_ROLE is not `none`.',
    shownDefault: 'any',
    defaultValue: [],
    read: domains,
  },
}

const local = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/** Over http only on this machine: tokens would be there to read for others. */
function issuer(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isGood = url?.protocol === 'https:' || (url?.protocol === 'http:' && local.test(url.hostname))
  if (url === undefined || !isGood || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new Error('must be an https URL such as https://accounts.example.com')
  }
  // As it is written: the provider's own spelling counts, with or without a slash at its end.
  return value
}

function domains(value: string): readonly string[] {
  return list(value).map((domain) => {
    if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i.test(domain)) {
      throw new Error(`must list domains such as example.com, not "${domain}"`)
    }
    return domain.toLowerCase()
  })
}

/** What is missing of a provider that is set. */
export function oidcMistakes(values: Readonly<Record<string, unknown>>): string[] {
  if (values['oidcIssuer'] === undefined) return []
  return [
    ...(values['oidcClientId'] === undefined
      ? ['POSTHORN_OIDC_CLIENT_ID must be set together with POSTHORN_OIDC_ISSUER']
      : []),
    ...(values['baseUrl'] === undefined
      ? ['POSTHORN_BASE_URL must be set together with POSTHORN_OIDC_ISSUER: the provider sends people back to it']
      : []),
  ]
}
