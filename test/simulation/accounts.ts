// The accounts of a seed at its providers, as the API takes them.
import type { Account } from './ledger.ts'

export function bodyOf({ name, channel, kind, whenUnsure }: Account): object {
  const shared = { name, identifier: name, channel, active: true }
  const baseUrl = `https://${name}.example.com`
  const from = 'hello@example.com'
  switch (kind) {
    case 'twilio': {
      const credentials = { accountSid: 'ACtest', token: 'secret', from: '+14155550100', baseUrl }
      return { ...shared, providerId: 'twilio', credentials, configurations: { whenUnsure } }
    }
    case 'mattermost':
      return { ...shared, providerId: 'mattermost', credentials: {}, configurations: { whenUnsure } }
    case 'email-webhook': {
      const credentials = { webhookUrl: `${baseUrl}/mail`, secretKey: 'secret', from }
      return { ...shared, providerId: 'email-webhook', credentials }
    }
    case 'smtp': {
      const credentials = { host: `${name}.example.com`, port: '587', from }
      return { ...shared, providerId: 'nodemailer', credentials }
    }
    case 'sendgrid':
      return { ...shared, providerId: 'sendgrid', credentials: { apiKey: 'SG.key', from, baseUrl } }
  }
}

/** Where a person is reached by chat. */
export const chatAddressOf = (person: string): object => ({
  providerId: 'mattermost',
  integrationIdentifier: 'chat-a',
  credentials: { webhookUrl: `https://chat-a.example.com/hooks/${person.replace('-', '')}` },
})
