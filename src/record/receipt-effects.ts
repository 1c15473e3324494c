// What a receipt does to a message: forward, never back; a report that comes twice, or late, does no harm.
import { sendErrorOf } from '../domain/after-outcome.ts'
import type { DetailCode, StoredDetail } from '../domain/execution-detail.ts'
import { detail } from '../domain/execution-detail.ts'
import type { Integration } from '../domain/integration.ts'
import type { NewSuppression, SuppressionChannel, SuppressionReason } from '../domain/suppression.ts'
import { addressMistake, comparedAddress } from '../domain/suppression.ts'
import type { Receipt, ReceiptStatus } from '../providers/receipt.ts'
import type { ReportedChange, ReportedMessage } from '../store/messages/receipts.ts'

export interface ReceiptEffect {
  /** Undefined where everything was told before. */
  readonly change: ReportedChange | undefined
  readonly details: readonly StoredDetail[]
  readonly suppressions: readonly NewSuppression[]
  /** Those of the receipts that told something new. */
  readonly news: readonly Receipt[]
}

const detailCodes: Readonly<Record<ReceiptStatus, DetailCode>> = {
  queued: 'receiptQueued',
  sent: 'receiptGood',
  deferred: 'receiptWaiting',
  delivered: 'receiptGood',
  opened: 'receiptRead',
  clicked: 'receiptRead',
  failed: 'receiptFailed',
  rejected: 'receiptFailed',
  bounced: 'receiptFailed',
  complained: 'receiptFailed',
  unsubscribed: 'receiptFailed',
}
/** Only of these does nothing more come that could contradict. */
const arrivals: ReadonlySet<string> = new Set<ReceiptStatus>(['delivered', 'opened', 'clicked'])
const failures: ReadonlySet<string> = new Set<ReceiptStatus>(['failed', 'rejected', 'bounced'])
const suppressing: Partial<Record<ReceiptStatus, SuppressionReason>> = {
  bounced: 'bounced',
  complained: 'complained',
  unsubscribed: 'opted_out',
}
/** A recipient of a copy is told of too; beyond so many, what is new about a message is not worth a longer row. */
const receiptsPerMessageMax = 50
const wordsMax = 1_000

/** The receipts are those of this message, in the order in which they came. */
export function receiptEffect(
  message: ReportedMessage,
  receipts: readonly Receipt[],
  { providerId }: Pick<Integration, 'providerId'>,
  now: Date,
): ReceiptEffect {
  const told: Record<string, string> = {}
  const details: StoredDetail[] = []
  const suppressions: NewSuppression[] = []
  const news: Receipt[] = []
  let standing: Pick<ReportedChange, 'status' | 'error' | 'deliveredAt'> = {}
  for (const receipt of receipts) {
    const isOwn = isOwnAddress(message, receipt.address)
    const name = isOwn ? receipt.status : `${receipt.status} ${receipt.address}`
    const known = { ...message.receipts, ...told }
    if (name in known || Object.keys(known).length >= receiptsPerMessageMax) continue
    const at = momentOf(receipt, message, now)
    if (isOwn) standing = { ...standing, ...standingAfter(message, receipt, known, at) }
    told[name] = at.toISOString()
    news.push(receipt)
    const words = `${(receipt.words ?? receipt.status).slice(0, wordsMax)} - (${receipt.status})`
    details.push(detail(at, detailCodes[receipt.status], { words, providerId, raw: receipt.row }))
    suppressions.push(...suppressionOf(message, receipt))
  }
  const isNew = news.length > 0
  return { change: isNew ? { id: message.id, receipts: told, ...standing } : undefined, details, suppressions, news }
}

function standingAfter(
  { channel, status }: ReportedMessage,
  receipt: Receipt,
  known: Readonly<Record<string, string>>,
  at: Date,
): Pick<ReportedChange, 'status' | 'error' | 'deliveredAt'> {
  const knows = (statuses: ReadonlySet<string>): boolean => Object.keys(known).some((name) => statuses.has(name))
  if (failures.has(receipt.status)) {
    // A mailbox may bounce what its server took; anything else that comes after an arrival is out of order.
    if (receipt.status !== 'bounced' && knows(arrivals)) return {}
    return { status: 'error', error: sendErrorOf(channel, receipt.words ?? `The provider reported: ${receipt.status}`) }
  }
  const deliveredAt = receipt.status === 'delivered' ? { deliveredAt: at } : {}
  const isProof = arrivals.has(receipt.status) || (receipt.status === 'sent' && status === 'warning')
  return isProof && status !== 'sent' && !knows(failures) ? { status: 'sent', ...deliveredAt } : deliveredAt
}

/** What the vendor says, where it can be true. */
function momentOf({ at }: Receipt, { createdAt }: ReportedMessage, now: Date): Date {
  return at !== undefined && at >= createdAt && at <= now ? at : now
}

/** A message has one recipient of its own; others got a copy. */
function isOwnAddress({ channel, email, phone }: ReportedMessage, address: string | undefined): boolean {
  const own = channel === 'email' ? email : channel === 'sms' ? phone : null
  if (address === undefined || own === null || !isSuppressible(channel)) return true
  if (channel === 'email') return comparedAddress('email', address) === comparedAddress('email', own)
  return digits(address) === digits(own)
}

const digits = (number: string): string => number.replace(/\D/g, '').replace(/^0+/, '')

const isSuppressible = (channel: string): channel is SuppressionChannel => channel === 'email' || channel === 'sms'

function suppressionOf({ channel, email, phone }: ReportedMessage, receipt: Receipt): NewSuppression[] {
  const reason = suppressing[receipt.status]
  if (reason === undefined || !isSuppressible(channel)) return []
  // Numbers are suppressed as the subscriber's row writes them: vendors leave out the sign.
  const given = channel === 'email' ? (receipt.address ?? email) : phone
  if (given === null) return []
  const address = comparedAddress(channel, given)
  return addressMistake(channel, address) === undefined ? [{ channel, address, reason, source: 'provider' }] : []
}
