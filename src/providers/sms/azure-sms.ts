// Azure Communication Services, SMS, "Send".
// https://learn.microsoft.com/rest/api/communication/sms/send

import { isFields } from '../../domain/merged.ts'
import type { SmsMessage } from '../../domain/messages/outbound-message.ts'
import { isUuid } from '../../domain/uuid-v7.ts'
import type { OutboundRequest } from '../../world/world.ts'
import { secret, text } from '../form.ts'
import { httpProvider } from '../http-provider.ts'
import { receiptOf } from '../inbound/delivery-report.ts'
import { carriesKey } from '../inbound/inbound.ts'
import { eventsOf, timestampOf } from '../inbound/inbound-body.ts'
import type { Receipt, ReceiptStatus } from '../inbound/receipt.ts'
import type { Reading } from '../reading.ts'
import { settingsOf } from '../settings.ts'
import type { AzureAccount } from './azure-account.ts'
import { azureSigned, readConnectionString } from './azure-account.ts'
import { azureOutcome, azureOutcomes } from './azure-outcome.ts'
import { internationalOf, mistakeOfSms, senderOf } from './sms-message.ts'

/** The longest text that Azure accepts. */
const recipientsMax = 100
const reportType = 'Microsoft.Communication.SMSDeliveryReportReceived'
const greetingType = 'Microsoft.EventGrid.SubscriptionValidationEvent'

/** Any other status of Azure's means that it did not arrive. */
const statuses: ReadonlyMap<string, ReceiptStatus> = new Map([['delivered', 'delivered']])

interface BatchItem {
  readonly sender: string
  readonly content: string
  readonly recipient: object
}

export const azureSms = httpProvider({
  id: 'azure-sms',
  channel: 'sms',
  name: 'Azure Communication Services',
  docsUrl: 'https://learn.microsoft.com/rest/api/communication/sms/send',
  evidence: { source: 'vendor' },
  features: ['sender per message', 'Unicode'],
  idempotent: true,
  form: {
    accessKey: secret('Connection string', {
      description: 'From the Communication Services resource: its endpoint and one of its two keys.',
      placeholder: 'endpoint=https://contoso.communication.azure.com/;accesskey=…',
      mistake: (value) => {
        const account = readConnectionString(value)
        return 'mistake' in account ? account.mistake : undefined
      },
    }),
    from: text('From', {
      description: 'A number in E.164, a short code or a sender name that the resource owns.',
      placeholder: '+18335550100',
    }),
  },

  recipientMembers: ['smsRecipients'],

  request(message, account) {
    const mistake = mistakeOfSms(message)
    if (mistake !== undefined) return mistake
    const { smsSendOptions } = message.customData ?? {}
    return sendRequest(account.accessKey, {
      from: senderOf(message, account),
      smsRecipients: [recipientOf(message)],
      message: message.content,
      smsSendOptions: {
        ...(isFields(smsSendOptions) ? smsSendOptions : {}),
        enableDeliveryReport: true,
        tag: message.id,
      },
      ...settingsOf(message, ['from', 'smsRecipients', 'message', 'smsSendOptions']),
    })
  },

  sign: (request, { accessKey }, now) => azureSigned(request, resourceOf(accessKey).key, now),

  outcome: azureOutcome,

  batch: {
    max: recipientsMax,
    // One text from one sender, to all of them.
    key: ({ content, from, passthrough, customData }) =>
      passthrough === undefined && customData === undefined ? JSON.stringify([from ?? '', content]) : undefined,
    item: (message, account) =>
      mistakeOfSms(message) ??
      ({
        sender: senderOf(message, account),
        content: message.content,
        recipient: recipientOf(message),
      } satisfies BatchItem),
    request(items, { accessKey }) {
      const all = items as readonly BatchItem[]
      return sendRequest(accessKey, {
        from: all[0]?.sender,
        smsRecipients: all.map(({ recipient }) => recipient),
        message: all[0]?.content,
        // A tag belongs to the whole request: reports on these are matched by Azure's own ids.
        smsSendOptions: { enableDeliveryReport: true },
      })
    },
    outcomes: azureOutcomes,
  },

  probe: {
    request: ({ accessKey }) => ({
      url: `${resourceOf(accessKey).endpoint}/phoneNumbers?api-version=2022-12-01&top=1`,
      method: 'GET',
      headers: { accept: 'application/json' },
    }),
    field: 'accessKey',
    words: ['error.message', 'error.code'],
  },

  receipts: {
    setUp:
      'Azure does not sign its requests: add an Event Grid subscription in the Event Grid schema for “SMS Delivery Report Received”, with a webhook to the webhook URL of this integration, with its key as `?token=…`.',
    read: (call) => eventsOf(call).flatMap(receiptIn),
    greet(call, { key }) {
      if (!carriesKey(call, key)) return undefined
      const greeting = eventsOf(call).find((event) => typeOf(event) === greetingType)
      const code = greeting?.id('data.validationCode')
      return code === undefined ? undefined : JSON.stringify({ validationResponse: code })
    },
  },
})

/** The form has checked it; one that is invalid nevertheless is reported as a misconfigured account. */
function resourceOf(accessKey: string): AzureAccount {
  const account = readConnectionString(accessKey)
  if ('mistake' in account) throw new Error(`credentials.accessKey ${account.mistake}`)
  return account
}

function sendRequest(accessKey: string, body: object): OutboundRequest {
  return {
    url: `${resourceOf(accessKey).endpoint}/sms?api-version=2021-03-07`,
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

function recipientOf({ id, to: number }: SmsMessage): object {
  const to = internationalOf(number)
  if (!isUuid(id)) return { to }
  // Our id was created with the message, so that its timestamp is the same on every attempt.
  const madeAt = new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16))
  return { to, repeatabilityRequestId: id, repeatabilityFirstSent: madeAt.toUTCString() }
}

/** Events have a `type` in the CloudEvents schema. */
const typeOf = (event: Reading): string | undefined => event.string('eventType') ?? event.string('type')

function receiptIn(event: Reading): readonly Receipt[] {
  const status = event.string('data.deliveryStatus')
  if (typeOf(event) !== reportType || status === undefined) return []
  return receiptOf({
    status: statuses.get(status.toLowerCase()) ?? 'failed',
    reference: event.string('data.tag'),
    providerMessageId: event.id('data.messageId'),
    address: event.string('data.to'),
    at: timestampOf(event.string('data.receivedTimestamp')),
    words: event.string('data.deliveryStatusDetails'),
    row: event.value(''),
  })
}
