// Vendors' words for what became of an e-mail.
import type { ReceiptStatus } from '../inbound/receipt.ts'

/** The status under a vendor's word for it; a word that is none of its own, such as `constructor`, has none. */
export function statusUnder(
  statuses: Readonly<Record<string, ReceiptStatus>>,
  word: string | undefined,
): ReceiptStatus | undefined {
  return word !== undefined && Object.hasOwn(statuses, word) ? statuses[word] : undefined
}
