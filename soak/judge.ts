// The verdict: the ledger on one side, the facts on the other. Pure, so that it can be tried with facts made wrong on purpose.
import type { Facts } from './facts.ts'
import { totalOf } from './facts.ts'
import type { CancelEntry, EventEntry, LedgerEntry } from './ledger.ts'
import { membersOf } from './people.ts'
import { cancelSeconds, delaySeconds, workflowOf } from './workflows.ts'

export interface Verdict {
  events: number
  notifications: number
  notificationsLost: number
  notificationsDoubled: number
  inApp: number
  inAppLost: number
  inAppDoubled: number
  mails: number
  mailsNeverSent: number
  mailsTwiceMarked: number
  mailsTwiceUnmarked: number
  sms: number
  smsLost: number
  smsSkippedMarked: number
  smsTwiceMarked: number
  smsTwiceUnmarked: number
  digestEvents: number
  digestEventsLost: number
  digestEventsDoubled: number
  cancelledYetDelivered: number
  /** E-mails after a delay that came before its end. */
  delaysEarly: number
  jobsFailed: number
  buried: number
  unfinished: number
  /** The first few of each kind, for whoever looks for the reason. */
  readonly examples: Record<string, string[]>
}

/** What must be 0. */
export const mustBeZero = [
  'notificationsLost',
  'notificationsDoubled',
  'inAppLost',
  'inAppDoubled',
  'mailsNeverSent',
  'mailsTwiceUnmarked',
  'smsLost',
  'smsTwiceUnmarked',
  'digestEventsLost',
  'digestEventsDoubled',
  'cancelledYetDelivered',
  'delaysEarly',
  'jobsFailed',
  'buried',
  'unfinished',
] as const

const examplesMax = 10
/** A cancel that was acknowledged this long before the end of the wait must have had its effect. */
const cancelMarginMs = 500

export const isClean = (verdict: Verdict): boolean => mustBeZero.every((name) => verdict[name] === 0)

export function judge(ledger: readonly LedgerEntry[], facts: Facts): Verdict {
  const verdict: Verdict = { ...emptyVerdict(), examples: {} }
  const cancels = new Map<string, CancelEntry>()
  for (const entry of ledger) if (entry.type === 'cancel') cancels.set(entry.transactionId, entry)
  const received = countReceipts(facts)
  const digests = countDigests(facts)
  for (const entry of ledger) {
    if (entry.type !== 'event') continue
    verdict.events++
    const cancel = cancels.get(entry.transactionId)
    for (const recipient of entry.topic === undefined ? entry.recipients : membersOf(entry.topic)) {
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
  verdict.jobsFailed = facts.jobs['failed'] ?? 0
  verdict.buried = facts.buried
  verdict.unfinished = totalOf(facts.unfinished)
  if (verdict.unfinished > 0) note(verdict, 'unfinished', JSON.stringify(facts.unfinished))
  return verdict
}

type Count = Exclude<keyof Verdict, 'examples'>

function note(verdict: Verdict, kind: string, example: string): void {
  verdict.examples[kind] ??= []
  const list = verdict.examples[kind]
  if (list.length < examplesMax) list.push(example)
}

function add(verdict: Verdict, kind: Count, example: string): void {
  verdict[kind]++
  note(verdict, kind, example)
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
  return steps.map((step) => facts.inApp.get(`${entry.transactionId} ${recipient} ${step}`) ?? 0)
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
  if (inApp === 0 || mails === 0) add(verdict, 'digestEventsLost', `${key}: in-app ${inApp}, e-mails ${mails}`)
}

function judgeMails(
  verdict: Verdict,
  entry: EventEntry,
  recipient: string,
  facts: Facts,
  received: ReadonlyMap<string, number>,
): void {
  for (const step of workflowOf(entry.workflow).owed.mails) {
    const id = `${entry.marker}:${recipient}:${step}`
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
  for (const step of workflowOf(entry.workflow).owed.sms) {
    const id = `${entry.marker}:${recipient}:${step}`
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

function emptyVerdict(): Record<Count, number> {
  return {
    ...{ events: 0, notifications: 0, notificationsLost: 0, notificationsDoubled: 0 },
    ...{ inApp: 0, inAppLost: 0, inAppDoubled: 0 },
    ...{ mails: 0, mailsNeverSent: 0, mailsTwiceMarked: 0, mailsTwiceUnmarked: 0 },
    ...{ sms: 0, smsLost: 0, smsSkippedMarked: 0, smsTwiceMarked: 0, smsTwiceUnmarked: 0 },
    ...{ digestEvents: 0, digestEventsLost: 0, digestEventsDoubled: 0, cancelledYetDelivered: 0, delaysEarly: 0 },
    ...{ jobsFailed: 0, buried: 0, unfinished: 0 },
  }
}
