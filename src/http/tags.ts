// The sections of the API reference, in the order a reader meets them.
export const tags = {
  Workflows: 'What happens when something is triggered, as steps, and the groups that workflows are listed in.',
  Events: 'Saying that something happened, and to whom it should be told.',
  Activity: 'What was triggered, for whom, and what became of it, step by step.',
  Counts: 'How much of what happened over time, how long it took, what failed most, and what waits.',
  Mending: 'Sending again what failed, calling off what waits, taking back what was said.',
  Subscribers: 'The people who can be told something, and what each can be reached by.',
  Topics: 'Named groups of subscribers, so that one call can address them all.',
  Feed: 'What a subscriber sees in the app, and what they do with it.',
  Messages: 'What was said to whom on which channel, and what became of it.',
  Outbox: 'What was kept instead of sent, to be looked at by people and by test suites.',
  Integrations: 'Accounts at providers, the catalogue of providers, and which account sends on a channel.',
  Suppressions: 'Addresses that bounced, complained or opted out: nothing is sent to them.',
  Layouts: 'The frames around e-mails, of which one is the default.',
  Translations: 'Texts by locale, for templates that speak several languages.',
  Tenants: 'Your own customers, where you notify people on behalf of several, and what each wants otherwise.',
  Contexts: 'What events are about in your own terms, with data for templates.',
  Environments: 'The environments of the organization and the API keys that open them.',
  Audit: 'Who changed which part of the configuration, from where and how, as a log that cannot be changed unseen.',
} as const

export type Tag = keyof typeof tags
