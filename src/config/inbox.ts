// Settings of the inbox: who may open the demo, which pages may call, and how long a session lasts.
import { oneOf, webOrigins, wholeNumber } from './values.ts'

export interface InboxConfig {
  readonly inboxDemo: 'local' | 'on' | 'off'
  readonly inboxOrigins: readonly string[]
  readonly inboxSessionDays: number
}

export const inboxSettings = {
  inboxDemo: {
    variable: 'POSTHORN_INBOX_DEMO',
    meaning:
      'Who may open the demo inbox of Development, at `/demo/inbox` and by a session without identifiers: `local` for callers on this machine, `on` for everyone, `off` for no one.',
    shownDefault: 'local',
    defaultValue: 'local' as const,
    read: oneOf('local', 'on', 'off'),
  },
  inboxOrigins: {
    variable: 'POSTHORN_INBOX_ORIGINS',
    meaning:
      'Web origins whose pages may call the inbox routes and open its sockets, separated by commas; `*` allows any. Web views of apps have some as `capacitor://localhost`. Apps that send no origin are not restricted by it.',
    shownDefault: '*',
    defaultValue: ['*'],
    read: webOrigins,
  },
  inboxSessionDays: {
    variable: 'POSTHORN_INBOX_SESSION_DAYS',
    meaning:
      'How many days the token of an inbox session is valid. Public clients never renew one: a page that stays open longer has to be reloaded.',
    shownDefault: '15',
    defaultValue: 15,
    read: wholeNumber(1, 365),
  },
}
