// Which address a message may have gone to: the person's own, or one that they had while the event was on its way.
import type { EventEntry, LedgerEntry } from './ledger.ts'
import { emailOf, isMover, phoneOf } from './people.ts'
import type { Receipt } from './sink/record.ts'

/** An event that gave a subscriber an e-mail address, at some time between the two. */
interface Change {
  readonly address: string
  readonly sentAt: number
  readonly acknowledgedAt: number
}

export class Addresses {
  /** By environment and subscriber. */
  private readonly changes = new Map<string, Change[]>()

  constructor(ledger: readonly LedgerEntry[]) {
    for (const entry of ledger) {
      if (entry.type !== 'event') continue
      const { environment, sentAt, acknowledgedAt } = entry
      for (const { subscriberId, given } of entry.recipients) {
        if (given?.email === undefined || !isMover(subscriberId)) continue
        const key = `${environment} ${subscriberId}`
        const own = this.changes.get(key) ?? []
        own.push({ address: given.email, sentAt, acknowledgedAt })
        this.changes.set(key, own)
      }
    }
  }

  isRight(entry: EventEntry, recipient: string, { channel, to, at }: Receipt): boolean {
    if (channel === 'sms') return to === phoneOf(recipient)
    if (!isMover(recipient)) return to === emailOf(recipient)
    // Every event that names a mover gives an address, which replaces all that were given before it was sent.
    const changes = this.changes.get(`${entry.environment} ${recipient}`) ?? []
    return changes.some(
      ({ address, sentAt, acknowledgedAt }) => address === to && sentAt <= at && acknowledgedAt >= entry.sentAt,
    )
  }
}
