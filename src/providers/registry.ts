// Every provider, by name.
import type { Channel } from '../domain/delivery/integration.ts'
import { nearMiss } from '../domain/nearest.ts'
import { chatWebhook } from './chat/chat-webhook.ts'
import { discord } from './chat/discord.ts'
import { getstream } from './chat/getstream.ts'
import { grafanaOnCall } from './chat/grafana-on-call.ts'
import { mattermost } from './chat/mattermost.ts'
import { msteams } from './chat/msteams.ts'
import { platformSlack } from './chat/platform-slack.ts'
import { rocketChat } from './chat/rocket-chat.ts'
import { ryver } from './chat/ryver.ts'
import { slack } from './chat/slack.ts'
import { telegram } from './chat/telegram.ts'
import { whatsappBusiness } from './chat/whatsapp-business.ts'
import { zulip } from './chat/zulip.ts'
import { braze } from './email/braze.ts'
import { emailWebhook } from './email/email-webhook.ts'
import { emailjs } from './email/emailjs.ts'
import { infobipEmail } from './email/infobip-email.ts'
import { mailersend } from './email/mailersend.ts'
import { mailgun } from './email/mailgun.ts'
import { mailjet } from './email/mailjet.ts'
import { mailtrap } from './email/mailtrap.ts'
import { mandrill } from './email/mandrill.ts'
import { netcore } from './email/netcore.ts'
import { nodemailer } from './email/nodemailer.ts'
import { outlook365 } from './email/outlook365.ts'
import { platformEmail } from './email/platform-email.ts'
import { plunk } from './email/plunk.ts'
import { postmark } from './email/postmark.ts'
import { resend } from './email/resend.ts'
import { sendgrid } from './email/sendgrid.ts'
import { sendinblue } from './email/sendinblue.ts'
import { ses } from './email/ses.ts'
import { sparkpost } from './email/sparkpost.ts'
import { platform } from './in-app/platform.ts'
import type { Provider } from './provider.ts'
import { apns } from './push/apns.ts'
import { appio } from './push/appio.ts'
import { expo } from './push/expo.ts'
import { fcm } from './push/fcm.ts'
import { oneSignal } from './push/one-signal.ts'
import { pushWebhook } from './push/push-webhook.ts'
import { pusherBeams } from './push/pusher-beams.ts'
import { pushpad } from './push/pushpad.ts'
import { webPush } from './push/web-push.ts'
import { africasTalking } from './sms/africas-talking.ts'
import { afroMessage } from './sms/afro-message.ts'
import { azureSms } from './sms/azure-sms.ts'
import { bandwidth } from './sms/bandwidth.ts'
import { brevoSms } from './sms/brevo-sms.ts'
import { bulkSms } from './sms/bulk-sms.ts'
import { burstSms } from './sms/burst-sms.ts'
import { clickatell } from './sms/clickatell.ts'
import { clicksend } from './sms/clicksend.ts'
import { eazySms } from './sms/eazy-sms.ts'
import { firetext } from './sms/firetext.ts'
import { fortySixElks } from './sms/forty-six-elks.ts'
import { genericSms } from './sms/generic-sms.ts'
import { gupshup } from './sms/gupshup.ts'
import { imedia } from './sms/imedia.ts'
import { infobipSms } from './sms/infobip-sms.ts'
import { isendSms } from './sms/isend-sms.ts'
import { kannel } from './sms/kannel.ts'
import { maqsam } from './sms/maqsam.ts'
import { messagebird } from './sms/messagebird.ts'
import { mobishastra } from './sms/mobishastra.ts'
import { nexmo } from './sms/nexmo.ts'
import { platformSms } from './sms/platform-sms.ts'
import { plivo } from './sms/plivo.ts'
import { ringCentral } from './sms/ring-central.ts'
import { sendchamp } from './sms/sendchamp.ts'
import { simpletexting } from './sms/simpletexting.ts'
import { sinch } from './sms/sinch.ts'
import { smsCentral } from './sms/sms-central.ts'
import { sms77 } from './sms/sms77.ts'
import { smsmode } from './sms/smsmode.ts'
import { sns } from './sms/sns.ts'
import { telnyx } from './sms/telnyx.ts'
import { termii } from './sms/termii.ts'
import { twilio } from './sms/twilio.ts'
import { unifonic } from './sms/unifonic.ts'

const known: Provider[] = [
  platform,
  emailjs,
  mailgun,
  mailjet,
  mandrill,
  nodemailer,
  postmark,
  sendgrid,
  sendinblue,
  ses,
  netcore,
  infobipEmail,
  resend,
  plunk,
  mailersend,
  mailtrap,
  outlook365,
  platformEmail,
  sparkpost,
  emailWebhook,
  braze,
  clickatell,
  nexmo,
  plivo,
  sms77,
  smsCentral,
  sns,
  telnyx,
  twilio,
  gupshup,
  firetext,
  infobipSms,
  burstSms,
  bulkSms,
  isendSms,
  fortySixElks,
  kannel,
  maqsam,
  termii,
  africasTalking,
  platformSms,
  sendchamp,
  genericSms,
  clicksend,
  bandwidth,
  messagebird,
  simpletexting,
  azureSms,
  ringCentral,
  brevoSms,
  eazySms,
  mobishastra,
  afroMessage,
  unifonic,
  smsmode,
  imedia,
  sinch,
  fcm,
  apns,
  expo,
  oneSignal,
  pushpad,
  pushWebhook,
  pusherBeams,
  appio,
  webPush,
  slack,
  discord,
  msteams,
  mattermost,
  ryver,
  zulip,
  grafanaOnCall,
  getstream,
  rocketChat,
  whatsappBusiness,
  chatWebhook,
  platformSlack,
  telegram,
]

/** Ours, and the operator's own that were loaded. */
export const providers: readonly Provider[] = known

const byId = new Map(known.map((provider) => [provider.id, provider]))

/** Only before the service starts: running code relies on a fixed set of providers. */
export function addProvider(provider: Provider): void {
  known.push(provider)
  byId.set(provider.id, provider)
}

export function providerOf(id: string): Provider | undefined {
  return byId.get(id)
}

/** The provider that the caller most likely meant: of the channel, where one is given. */
export function nearestProvider(id: string, channel?: Channel): Provider | undefined {
  const ofChannel = providers.filter((provider) => channel === undefined || provider.channel === channel)
  const found = nearMiss(
    id,
    ofChannel.map((provider) => provider.id),
  )
  return found === undefined ? undefined : byId.get(found)
}
