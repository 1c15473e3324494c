// The ledger: what the service acknowledged, on disk before it counts. The verdict is made from the file alone.
import type { FileHandle } from 'node:fs/promises'
import { open, readFile } from 'node:fs/promises'
import type { PlannedEvent } from './plan.ts'

export interface EventEntry extends Omit<PlannedEvent, 'transactionId' | 'via' | 'cancelAfterMs'> {
  readonly type: 'event'
  readonly transactionId: string
  /** When the call was first sent, and when it was acknowledged. */
  readonly sentAt: number
  readonly acknowledgedAt: number
  /** How often it was sent: more than once where an answer was lost, or where two senders sent it. */
  readonly attempts: number
}

export interface CancelEntry {
  readonly type: 'cancel'
  readonly transactionId: string
  readonly acknowledgedAt: number
  /** What the service answered: whether there was something left to cancel. */
  readonly answer: boolean
}

export type LedgerEntry = EventEntry | CancelEntry

export class Ledger {
  private waiting: { line: string; written: () => void; failed: (error: unknown) => void }[] = []
  private writing = false
  readonly path: string
  private readonly file: FileHandle

  private constructor(path: string, file: FileHandle) {
    this.path = path
    this.file = file
  }

  static async open(path: string): Promise<Ledger> {
    return new Ledger(path, await open(path, 'ax'))
  }

  /** Resolves once the entries are on disk; those that wait together share one sync. */
  append(entries: readonly LedgerEntry[]): Promise<void> {
    return new Promise((written, failed) => {
      this.waiting.push({ line: entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''), written, failed })
      if (!this.writing) void this.write()
    })
  }

  private async write(): Promise<void> {
    this.writing = true
    while (this.waiting.length > 0) {
      const batch = this.waiting
      this.waiting = []
      try {
        await this.file.appendFile(batch.map(({ line }) => line).join(''))
        await this.file.datasync()
        for (const { written } of batch) written()
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
    }
    this.writing = false
  }

  async close(): Promise<void> {
    await this.file.close()
  }
}

export async function readLedger(path: string): Promise<LedgerEntry[]> {
  const text = await readFile(path, 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LedgerEntry)
}
