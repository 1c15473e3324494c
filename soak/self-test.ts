// The harness tried on itself: facts made wrong on purpose must be reported, each by its own name.
import type { Facts } from './facts.ts'
import type { Verdict } from './judge.ts'
import { countReceipts, judge } from './judge.ts'
import type { LedgerEntry } from './ledger.ts'

/** Throws when the judge overlooks a loss or a repeat. Runs after every scene, on that scene's own facts. */
export function selfTest(ledger: readonly LedgerEntry[], facts: Facts, verdict: Verdict): void {
  const once = [...countReceipts(facts)].filter(([id, count]) => count === 1 && id.endsWith(':mail')).map(([id]) => id)
  const mail = facts.receipts.find(({ id }) => id === once[0])
  if (mail !== undefined) {
    const without = facts.receipts.filter((receipt) => receipt !== mail)
    expectOneMore(ledger, { ...facts, receipts: without }, verdict, 'mailsNeverSent')
    expectOneMore(ledger, { ...facts, receipts: [...facts.receipts, mail] }, verdict, 'mailsTwiceUnmarked')
    const marks = new Map(facts.marks).set(mail.id, 1)
    expectOneMore(ledger, { ...facts, receipts: [...facts.receipts, mail], marks }, verdict, 'mailsTwiceMarked')
    const three = [...facts.receipts, mail, mail]
    expectOneMore(ledger, { ...facts, receipts: three, marks }, verdict, 'mailsTwiceUnmarked')
  }
  expectWithout(ledger, facts, verdict, 'notifications', 'notificationsLost', 'notificationsDoubled')
  expectWithout(ledger, facts, verdict, 'inApp', 'inAppLost', 'inAppDoubled')
  const digest = facts.digests.find(({ events: [first] }) => first !== undefined && isWhole(ledger, facts, first))
  if (digest !== undefined) {
    const shorter = { ...digest, events: digest.events.slice(1) }
    const digests = [...facts.digests.filter((one) => one !== digest), shorter]
    expectOneMore(ledger, { ...facts, digests }, verdict, 'digestEventsLost')
    const another = { ...digest, events: digest.events.slice(0, 1) }
    expectOneMore(ledger, { ...facts, digests: [...facts.digests, another] }, verdict, 'digestEventsDoubled')
  }
}

type Counted = Exclude<keyof Verdict, 'examples'>

function expectWithout(
  ledger: readonly LedgerEntry[],
  facts: Facts,
  verdict: Verdict,
  name: 'notifications' | 'inApp',
  lost: Counted,
  doubled: Counted,
): void {
  const owner = ledger.find((entry) => entry.type === 'event' && entry.workflow === 'soak-in-app')
  const key = [...facts[name].keys()].find((one) => one.startsWith(`${owner?.transactionId} `))
  if (key === undefined || facts[name].get(key) !== 1) return
  const without = new Map(facts[name])
  without.delete(key)
  expectOneMore(ledger, { ...facts, [name]: without }, verdict, lost)
  expectOneMore(ledger, { ...facts, [name]: new Map(facts[name]).set(key, 2) }, verdict, doubled)
}

function expectOneMore(ledger: readonly LedgerEntry[], facts: Facts, verdict: Verdict, name: Counted): void {
  const found = judge(ledger, facts)[name]
  if (found !== verdict[name] + 1) {
    throw new Error(
      `The harness is wrong: ${name} should be ${verdict[name] + 1} after a change on purpose, not ${found}`,
    )
  }
}

/** Whether a digest's event is owed, and was reported of exactly once by either channel. */
function isWhole(ledger: readonly LedgerEntry[], facts: Facts, marker: string): boolean {
  const event = ledger.find((entry) => entry.type === 'event' && entry.marker === marker)
  if (event === undefined) return false
  if (ledger.some((entry) => entry.type === 'cancel' && entry.transactionId === event.transactionId)) return false
  const mails = new Set(facts.receipts.filter(({ events }) => events?.includes(marker)).map(({ id }) => id))
  return mails.size === 1 && facts.digests.filter(({ events }) => events.includes(marker)).length === 1
}
