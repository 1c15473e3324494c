// The sections of the API reference, in the order a reader needs them.
export const tags = {
  Events: 'Reporting that something happened, and for whom; following and cancelling it; simulating it.',
  Workflows: 'What happens when something is triggered, as steps, and the groups that workflows are listed in.',
  Subscribers: 'The people who can be notified, what each can be reached by, and what each prefers.',
  Topics: 'Named groups of subscribers, so that one call can address them all.',
  Feed: 'What a subscriber sees in the app, and what they do with it.',
  Inbox: 'What pages call on behalf of a subscriber: sessions, notifications, counts and preferences.',
  Messages: 'What was sent to whom on which channel, and its status.',
  Activity: 'What was triggered, for whom, and what happened, step by step; and why.',
  Integrations: 'Accounts at providers, the catalogue of providers, and which account sends on a channel.',
  Layouts: 'The frames around e-mails, of which one is the default.',
  Translations: 'Texts by locale, for templates in several languages.',
  Outbox: 'Messages that were captured instead of sent, for people and for test suites.',
  Recovery: 'Sending again what failed, cancelling what waits, taking back what was sent.',
  Counts: 'Numbers over time, delivery times, the most frequent failures, and the queue.',
  Suppressions: 'Addresses that bounced, complained or opted out: nothing is sent to them.',
  Tenants: 'Your own customers, where you notify people on behalf of several, and their settings.',
  Contexts: 'What events are about in your own terms, with data for templates.',
  Environments: 'The environments of the organization and the API keys that open them.',
  Dashboard: 'Signing in to the dashboard: sessions that a browser holds as a cookie.',
  Audit: 'Who changed which part of the configuration, from where and how, as a log that cannot be changed unnoticed.',
} as const

export type Tag = keyof typeof tags
