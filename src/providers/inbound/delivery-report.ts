// A vendor's report on one message as a receipt; undefined if it names no status or no message.
import { isUuid } from '../../domain/uuid-v7.ts'
import type { Receipt, ReceiptStatus } from './receipt.ts'

/** Everything but the row may be missing: it is whatever the vendor wrote. */
export interface DeliveryReport {
  readonly status: ReceiptStatus | undefined
  /** The reference that was returned, if it is ours: an account may also be used by others. */
  readonly reference?: string | undefined
  readonly providerMessageId?: string | undefined
  readonly address?: string | undefined
  readonly at?: Date | undefined
  readonly words?: string | undefined
  readonly row: unknown
}

export function receiptOf({ status, reference = '', row, ...rest }: DeliveryReport): readonly Receipt[] {
  const messageId = isUuid(reference) ? reference : undefined
  if (status === undefined || (messageId ?? rest.providerMessageId) === undefined) return []
  const { providerMessageId, address, at, words } = rest
  return [
    {
      status,
      ...(messageId === undefined ? {} : { messageId }),
      ...(providerMessageId === undefined ? {} : { providerMessageId }),
      ...(address === undefined || address === '' ? {} : { address }),
      ...(at === undefined ? {} : { at }),
      ...(words === undefined || words === '' ? {} : { words }),
      row,
    },
  ]
}
