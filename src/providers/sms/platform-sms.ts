// The built-in SMS: messages are captured for inspection, without an account anywhere.
import { captured, refused } from '../../domain/delivery/outcome.ts'
import { provider } from '../provider.ts'

export const platformSms = provider({
  id: 'platform-sms',
  channel: 'sms',
  name: 'Platform SMS',
  docsUrl: '/docs',
  evidence: { source: 'ours' },
  form: {},

  async send(_world, { id, to, content }) {
    if (to === '') return refused('bad-recipient', 'The message has no phone number')
    if (content === '') return refused('bad-content', 'The message has no content')
    return captured(id)
  },
})
