// The built-in e-mail: messages are kept to be looked at, without an account anywhere.
import { provider } from '../provider.ts'

export const platformEmail = provider({
  id: 'platform-email',
  channel: 'email',
  name: 'Platform Email',
  docsUrl: '/docs',
  form: {},
})
