// The World: everything Posthorn cannot compute by itself (time, ids, the network, the log).
import type { Sealer } from '../domain/operate/sealed.ts'
import type { Log } from './log.ts'
import type { Meter } from './meter.ts'
import type { ResolvedAddress } from './outbound/address-guard.ts'
import type { Threads } from './threads.ts'
import type { Tracer } from './tracer.ts'

/** Whether it may leave now. `false`, or an error, means that nothing does. */
export type MayLeave = () => boolean | Promise<boolean>

export interface World {
  /** The current time. */
  now(): Date
  /** Resolves after `ms`, or at once when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** A new UUIDv7 with the time `at`; ids of one millisecond keep the order in which they were created. */
  newId(at: Date): string
  /** A number from 0 up to 1, for jitter. */
  random(): number
  /**
   * Outbound requests: bounded in time and size, no redirects, no private addresses unless allowed. Any response is
   * returned; an OutboundError says why there was none.
   */
  fetch(request: Request | OutboundRequest, options?: OutboundOptions): Promise<OutboundAnswer>
  /**
   * The addresses of a host that an account names, vetted as those of calls are, for what is not HTTP. Left out: all but
   * metadata addresses are good.
   */
  readonly accountAddresses?: ((host: string, port: number) => Promise<readonly ResolvedAddress[]>) | undefined
  /** Seals secrets at rest with a key only this installation holds. */
  readonly sealer: Sealer
  readonly log: Log
  /** Counts what was done, for monitoring. */
  readonly meter: Meter
  /** For what would keep the event loop too long. Left out: it is done where it is asked for. */
  readonly threads?: Threads | undefined
  /** The same for what has to be known before an event is accepted. */
  readonly judgingThreads?: Threads | undefined
  /**
   * Reports that inboxes of these subscribers (internal ids) may have changed, to those who stream them, here and on other
   * nodes. Only ever a hint: who misses it finds out by polling. Left out where nothing is streamed.
   */
  readonly inboxHint?: ((environmentId: string, subscriberIds: readonly string[]) => void) | undefined
  /** Where the operator has a collector of traces. */
  readonly tracer?: Tracer | undefined
  /** Within a call to a provider: what a socket that is not `fetch`'s own has to ask before a message leaves by it. */
  readonly mayLeave?: MayLeave
  /** Within a call to a provider: the world that all calls share. */
  readonly origin?: World
}

/** A call as plain values. Making and reading a Request costs 130 µs of computing, which is as much as the call itself. */
export interface OutboundRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  readonly signal?: AbortSignal
}

export interface OutboundOptions {
  /** `guarded` (default): never a private address. `operator`: an address the operator wrote down; only metadata addresses are refused. */
  readonly reach?: 'guarded' | 'operator'
  /** The URL is a subscriber's or came with an event, so that some of what the operator opens is not open to it. */
  readonly isTheirs?: boolean
  /** For the whole request, from resolving its host to the last byte of the response. */
  readonly timeoutMs?: number
  /** Whose connections it uses: those of one account are never shared with another. Omitted: shared by all. */
  readonly account?: object
  /** By HTTP/2: many calls at once by one connection. */
  readonly http2?: boolean
  /**
   * Called when the connection is ready, immediately before the first byte of the request is written to it. If the
   * answer is no, nothing is written and the request ends with an OutboundError of the kind `withheld`.
   */
  readonly mayLeave?: MayLeave
  /** No message can be sent by this request, such as one for a token: it leaves without asking. */
  readonly sendsNothing?: true
}

/** A response that was read completely, or up to the size limit. */
export interface OutboundAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}
