// The sections of the API reference, in the order a reader meets them.
export const tags = {
  Subscribers: 'The people who can be told something, and what each can be reached by.',
  Topics: 'Named groups of subscribers, so that one call can address them all.',
  Integrations: 'Accounts at providers, the catalogue of providers, and which account sends on a channel.',
  Tenants: 'Your own customers, where you notify people on behalf of several.',
  Environments: 'The environments of the organization and the API keys that open them.',
} as const

export type Tag = keyof typeof tags
