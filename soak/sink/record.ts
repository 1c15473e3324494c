// What the sinks have received: one entry per message that arrived complete, with the marker found in its text.
import { wordsIn } from '../words.ts'

export interface Receipt {
  /** `<marker>:<subscriberId>:<step>`. */
  readonly id: string
  readonly channel: 'email' | 'sms'
  readonly route: string
  readonly at: number
  /** The address that the provider was given; several are joined by commas. */
  readonly to: string
  readonly words: string
  /** The events that a digest lists; absent on anything else. */
  readonly events?: readonly string[]
}

/** A message as it reaches a provider. */
export interface Message {
  readonly channel: Receipt['channel']
  readonly to: readonly string[]
  /** Holds the marker. */
  readonly subject: string
  /** Holds the words, or the list of a digest. */
  readonly body: string
}

const markPattern = /soak:([a-z]\d+:[a-z]\d+:[a-z]+)/
const listPattern = /\[([a-z]\d+)\]/g

export class Receipts {
  private readonly all: Receipt[] = []
  /** Messages without a marker: the harness itself would be wrong. */
  unreadable = 0

  add(route: string, { channel, to, subject, body }: Message): void {
    const id = markPattern.exec(subject)?.[1]
    if (id === undefined) {
      this.unreadable++
      return
    }
    const events = id.endsWith(':digest')
      ? [...body.matchAll(listPattern)].map(([, marker]) => marker ?? '')
      : undefined
    this.all.push({
      ...{ id, channel, route, at: Date.now(), to: to.join(','), words: wordsIn(body) },
      ...(events === undefined ? {} : { events }),
    })
  }

  from(index: number): readonly Receipt[] {
    return this.all.slice(index)
  }
}
