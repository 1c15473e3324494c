// What an operator's own provider is made of: everything that ours use, passed to its file when it is loaded.
import { busy, misconfigured, refused, sent, unsure } from '../domain/delivery/outcome.ts'
import { addressed } from './email/email-message.ts'
import { mailbox } from './email/mailbox.ts'
import {
  baseAddress,
  choice,
  emailSender,
  flag,
  object,
  ofBaseUrl,
  ofEmailAddress,
  ofHost,
  ofOneLine,
  ofPort,
  ofVisibleAscii,
  optional,
  ownBaseUrl,
  secret,
  text,
} from './form.ts'
import { httpProvider, outcomeOfFailure, outcomeOfStatus } from './http-provider.ts'
import { eventsOf, formOf, jsonOf, timestampOf } from './inbound/inbound-body.ts'
import { bad, good, provider, unreachable } from './provider.ts'
import { answerOf, retryAfterMsOf, wordsOf } from './provider-answer.ts'
import { settingsOf } from './settings.ts'
import { signedForAws } from './signing/aws-signature.ts'
import { basicAuth, hmac, isRecent, isSame } from './signing/signing.ts'
import { mistakeOfSms, senderOf } from './sms/sms-message.ts'
import { digitsOf, isGsm, segmentsOf } from './sms/sms-text.ts'

export const providerKit = {
  provider,
  httpProvider,
  form: {
    text,
    secret,
    flag,
    object,
    choice,
    optional,
    ownBaseUrl,
    emailSender,
    baseAddress,
    ofBaseUrl,
    ofEmailAddress,
    ofHost,
    ofOneLine,
    ofPort,
    ofVisibleAscii,
  },
  outcome: { sent, refused, misconfigured, busy, unsure, outcomeOfStatus, outcomeOfFailure },
  answer: { answerOf, wordsOf, retryAfterMsOf },
  check: { good, bad, unreachable },
  signing: { basicAuth, hmac, isSame, isRecent, signedForAws },
  inbound: { jsonOf, formOf, eventsOf, timestampOf },
  email: { addressed, mailbox },
  sms: { mistakeOfSms, senderOf, settingsOf, digitsOf, isGsm, segmentsOf },
} as const
