// The in-app feed: messages are rows in our database, and no one else is called.
import { flag } from '../form.ts'
import { provider } from '../provider.ts'

export const platform = provider({
  id: 'platform',
  channel: 'in_app',
  name: 'Platform Inbox',
  docsUrl: '/docs',
  evidence: { source: 'ours' },
  form: {
    hmac: flag('Require a subscriber hash', {
      description:
        'Sessions must include the HMAC of the subscriber id, so that no one can open the feed of another subscriber.',
    }),
  },
})
