// Vendors' names for what happened to an e-mail.
import type { ReceiptStatus } from '../inbound/receipt.ts'

/** The status for a vendor's word; an inherited name, such as `constructor`, has none. */
export function statusUnder(
  statuses: Readonly<Record<string, ReceiptStatus>>,
  word: string | undefined,
): ReceiptStatus | undefined {
  return word !== undefined && Object.hasOwn(statuses, word) ? statuses[word] : undefined
}
