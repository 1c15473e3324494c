// What a receipt does to a message: forward, never back; a duplicate or late report does no harm.
import { sendErrorOf } from '../../domain/delivery/after-outcome.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import { ownIdOf, repeatedIdOf } from '../../domain/derived-id.ts'
import type { DetailCode, StoredDetail } from '../../domain/insight/execution-detail.ts'
import { detail } from '../../domain/insight/execution-detail.ts'
import type { NewSuppression, SuppressionChannel, SuppressionReason } from '../../domain/people/suppression.ts'
import { addressMistake, comparedAddress } from '../../domain/people/suppression.ts'
import type { WebhookEventType } from '../../domain/webhooks/webhook-event.ts'
import type { Receipt, ReceiptStatus } from '../../providers/inbound/receipt.ts'
import type { ReportedChange, ReportedMessage } from '../../store/messages/receipts.ts'

export interface ReceiptEffect {
  /** Undefined if everything was reported before. */
  readonly change: ReportedChange | undefined
  readonly details: readonly StoredDetail[]
  readonly suppressions: readonly NewSuppression[]
  /** Those of the receipts that reported something new. */
  readonly news: readonly Receipt[]
  /** Those of them that say what became of the message itself, with their events. */
  readonly reports: readonly { readonly type: WebhookEventType; readonly at: Date; readonly words: string }[]
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
/** Proof that it arrived: whatever else is reported, before or after, only a bounce contradicts it. */
const arrivals: ReadonlySet<string> = new Set<ReceiptStatus>(['delivered', 'opened', 'clicked'])
const failures: ReadonlySet<string> = new Set<ReceiptStatus>(['failed', 'rejected', 'bounced'])
const suppressing: Partial<Record<ReceiptStatus, SuppressionReason>> = {
  bounced: 'bounced',
  complained: 'complained',
  unsubscribed: 'opted_out',
}
/** Recipients of copies are reported too; beyond this many, news about them is not worth a longer row. */
const receiptsOfCopiesMax = 50
const wordsMax = 1_000

/** The receipts are those of this message, in the order in which they came. */
export function receiptEffect(
  message: ReportedMessage,
  receipts: readonly Receipt[],
  { _id, providerId }: Pick<Integration, '_id' | 'providerId'>,
  now: Date,
): ReceiptEffect {
  const reported: Record<string, string> = {}
  const details: StoredDetail[] = []
  const suppressions: NewSuppression[] = []
  const news: Receipt[] = []
  const reports: { type: WebhookEventType; at: Date; words: string }[] = []
  let state: MessageState = {}
  for (const receipt of receipts) {
    const isOwn = isOwnAddress(message, receipt.address)
    const isBefore = message.isOthers || isOfBefore(message, receipt)
    const name = nameOf(receipt, isOwn, isBefore ? _id : undefined)
    const known = { ...message.receipts, ...reported }
    // A custom provider may report unknown statuses.
    if (name in known || !Object.hasOwn(detailCodes, receipt.status)) continue
    suppressions.push(...suppressionOf(message, receipt))
    if (name.includes(' ') && copiesIn(known) >= receiptsOfCopiesMax) continue
    const at = timestampOf(receipt, message, now)
    const standing = isOwn ? standingAfter({ ...message, isOthers: isBefore }, receipt, known, at) : {}
    if (isOwn) state = merged(state, standing)
    const type = isOwn ? reportTypeOf(receipt.status, standing) : undefined
    if (type !== undefined) reports.push({ type, at, words: (receipt.words ?? receipt.status).slice(0, wordsMax) })
    reported[name] = at.toISOString()
    news.push(receipt)
    const words = `${(receipt.words ?? receipt.status).slice(0, wordsMax)} - (${receipt.status})`
    details.push(detail(at, detailCodes[receipt.status], { words, providerId, raw: receipt.row }))
  }
  const isNew = news.length > 0
  return {
    change: isNew ? { id: message.id, receipts: reported, ...state } : undefined,
    details,
    suppressions,
    news,
    reports,
  }
}

/** A failure that changes nothing, since another integration took over or the message arrived, is none. */
function reportTypeOf(status: ReceiptStatus, standing: MessageState): WebhookEventType | undefined {
  if (status === 'delivered') return 'message.delivered'
  if (status === 'unsubscribed') return 'subscriber.unsubscribed'
  if (standing.status !== 'error') return undefined
  return status === 'bounced' ? 'message.bounced' : 'message.failed'
}

/**
 * Each thing is recorded once: for the message's own recipient, for each recipient of a copy, and for each integration
 * that tried.
 */
function nameOf({ status, address }: Receipt, isOwn: boolean, otherId: string | undefined): string {
  return [status, ...(isOwn ? [] : [address]), ...(otherId === undefined ? [] : [otherId])].join(' ')
}

/**
 * It was redriven since: a report about the id under which it had failed says nothing about the message that was sent.
 */
function isOfBefore({ id, redrives }: ReportedMessage, { messageId = '' }: Receipt): boolean {
  const name = messageId.toLowerCase()
  return ownIdOf(name) === id && name !== repeatedIdOf(id, redrives)
}

type MessageState = Pick<ReportedChange, 'status' | 'error' | 'deliveredAt'>

/** A status comes with its own error, or with none. */
function merged({ error, ...before }: MessageState, after: MessageState): MessageState {
  return { ...before, ...(error === undefined || after.status !== undefined ? {} : { error }), ...after }
}

/** A report about the message's own recipient has a name without a space. */
const copiesIn = (known: object): number =>
  Object.keys(known).filter((name) => name.includes(' ') && !name.startsWith('reply ')).length

function standingAfter(
  { channel, status, isOthers }: ReportedMessage,
  receipt: Receipt,
  known: Readonly<Record<string, string>>,
  at: Date,
): MessageState {
  const knows = (statuses: ReadonlySet<string>): boolean => Object.keys(known).some((name) => statuses.has(name))
  if (failures.has(receipt.status)) {
    // It failed with the previous integration: the one that took over reports the result.
    if (isOthers) return {}
    // A mailbox may bounce what its server accepted.
    if (receipt.status !== 'bounced' && knows(arrivals)) return {}
    return { status: 'error', error: sendErrorOf(channel, receipt.words ?? `The provider reported: ${receipt.status}`) }
  }
  const deliveredAt = receipt.status === 'delivered' ? { deliveredAt: at } : {}
  const isProof =
    arrivals.has(receipt.status) || (receipt.status === 'sent' && status === 'warning' && !knows(failures))
  const isNews = status !== 'sent' || knows(failures)
  return isProof && isNews && !('bounced' in known) ? { status: 'sent', ...deliveredAt } : deliveredAt
}

/** The vendor's timestamp, if it is plausible. */
function timestampOf({ at }: Receipt, { createdAt }: ReportedMessage, now: Date): Date {
  return at !== undefined && at >= createdAt && at <= now ? at : now
}

/** A message has one recipient of its own; of an e-mail, others got a copy. */
function isOwnAddress({ channel, email }: ReportedMessage, address = ''): boolean {
  if (channel !== 'email' || email === null || address === '') return true
  return comparedAddress('email', address) === comparedAddress('email', email)
}

/** Whether an address that a vendor names is this message's, among others of the same request. */
export function isFor({ channel, email, phone, target }: ReportedMessage, address: string): boolean {
  if (channel === 'email')
    return email !== null && comparedAddress('email', address) === comparedAddress('email', email)
  return channel === 'sms' ? phone !== null && isSameNumber(address, phone) : target === address
}

/** Vendors leave out the sign, and know the country where we may not. */
function isSameNumber(one: string, other: string): boolean {
  const [longer, shorter] = [digits(one), digits(other)].sort((a, b) => b.length - a.length) as [string, string]
  return shorter.length >= nationalDigitsMin && longer.endsWith(shorter)
}

const nationalDigitsMin = 6
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
