// What the receiver of our own webhooks reports of messages that it sent on, signed as our calls to it are.

import { hmac, isRecent, isSame } from '../signing/signing.ts'
import { receiptOf } from './delivery-report.ts'
import { eventsOf, timestampOf } from './inbound-body.ts'
import type { InboundCall, ReceiptReader, ReceiptStatus } from './receipt.ts'
import { receiptStatuses } from './receipt.ts'

export const webhookReceipts: ReceiptReader<{ readonly secretKey?: string }> = {
  setUp: `Post \`{"id", "status", "timestamp", "address", "reason"}\`, or a list of them, signed in \`X-Posthorn-Signature\` like the requests of Posthorn, with the signing key or else the signing secret. \`id\` is the id of Posthorn or the one you returned; the status is one of ${receiptStatuses.join(', ')}.`,
  verify(call, { key, account, world }) {
    const secret = key || account.secretKey
    return secret !== undefined && secret !== '' && isSigned(call, secret, world.now())
  },
  read: (call) =>
    eventsOf(call).flatMap((event) =>
      receiptOf({
        status: receiptStatuses.find((status): status is ReceiptStatus => status === event.string('status')),
        reference: event.string('id'),
        providerMessageId: event.id('id'),
        address: event.string('address'),
        at: timestampOf(event.number('timestamp') ?? event.string('timestamp')),
        words: event.string('reason'),
        row: event.value(''),
      }),
    ),
}

function isSigned({ headers, body }: InboundCall, secret: string, now: Date): boolean {
  const [, seconds, given] = /^t=(\d{9,11}),v1=([0-9a-f]{64})$/.exec(headers['x-posthorn-signature'] ?? '') ?? []
  if (given === undefined || !isRecent(seconds, now)) return false
  const signed = Buffer.concat([Buffer.from(`${seconds}.`), body])
  return isSame(given, hmac('sha256', secret, signed).toString('hex'))
}
