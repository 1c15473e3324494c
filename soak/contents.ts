// The contents of what arrived: each message to whom it was owed, at their address, in the words of its event.
import { Addresses } from './addresses.ts'
import type { Facts } from './facts.ts'
import type { EventEntry, LedgerEntry } from './ledger.ts'
import { idOf, mailsOwed, recipientsOf, smsOwed } from './owed.ts'
import { isSuppressed } from './people.ts'
import type { Receipt } from './sink/record.ts'
import type { Verdict } from './verdict.ts'
import { add } from './verdict.ts'
import { wordsOwed } from './words.ts'
import { workflowOf } from './workflows.ts'

interface Debt {
  readonly entry: EventEntry
  readonly recipient: string
}

interface Debts {
  /** By `<transactionId> <subscriberId>`. */
  readonly notifications: ReadonlyMap<string, Debt>
  /** E-mails and SMS by the ids of their receipts; digests apart. */
  readonly messages: ReadonlyMap<string, Debt>
  /** By `<marker>:<subscriberId>:digest`: events that may be in a digest. */
  readonly digestEvents: ReadonlyMap<string, Debt>
}

export function judgeContents(verdict: Verdict, ledger: readonly LedgerEntry[], facts: Facts): void {
  const debts = debtsOf(ledger)
  const addresses = new Addresses(ledger)
  for (const key of facts.notifications.keys()) {
    if (!debts.notifications.has(key)) add(verdict, 'notOwed', `notification ${key}`)
  }
  for (const [key, texts] of facts.inApp) judgeInAppWords(verdict, debts, key, texts)
  for (const { owner, events } of facts.digests) {
    const recipient = owner.split(' ')[1] ?? ''
    judgeDigestList(verdict, debts, recipient, events, `in-app digest of ${owner}`)
  }
  for (const receipt of facts.receipts) {
    if (receipt.events === undefined) judgeMessage(verdict, debts, addresses, receipt)
    else judgeDigestMail(verdict, debts, addresses, receipt, receipt.events)
  }
}

function debtsOf(ledger: readonly LedgerEntry[]): Debts {
  const notifications = new Map<string, Debt>()
  const messages = new Map<string, Debt>()
  const digestEvents = new Map<string, Debt>()
  for (const entry of ledger) {
    if (entry.type !== 'event') continue
    for (const recipient of recipientsOf(entry)) {
      const debt = { entry, recipient }
      notifications.set(`${entry.transactionId} ${recipient}`, debt)
      for (const id of [...mailsOwed(entry, recipient), ...smsOwed(entry, recipient)]) messages.set(id, debt)
      if (entry.workflow === 'soak-digest') digestEvents.set(idOf(entry, recipient, 'digest'), debt)
    }
  }
  return { notifications, messages, digestEvents }
}

function judgeInAppWords(verdict: Verdict, debts: Debts, key: string, texts: readonly string[]): void {
  const [transactionId, recipient = '', step] = key.split(' ')
  const debt = debts.notifications.get(`${transactionId} ${recipient}`)
  if (debt === undefined) {
    add(verdict, 'notOwed', `in-app ${key}`)
    return
  }
  const name = workflowOf(debt.entry.workflow).steps[Number(step)]?.name ?? ''
  const owed = `soak:${idOf(debt.entry, recipient, name)} ${wordsOwed(debt.entry, recipient)}`
  for (const text of texts) {
    verdict.contentChecked++
    if (text !== owed) add(verdict, 'wrongWords', `in-app ${key}: “${text}”, not “${owed}”`)
  }
}

function judgeMessage(verdict: Verdict, debts: Debts, addresses: Addresses, receipt: Receipt): void {
  const { id, to, words } = receipt
  const debt = debts.messages.get(id)
  if (debt === undefined) {
    add(verdict, 'notOwed', `${receipt.channel} ${id} to ${to}`)
    return
  }
  verdict.contentChecked++
  judgeAddress(verdict, debt, addresses, receipt)
  const owed = wordsOwed(debt.entry, debt.recipient)
  if (words !== owed) add(verdict, 'wrongWords', `${id} by ${receipt.route}: “${words}”, not “${owed}”`)
}

function judgeAddress(verdict: Verdict, { entry, recipient }: Debt, addresses: Addresses, receipt: Receipt): void {
  if (!addresses.isRight(entry, recipient, receipt)) add(verdict, 'wrongAddress', `${receipt.id} to ${receipt.to}`)
}

/** The words of a digest are its list. */
function judgeDigestMail(
  verdict: Verdict,
  debts: Debts,
  addresses: Addresses,
  receipt: Receipt,
  events: readonly string[],
): void {
  const debt = debts.digestEvents.get(receipt.id)
  if (debt === undefined || isSuppressed(debt.entry.environment, debt.recipient)) {
    add(verdict, 'notOwed', `digest ${receipt.id} to ${receipt.to}`)
    return
  }
  verdict.contentChecked++
  judgeAddress(verdict, debt, addresses, receipt)
  judgeDigestList(verdict, debts, debt.recipient, events, receipt.id)
}

/** Whether every event is in one digest is judged by the ledger; here, whether a digest has others. */
function judgeDigestList(
  verdict: Verdict,
  debts: Debts,
  recipient: string,
  events: readonly string[],
  digest: string,
): void {
  for (const marker of events) {
    if (!debts.digestEvents.has(idOf({ marker }, recipient, 'digest')))
      add(verdict, 'notOwed', `${marker} in ${digest}`)
  }
}
