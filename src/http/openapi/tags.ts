// The sections of the API reference, in the order a reader needs them.
export const tags = {
  Events: 'Trigger events for subscribers and topics; follow, cancel and simulate them.',
  Workflows: 'The steps that run when an event is triggered, and the groups that workflows are listed in.',
  Subscribers: 'The people who can be notified: their addresses, devices and preferences.',
  Topics: 'Named groups of subscribers that one trigger can address.',
  Feed: 'The in-app messages of a subscriber, and marking them as seen, read or archived.',
  Inbox: 'The API for the inbox in your pages: sessions, notifications, counts and preferences of one subscriber.',
  Messages: 'Messages that were sent, with their recipient, channel and status.',
  Activity: 'What was triggered and for whom, what happened step by step, and why.',
  Integrations: 'Accounts at providers, the catalogue of providers, and which account sends on a channel.',
  Layouts: 'The HTML around the content of e-mails; one layout is the default.',
  Translations: 'Texts by locale, for templates in several languages.',
  Outbox: 'Messages that were captured instead of sent, for development and for test suites.',
  Recovery: 'Resend what failed, cancel what is waiting, retract what was sent.',
  Counts: 'Counts over time, delivery times, the most frequent failures, and the state of the queue.',
  Webhooks: 'Endpoints of your own backend that events are sent to, and the log of deliveries.',
  Suppressions: 'Addresses that bounced, complained or opted out: nothing is sent to them.',
  Tenants: 'Your customers, if you notify people on behalf of several, and their settings.',
  Contexts: 'The objects of your own domain that events refer to, with data for templates.',
  Environments: 'The environments of the organization, and their API keys.',
  Users: 'The people who sign in to the dashboard of the organization, and their roles.',
  Dashboard: 'Signing in to the dashboard: sessions that a browser stores as a cookie.',
  Audit: 'Who changed which part of the configuration, when and from where, in a tamper-evident log.',
} as const

export type Tag = keyof typeof tags
