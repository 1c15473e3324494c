// Every provider, by name.
import type { Channel } from '../domain/integration.ts'
import { nearest } from '../domain/nearest.ts'
import { chatWebhook } from './chat/chat-webhook.ts'
import { slack } from './chat/slack.ts'
import { emailWebhook } from './email/email-webhook.ts'
import { nodemailer } from './email/nodemailer.ts'
import { platformEmail } from './email/platform-email.ts'
import { sendgrid } from './email/sendgrid.ts'
import { platform } from './in-app/platform.ts'
import type { Provider } from './provider.ts'
import { fcm } from './push/fcm.ts'
import { pushWebhook } from './push/push-webhook.ts'
import { platformSms } from './sms/platform-sms.ts'
import { twilio } from './sms/twilio.ts'

export const providers: readonly Provider[] = [
  platform,
  platformEmail,
  nodemailer,
  sendgrid,
  emailWebhook,
  platformSms,
  twilio,
  fcm,
  pushWebhook,
  slack,
  chatWebhook,
]

const byId = new Map(providers.map((provider) => [provider.id, provider]))

export function providerOf(id: string): Provider | undefined {
  return byId.get(id)
}

/** The provider of a channel that the caller most likely meant. */
export function nearestProvider(id: string, channel: Channel): Provider | undefined {
  const ofChannel = providers.filter((provider) => provider.channel === channel)
  const found = nearest(
    id,
    ofChannel.map((provider) => provider.id),
  )
  return found === undefined ? undefined : byId.get(found)
}
