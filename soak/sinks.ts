// The sinks as the harness sees them: started once for a scene, asked for what arrived.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import type { Behaviour } from './sink/behaviour.ts'
import type { Receipt } from './sink/record.ts'

export class Sinks {
  /** Everything fetched so far, in the order of arrival. */
  readonly receipts: Receipt[] = []
  unreadable = 0
  private last: Promise<readonly Receipt[]> = Promise.resolve([])

  readonly httpPort: number
  readonly smtpPort: number
  private readonly child: ChildProcess

  private constructor(child: ChildProcess, { httpPort, smtpPort }: { httpPort: number; smtpPort: number }) {
    this.child = child
    this.httpPort = httpPort
    this.smtpPort = smtpPort
  }

  static async start(): Promise<Sinks> {
    const program = new URL('sink/main.ts', import.meta.url).pathname
    const child = spawn(process.execPath, ['--import', 'tsx', program], { stdio: ['pipe', 'pipe', 'inherit'] })
    const line = await new Promise<string>((resolve, reject) => {
      let text = ''
      child.stdout?.setEncoding('utf8').on('data', (part: string) => {
        text += part
        if (text.includes('\n')) resolve(text)
      })
      child.once('exit', (code) => reject(new Error(`The sinks ended with ${code}`)))
    })
    return new Sinks(child, JSON.parse(line) as { httpPort: number; smtpPort: number })
  }

  /** Fetches what arrived since the last time, and answers with that. One at a time: two would fetch the same. */
  fetch(): Promise<readonly Receipt[]> {
    const fetched = this.last.catch(() => []).then(() => this.fetchNext())
    this.last = fetched
    return fetched
  }

  private async fetchNext(): Promise<readonly Receipt[]> {
    const answer = await fetch(`http://127.0.0.1:${this.httpPort}/receipts?from=${this.receipts.length}`)
    const { receipts, unreadable } = (await answer.json()) as { receipts: Receipt[]; unreadable: number }
    for (const receipt of receipts) this.receipts.push(receipt)
    this.unreadable = unreadable
    return receipts
  }

  async behave(behaviour: Behaviour): Promise<void> {
    await fetch(`http://127.0.0.1:${this.httpPort}/behaviour?is=${behaviour}`)
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve))
    this.child.stdin?.end()
    await ended
  }
}
