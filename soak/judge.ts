// The verdict: the ledger on one side, the facts on the other. Pure, so that it can be tried with facts made wrong on purpose.
import { judgeContents } from './contents.ts'
import type { Facts } from './facts.ts'
import { totalOf } from './facts.ts'
import type { CancelEntry, EventEntry, LedgerEntry } from './ledger.ts'
import { mailsOwed, recipientsOf, smsOwed } from './owed.ts'
import { isSuppressed } from './people.ts'
import type { Verdict } from './verdict.ts'
import { add, emptyCounts, note } from './verdict.ts'
import { cancelSeconds, delaySeconds, workflowOf } from './workflows.ts'

/** A cancel that was acknowledged this long before the end of the wait must have had its effect. */
const cancelMarginMs = 500

export function judge(ledger: readonly LedgerEntry[], facts: Facts): Verdict {
  const verdict: Verdict = { ...emptyCounts(), examples: {} }
  const cancels = new Map<string, CancelEntry>()
  for (const entry of ledger) if (entry.type === 'cancel') cancels.set(entry.transactionId, entry)
  const received = countReceipts(facts)
  const digests = countDigests(facts)
  for (const entry of ledger) {
    if (entry.type !== 'event') continue
    verdict.events++
    const cancel = cancels.get(entry.transactionId)
    for (const recipient of recipientsOf(entry)) {
      judgeNotification(verdict, entry, recipient, facts)
      if (entry.workflow === 'soak-digest') judgeDigestEvent(verdict, entry, recipient, digests, cancel)
      else if (entry.workflow === 'soak-cancel') judgeCancelled(verdict, entry, recipient, facts, cancel)
      else judgeInApp(verdict, entry, recipient, facts)
      judgeMails(verdict, entry, recipient, facts, received)
      judgeSms(verdict, entry, recipient, facts, received)
    }
  }
  judgeDigestMails(verdict, facts, received)
  judgeDelays(verdict, ledger, facts)
  judgeContents(verdict, ledger, facts)
  verdict.jobsFailed = facts.jobs['failed'] ?? 0
  verdict.buried = facts.buried
  verdict.unfinished = totalOf(facts.unfinished)
  if (verdict.unfinished > 0) note(verdict, 'unfinished', JSON.stringify(facts.unfinished))
  return verdict
}

function judgeNotification(verdict: Verdict, entry: EventEntry, recipient: string, facts: Facts): void {
  verdict.notifications++
  const key = `${entry.transactionId} ${recipient}`
  const count = facts.notifications.get(key) ?? 0
  if (count === 0) add(verdict, 'notificationsLost', `${key} (${entry.workflow})`)
  if (count > 1) add(verdict, 'notificationsDoubled', `${key} (${entry.workflow})`)
}

function inAppCounts(entry: EventEntry, recipient: string, facts: Facts): number[] {
  const steps = workflowOf(entry.workflow).steps.map((_, step) => step)
  return steps.map((step) => facts.inApp.get(`${entry.transactionId} ${recipient} ${step}`)?.length ?? 0)
}

function judgeInApp(verdict: Verdict, entry: EventEntry, recipient: string, facts: Facts): void {
  const { inApp } = workflowOf(entry.workflow).owed
  verdict.inApp += inApp
  const counts = inAppCounts(entry, recipient, facts)
  const key = `${entry.transactionId} ${recipient} (${entry.workflow})`
  for (let missing = counts.filter((count) => count > 0).length; missing < inApp; missing++)
    add(verdict, 'inAppLost', key)
  for (const count of counts) if (count > 1) add(verdict, 'inAppDoubled', key)
}

function judgeCancelled(
  verdict: Verdict,
  entry: EventEntry,
  recipient: string,
  facts: Facts,
  cancel: CancelEntry | undefined,
): void {
  const count = inAppCounts(entry, recipient, facts).reduce((sum, one) => sum + one, 0)
  const key = `${entry.transactionId} ${recipient} (${entry.workflow})`
  if (count > 1) add(verdict, 'inAppDoubled', key)
  const endOfWait = entry.sentAt + cancelSeconds * 1000
  if (cancel === undefined) {
    // Not cancelled after all: then it is owed like any other.
    verdict.inApp++
    if (count === 0) add(verdict, 'inAppLost', key)
  } else if (cancel.acknowledgedAt < endOfWait - cancelMarginMs && count > 0) {
    add(verdict, 'cancelledYetDelivered', key)
  }
}

function judgeDigestEvent(
  verdict: Verdict,
  entry: EventEntry,
  recipient: string,
  digests: DigestCounts,
  cancel: CancelEntry | undefined,
): void {
  const key = `${entry.environment} ${recipient} ${entry.marker}`
  const inApp = digests.inApp.get(key) ?? 0
  const mails = digests.mails.get(key)?.size ?? 0
  if (inApp > 1 || mails > 1) add(verdict, 'digestEventsDoubled', `${key}: in-app ${inApp}, e-mails ${mails}`)
  // One that was cancelled may be in a digest or not.
  if (cancel !== undefined) return
  verdict.digestEvents++
  const isMailOwed = !isSuppressed(entry.environment, recipient)
  if (inApp === 0 || (mails === 0 && isMailOwed))
    add(verdict, 'digestEventsLost', `${key}: in-app ${inApp}, e-mails ${mails}`)
}

function judgeMails(
  verdict: Verdict,
  entry: EventEntry,
  recipient: string,
  facts: Facts,
  received: ReadonlyMap<string, number>,
): void {
  for (const id of mailsOwed(entry, recipient)) {
    verdict.mails++
    judgeMail(verdict, id, received.get(id) ?? 0, facts)
  }
}

/** Every copy after the first follows an attempt whose outcome was unknown, and the details say so. */
const isExplained = (facts: Facts, id: string, count: number): boolean => count <= 1 + (facts.marks.get(id) ?? 0)

function judgeMail(verdict: Verdict, id: string, count: number, facts: Facts): void {
  if (count === 0) add(verdict, 'mailsNeverSent', id)
  if (count > 1) {
    const isMarked = isExplained(facts, id, count)
    add(verdict, isMarked ? 'mailsTwiceMarked' : 'mailsTwiceUnmarked', `${id}: ${count} times`)
  }
}

/** Whether each digest was mailed at all is judged by its events; here, whether one was mailed twice. */
function judgeDigestMails(verdict: Verdict, facts: Facts, received: ReadonlyMap<string, number>): void {
  for (const [id, count] of received) {
    if (!id.endsWith(':digest')) continue
    verdict.mails++
    judgeMail(verdict, id, count, facts)
  }
}

function judgeDelays(verdict: Verdict, ledger: readonly LedgerEntry[], facts: Facts): void {
  const sentAt = new Map<string, number>()
  for (const entry of ledger) if (entry.type === 'event') sentAt.set(entry.marker, entry.sentAt)
  for (const { id, at } of facts.receipts) {
    if (!id.endsWith(':late')) continue
    const acceptedAt = sentAt.get(id.split(':')[0] ?? '') ?? 0
    if (at < acceptedAt + delaySeconds * 1000) add(verdict, 'delaysEarly', `${id}: ${at - acceptedAt} ms`)
  }
}

function judgeSms(
  verdict: Verdict,
  entry: EventEntry,
  recipient: string,
  facts: Facts,
  received: ReadonlyMap<string, number>,
): void {
  for (const id of smsOwed(entry, recipient)) {
    const count = received.get(id) ?? 0
    // Production asks for a repeat, Development keeps the default, by which an unknown outcome ends in a skip.
    const mayBeSkipped = entry.environment === 'd' && facts.leftAlone.has(id)
    verdict.sms++
    if (count === 0) add(verdict, mayBeSkipped ? 'smsSkippedMarked' : 'smsLost', id)
    if (count > 1) {
      const isAllowed = entry.environment === 'p' && isExplained(facts, id, count)
      add(verdict, isAllowed ? 'smsTwiceMarked' : 'smsTwiceUnmarked', `${id}: ${count} times`)
    }
  }
}

export function countReceipts(facts: Pick<Facts, 'receipts'>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { id } of facts.receipts) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

interface DigestCounts {
  /** In how many in-app digests each event is. */
  readonly inApp: ReadonlyMap<string, number>
  /** In which e-mail digests. */
  readonly mails: ReadonlyMap<string, ReadonlySet<string>>
}

function countDigests(facts: Facts): DigestCounts {
  const inApp = new Map<string, number>()
  for (const { owner, events } of facts.digests) {
    for (const event of events) inApp.set(`${owner} ${event}`, (inApp.get(`${owner} ${event}`) ?? 0) + 1)
  }
  const mails = new Map<string, Set<string>>()
  for (const { id, events } of facts.receipts) {
    for (const event of events ?? []) {
      const key = `${id.charAt(0)} ${id.split(':')[1]} ${event}`
      mails.set(key, (mails.get(key) ?? new Set()).add(id))
    }
  }
  return { inApp, mails }
}
