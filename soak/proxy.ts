// A TCP proxy between two processes of a run: it delays, and resets connections, on command.
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import type { Random } from '../test/support/random.ts'

export class TcpProxy {
  readonly port: number
  /** How long every piece of data waits, in either direction. */
  delayMs = 0
  private readonly pairs: Set<readonly [Socket, Socket]>
  private readonly close: () => void

  private constructor(port: number, pairs: Set<readonly [Socket, Socket]>, close: () => void) {
    this.port = port
    this.pairs = pairs
    this.close = close
  }

  static async start(target: () => number): Promise<TcpProxy> {
    const pairs = new Set<readonly [Socket, Socket]>()
    const server = createServer({ noDelay: true }, (inner) => proxy.join(inner, target()))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const proxy: TcpProxy = new TcpProxy((server.address() as AddressInfo).port, pairs, () => void server.close())
    return proxy
  }

  private join(inner: Socket, port: number): void {
    const outer = connect({ host: '127.0.0.1', port, noDelay: true })
    const pair = [inner, outer] as const
    this.pairs.add(pair)
    for (const [from, to] of [pair, [outer, inner] as const]) {
      const later = this.inOrder()
      from.on('error', () => {})
      from.on('data', (data) => later(() => to.writable && to.write(data)))
      from.on('end', () => later(() => to.end()))
      from.on('close', () => {
        this.pairs.delete(pair)
        later(() => to.destroy())
      })
    }
  }

  /** Runs work after the delay, never before earlier work of the same direction, even when the delay has shrunk since. */
  private inOrder(): (work: () => void) => void {
    let lastAt = 0
    return (work) => {
      const at = Math.max(Date.now() + this.delayMs, lastAt)
      if (at <= Date.now() && lastAt <= Date.now() - 1) {
        work()
        return
      }
      // A millisecond apart: timers of the same time may not keep their order.
      lastAt = at + 1
      setTimeout(work, at - Date.now())
    }
  }

  /** Resets about this share of the open connections, in both directions, whatever is on its way. */
  reset(random: Random, share: number): number {
    const chosen = [...this.pairs].filter(() => random.chance(share))
    for (const pair of chosen) {
      this.pairs.delete(pair)
      for (const socket of pair) socket.resetAndDestroy()
    }
    return chosen.length
  }

  stop(): void {
    this.close()
    for (const pair of this.pairs) for (const socket of pair) socket.destroy()
  }
}
