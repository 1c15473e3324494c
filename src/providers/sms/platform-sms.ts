// The built-in SMS: messages are kept to be looked at, without an account anywhere.
import { provider } from '../provider.ts'

export const platformSms = provider({
  id: 'platform-sms',
  channel: 'sms',
  name: 'Platform SMS',
  docsUrl: '/docs',
  form: {},
})
