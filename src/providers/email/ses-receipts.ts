// What Amazon SES reports of e-mails, by way of an SNS topic.
// https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html

import { receiptOf } from '../inbound/delivery-report.ts'
import { jsonOf, timestampOf } from '../inbound/inbound-body.ts'
import type { Receipt, ReceiptReader, ReceiptStatus } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { readingOfExactJson } from '../reading.ts'
import { confirmSubscription, isOurEnvelope, typeOfEnvelope } from './sns-envelope.ts'

interface Kind {
  readonly status: ReceiptStatus
  /** The field of the event with the details. */
  readonly member: string
  /** Where in it the recipients are, and their addresses in them. */
  readonly recipients?: string
  /** Where the reason is. */
  readonly words?: string
}

const kinds: Readonly<Record<string, Kind>> = {
  Send: { status: 'sent', member: 'send' },
  Delivery: { status: 'delivered', member: 'delivery', recipients: 'recipients', words: 'smtpResponse' },
  DeliveryDelay: { status: 'deferred', member: 'deliveryDelay', recipients: 'delayedRecipients', words: 'delayType' },
  Bounce: { status: 'bounced', member: 'bounce', recipients: 'bouncedRecipients', words: 'bounceSubType' },
  Complaint: {
    status: 'complained',
    member: 'complaint',
    recipients: 'complainedRecipients',
    words: 'complaintFeedbackType',
  },
  Reject: { status: 'rejected', member: 'reject', words: 'reason' },
  'Rendering Failure': { status: 'failed', member: 'failure', words: 'errorMessage' },
  Open: { status: 'opened', member: 'open' },
  Click: { status: 'clicked', member: 'click', words: 'link' },
  Subscription: { status: 'unsubscribed', member: 'subscription' },
}

export const sesReceipts: ReceiptReader<object> = {
  setUp:
    'Publish the events of the configuration set to an SNS topic and subscribe this URL to it (HTTPS, without raw message delivery); the signing key is the ARN of the topic. Amazon signs each request with its own certificate; the subscription is confirmed automatically.',
  // A question is answered by `greet`; if that failed, Amazon must notice and ask again.
  verify: async (call, proof) =>
    typeOfEnvelope(call) !== 'SubscriptionConfirmation' && (await isOurEnvelope(call, proof)),
  async greet(call, proof) {
    if (typeOfEnvelope(call) !== 'SubscriptionConfirmation' || !(await isOurEnvelope(call, proof))) return undefined
    return (await confirmSubscription(call, proof.world)) ? 'confirmed' : undefined
  },
  read(call) {
    const envelope = jsonOf(call)
    if (envelope.string('Type') !== 'Notification') return []
    return receiptsOf(readingOfExactJson(envelope.string('Message') ?? ''))
  },
}

function receiptsOf(event: Reading): Receipt[] {
  const name = event.string('eventType') ?? event.string('notificationType') ?? ''
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  if (kind === undefined || isStillSubscribed(event)) return []
  const { member, recipients, words } = kind
  const isForNow = name === 'Bounce' && event.string('bounce.bounceType') !== 'Permanent'
  return peopleOf(event, recipients && `${member}.${recipients}`).flatMap((person) =>
    receiptOf({
      status: isForNow ? 'deferred' : kind.status,
      reference: event.id('mail.tags.message_id.0'),
      providerMessageId: event.id('mail.messageId'),
      address: person.address,
      at: timestampOf(event.string(`${member}.timestamp`) ?? event.string('mail.timestamp')),
      words: person.words ?? (words && event.string(`${member}.${words}`)),
      row: event.value(''),
    }),
  )
}

interface Person {
  readonly address?: string | undefined
  readonly words?: string | undefined
}

/** At least one. It is not reported which of several recipients opens an e-mail. */
function peopleOf(event: Reading, path: string | undefined): Person[] {
  const named = path === undefined ? [] : event.list(path)
  if (path !== undefined && named.length > 0) {
    return named.map((_one, index) => ({
      address: event.string(`${path}.${index}`) ?? event.string(`${path}.${index}.emailAddress`),
      words: event.string(`${path}.${index}.diagnosticCode`),
    }))
  }
  const [address, ...others] = event.list('mail.destination')
  return [typeof address === 'string' && others.length === 0 ? { address } : {}]
}

/** A change of a person's subscriptions that removes nothing. */
function isStillSubscribed(event: Reading): boolean {
  const preferences = 'subscription.newTopicPreferences'
  const isOut = event
    .items(`${preferences}.topicSubscriptionStatus`)
    .some((topic) => topic.string('subscriptionStatus') === 'OptOut')
  return event.flag(`${preferences}.unsubscribeAll`) === false && !isOut
}
