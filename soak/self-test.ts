// The harness tried on itself: facts made wrong on purpose must be reported, each by its own name.
import type { Facts } from './facts.ts'
import { countReceipts, judge } from './judge.ts'
import type { EventEntry, LedgerEntry } from './ledger.ts'
import { idOf, recipientsOf } from './owed.ts'
import { emailOf, isMover, isSuppressed, subscriberIds } from './people.ts'
import type { Receipt } from './sink/record.ts'
import type { Counted, Verdict } from './verdict.ts'

interface Falsification {
  /** In words. */
  readonly what: string
  /** The count that must be one higher with them; absent where the scene had nothing to make wrong in this way. */
  readonly facts: Partial<Facts> | undefined
  readonly reportedAs: Counted
}

/**
 * Throws when the judge overlooks something. Runs after every clean scene, on that scene's own facts, and answers with what
 * could not be tried on them.
 */
export function selfTest(ledger: readonly LedgerEntry[], facts: Facts, verdict: Verdict): string[] {
  const events = ledger.filter((entry) => entry.type === 'event')
  const all = [
    ...falseMails(events, facts),
    ...falseAddresses(events, facts),
    ...falseRows(events, facts),
    ...falseDigests(ledger, facts),
  ]
  for (const { what, facts: wrong, reportedAs } of all) {
    if (wrong === undefined) continue
    const found = judge(ledger, { ...facts, ...wrong })[reportedAs]
    const expected = verdict[reportedAs] + 1
    if (found !== expected) {
      throw new Error(`The harness is wrong: with ${what}, ${reportedAs} should be ${expected}, not ${found}`)
    }
  }
  return all.filter((one) => one.facts === undefined).map(({ what }) => what)
}

/** A receipt that came exactly once and fits. */
function onlyReceipt(facts: Facts, fits: (receipt: Receipt, recipient: string) => boolean): Receipt | undefined {
  const counts = countReceipts(facts)
  return facts.receipts.find((one) => counts.get(one.id) === 1 && fits(one, one.id.split(':')[1] ?? ''))
}

const withReceipts = (facts: Facts, ...more: readonly Receipt[]): Partial<Facts> => ({
  receipts: [...facts.receipts, ...more],
})

const withReplaced = (facts: Facts, old: Receipt, changed: Partial<Receipt>): Partial<Facts> => ({
  receipts: facts.receipts.map((receipt) => (receipt === old ? { ...receipt, ...changed } : receipt)),
})

function falseMails(events: readonly EventEntry[], facts: Facts): Falsification[] {
  const mail = onlyReceipt(facts, ({ id }) => id.endsWith(':mail'))
  const marks = new Map(facts.marks).set(mail?.id ?? '', 1)
  const twice = mail && withReceipts(facts, mail)
  const suppressed = suppressedMail(events)
  return [
    {
      what: 'an e-mail removed',
      facts: mail && { receipts: facts.receipts.filter((receipt) => receipt !== mail) },
      reportedAs: 'mailsNeverSent',
    },
    { what: 'an e-mail twice', facts: twice, reportedAs: 'mailsTwiceUnmarked' },
    { what: 'an e-mail twice and marked', facts: twice && { ...twice, marks }, reportedAs: 'mailsTwiceMarked' },
    {
      what: 'an e-mail three times and marked once',
      facts: mail && { ...withReceipts(facts, mail, mail), marks },
      reportedAs: 'mailsTwiceUnmarked',
    },
    {
      what: 'an e-mail in other words',
      facts: mail && withReplaced(facts, mail, { words: mail.words.replace('(of ', '(of x') }),
      reportedAs: 'wrongWords',
    },
    {
      what: 'an e-mail to another subscriber as well',
      facts: mail && withReceipts(facts, { ...mail, id: idOf(markerIn(mail), otherThan(events, mail), 'mail') }),
      reportedAs: 'notOwed',
    },
    {
      what: 'an e-mail to a suppressed address',
      facts: mail && suppressed && withReceipts(facts, { ...mail, ...suppressed }),
      reportedAs: 'notOwed',
    },
  ]
}

const markerIn = ({ id }: Receipt): { marker: string } => ({ marker: id.split(':')[0] ?? '' })

/** A subscriber whom the receipt's event does not concern. */
function otherThan(events: readonly EventEntry[], receipt: Receipt): string {
  const event = events.find(({ marker }) => marker === markerIn(receipt).marker)
  const concerned = new Set(event === undefined ? [] : recipientsOf(event))
  return subscriberIds.find((id) => !concerned.has(id)) ?? ''
}

/** What would be in the receipt if the list had been ignored. */
function suppressedMail(events: readonly EventEntry[]): Pick<Receipt, 'id' | 'to'> | undefined {
  for (const event of events) {
    if (event.workflow !== 'soak-mail') continue
    const recipient = recipientsOf(event).find((one) => isSuppressed(event.environment, one))
    if (recipient !== undefined) return { id: idOf(event, recipient, 'mail'), to: emailOf(recipient) }
  }
  return undefined
}

function falseAddresses(events: readonly EventEntry[], facts: Facts): Falsification[] {
  const mail = onlyReceipt(facts, ({ id }) => id.endsWith(':mail'))
  const moved = onlyReceipt(facts, ({ id }, recipient) => id.endsWith(':mail') && isMover(recipient))
  const sms = onlyReceipt(facts, ({ channel }) => channel === 'sms')
  const digest = onlyReceipt(facts, ({ events }) => events !== undefined)
  return [
    {
      what: 'an e-mail at another address',
      facts: mail && withReplaced(facts, mail, { to: emailOf(otherThan(events, mail)) }),
      reportedAs: 'wrongAddress',
    },
    {
      what: 'an e-mail at an address that its event replaced',
      facts: moved && withReplaced(facts, moved, { to: emailOf(moved.id.split(':')[1] ?? '') }),
      reportedAs: 'wrongAddress',
    },
    {
      what: 'an SMS to another number',
      facts: sms && withReplaced(facts, sms, { to: '+9990' }),
      reportedAs: 'wrongAddress',
    },
    {
      what: 'a digest at another address',
      facts: digest && withReplaced(facts, digest, { to: emailOf('s0') }),
      reportedAs: 'wrongAddress',
    },
  ]
}

function falseRows(events: readonly EventEntry[], { notifications, inApp }: Facts): Falsification[] {
  const inAppEvents = new Set(
    events.filter(({ workflow }) => workflow === 'soak-in-app').map(({ transactionId }) => transactionId),
  )
  const isInApp = (key: string): boolean => inAppEvents.has(key.split(' ')[0] ?? '')
  const notification = [...notifications.keys()].find((key) => isInApp(key) && notifications.get(key) === 1) ?? ''
  const message = [...inApp.keys()].find((key) => isInApp(key) && inApp.get(key)?.length === 1) ?? ''
  const texts = inApp.get(message) ?? []
  const withNotification = (key: string, count: number): Partial<Facts> | undefined =>
    notification === '' ? undefined : { notifications: new Map(notifications).set(key, count) }
  const withMessage = (key: string, list: readonly string[]): Partial<Facts> | undefined =>
    message === '' ? undefined : { inApp: new Map(inApp).set(key, list) }
  return [
    { what: 'a notification removed', facts: withNotification(notification, 0), reportedAs: 'notificationsLost' },
    { what: 'a notification twice', facts: withNotification(notification, 2), reportedAs: 'notificationsDoubled' },
    {
      what: 'a notification of an event under an id that was not acknowledged',
      facts: withNotification(`other-${notification}`, 1),
      reportedAs: 'notOwed',
    },
    { what: 'an in-app message removed', facts: withMessage(message, []), reportedAs: 'inAppLost' },
    { what: 'an in-app message twice', facts: withMessage(message, [...texts, ...texts]), reportedAs: 'inAppDoubled' },
    { what: 'an in-app message in other words', facts: withMessage(message, [`${texts}!`]), reportedAs: 'wrongWords' },
    {
      what: 'an in-app message to another subscriber as well',
      facts: withMessage(message.replace(/ .* /, ' another '), texts),
      reportedAs: 'notOwed',
    },
  ]
}

function falseDigests(ledger: readonly LedgerEntry[], facts: Facts): Falsification[] {
  const { digests } = facts
  const digest = digests.find(({ events: [first] }) => first !== undefined && isWhole(ledger, facts, first))
  const mail = onlyReceipt(facts, ({ events }) => events !== undefined)
  const other = ledger.find((entry) => entry.type === 'event' && entry.workflow !== 'soak-digest')
  const foreign = other?.type === 'event' ? other.marker : ''
  return [
    {
      what: 'an event removed from a digest',
      facts: digest && {
        digests: digests.map((one) => (one === digest ? { ...one, events: one.events.slice(1) } : one)),
      },
      reportedAs: 'digestEventsLost',
    },
    {
      what: 'an event in two digests',
      facts: digest && { digests: [...digests, { ...digest, events: digest.events.slice(0, 1) }] },
      reportedAs: 'digestEventsDoubled',
    },
    {
      what: 'an event of others in a digest',
      facts: mail && withReplaced(facts, mail, { events: [...(mail.events ?? []), foreign] }),
      reportedAs: 'notOwed',
    },
  ]
}

/** Whether a digest's event is owed, and was reported of exactly once by either channel. */
function isWhole(ledger: readonly LedgerEntry[], facts: Facts, marker: string): boolean {
  const event = ledger.find((entry) => entry.type === 'event' && entry.marker === marker)
  if (event === undefined) return false
  if (ledger.some((entry) => entry.type === 'cancel' && entry.transactionId === event.transactionId)) return false
  const mails = new Set(facts.receipts.filter(({ events }) => events?.includes(marker)).map(({ id }) => id))
  return mails.size === 1 && facts.digests.filter(({ events }) => events.includes(marker)).length === 1
}
