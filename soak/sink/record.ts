// What the sinks have received: one entry per message that arrived complete, with the marker found in its text.

export interface Receipt {
  /** `<marker>:<subscriberId>:<step>`. */
  readonly id: string
  readonly channel: 'email' | 'sms'
  readonly route: string
  readonly at: number
  /** The events that a digest lists; absent on anything else. */
  readonly events?: readonly string[]
}

const markPattern = /soak:([a-z]\d+:[a-z]\d+:[a-z]+)/
const listPattern = /\[([a-z]\d+)\]/g

export class Receipts {
  private readonly all: Receipt[] = []
  /** Messages without a marker: the harness itself would be wrong. */
  unreadable = 0

  /** `subject` holds the marker, `body` the list of a digest. */
  add(channel: Receipt['channel'], route: string, subject: string, body: string): void {
    const id = markPattern.exec(subject)?.[1]
    if (id === undefined) {
      this.unreadable++
      return
    }
    const events = id.endsWith(':digest')
      ? [...body.matchAll(listPattern)].map(([, marker]) => marker ?? '')
      : undefined
    this.all.push({ id, channel, route, at: Date.now(), ...(events === undefined ? {} : { events }) })
  }

  from(index: number): readonly Receipt[] {
    return this.all.slice(index)
  }
}
