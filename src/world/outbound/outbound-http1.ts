// Outbound calls by HTTP/1: by kept connections, directly or by a proxy, and whether the other side may have acted on a call.
import type { Dispatcher } from 'undici'
import type { OutboundAnswer } from '../world.ts'
import { codeOf } from './address-guard.ts'
import type { OutboundCall } from './outbound-call.ts'
import { answerBytesMax, couldNotBeMade, couldNotConnect, wasWithheld } from './outbound-call.ts'
import type { Connect, ConnectParts, Destination } from './outbound-connect.ts'
import { inTime, termsOf } from './outbound-connect.ts'
import { OutboundError } from './outbound-error.ts'
import { createHttp1Pools } from './outbound-http1-pools.ts'
import type { ProxyServer } from './outbound-proxy.ts'
import { proxyRefusal, refusedBy, vettedTargets } from './outbound-proxy.ts'

export type CallByHttp1 = (call: OutboundCall, destination: Destination, account: object) => Promise<OutboundAnswer>

const httpPort = 80

export function createHttp1(parts: ConnectParts, connect: Connect): CallByHttp1 {
  const { guard, proxies } = parts
  const poolOf = createHttp1Pools(parts, connect)
  return (call, destination, account) => {
    const { host, port, isSecure } = destination
    const proxy = isSecure ? undefined : proxies?.of(isSecure, host, port)
    if (proxy !== undefined && mayBeNamed(destination)) return callByName(call, destination, proxy, account)
    return exchange(call, poolOf({ ...destination, leads: 'there' }, account))
  }

  /** A proxy that gets an http request resolves the name in it: only if that cannot be abused. */
  function mayBeNamed(destination: Destination): boolean {
    const { host, reach } = destination
    return proxies?.target === 'name' || reach === 'operator' || guard.isListedName(host, termsOf(destination))
  }

  async function callByName(
    call: OutboundCall,
    destination: Destination,
    proxy: ProxyServer,
    account: object,
  ): Promise<OutboundAnswer> {
    const { host, port } = destination
    await inTime(host, () => vettedTargets(guard, { ...destination, terms: termsOf(destination) }))
    const name = host.includes(':') ? `[${host}]` : host
    const authority = port === httpPort ? name : `${name}:${port}`
    const headers = { ...call.headers, ...proxy.headers, host: authority }
    // The operator wrote it down, so it may be private.
    const way = { host: proxy.host, port: proxy.port, isSecure: proxy.isSecure, reach: 'operator' } as const
    const pool = poolOf({ ...way, leads: 'to the proxy' }, account)
    const answer = await exchange({ ...call, path: `http://${authority}${call.path}`, headers }, pool)
    if (answer.status === proxyRefusal) throw refusedBy(proxy, host, answer.status)
    return answer
  }
}

/** A slow answer to `mayLeave` is valid for this long; a process may be frozen at any time. */
const permitMs = 5_000

/** Writes the request, reads the response, and knows at any time whether the first byte may have left. */
function exchange(call: OutboundCall, pool: Dispatcher): Promise<OutboundAnswer> {
  return new Promise((resolve, reject) => new Exchange(call, pool, resolve, reject).begin())
}

/** undici calls the `on…` methods in order; `onConnect` when the connection is ready, before the first byte. */
class Exchange implements Dispatcher.DispatchHandlers {
  readonly #call: OutboundCall
  readonly #pool: Dispatcher
  readonly #resolve: (answer: OutboundAnswer) => void
  readonly #reject: (error: OutboundError) => void
  #mayHaveLeft = false
  #isOver = false
  /** Until when it may leave without being asked again. */
  #permittedUntilMs = 0
  /** The attempt that ends now is not the end of the call. */
  #isBetween = false
  #cut: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #status = 0
  #headers: Buffer[] = []
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(
    call: OutboundCall,
    pool: Dispatcher,
    resolve: (answer: OutboundAnswer) => void,
    reject: (error: OutboundError) => void,
  ) {
    this.#call = call
    this.#pool = pool
    this.#resolve = resolve
    this.#reject = reject
  }

  begin(): void {
    const { host, signal, timeoutMs } = this.#call
    this.#timer = setTimeout(() => this.#fail(`${host} did not respond within ${timeoutMs} ms`), timeoutMs)
    if (signal?.aborted) {
      this.#giveUp()
      return
    }
    signal?.addEventListener('abort', this.#giveUp)
    this.#dispatch()
  }

  onConnect(abort: () => void): void {
    if (this.#isOver) {
      abort()
      return
    }
    const answer = performance.now() < this.#permittedUntilMs || this.#ask()
    if (answer === true) {
      this.#mayHaveLeft = true
      this.#cut = abort
      return
    }
    if (answer === false) this.#fail('', wasWithheld(this.#call.host))
    else void answer.then(this.#onPermit, () => this.#onPermit(false))
    // undici would write the request now. Nothing has left: the connection is dropped, and another is requested later.
    this.#isBetween = true
    abort()
    this.#isBetween = false
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    this.#status = status
    this.#headers = headers
    return true
  }

  onData(chunk: Buffer): boolean {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes >= answerBytesMax && !this.#isOver) {
      // What follows the limit is not waited for.
      this.#end()
      this.#answered()
      this.#cut?.()
    }
    return true
  }

  /**
   * undici takes the connection back a turn of the loop after this. A caller that continues at once would open another
   * next to it, so the response is delivered after that turn: there are never more connections than concurrent calls.
   */
  onComplete(): void {
    if (this.#isOver) return
    this.#end()
    queueMicrotask(() => setImmediate(() => this.#answered()))
  }

  onError(error: Error): void {
    if (this.#isOver || this.#isBetween) return
    const { host } = this.#call
    if (isInvalid(error)) this.#fail('', couldNotBeMade(host, error))
    else
      this.#fail(
        this.#mayHaveLeft ? `${host} aborted the request (${codeOf(error)})` : couldNotConnect(host, error),
        error,
      )
  }

  #dispatch(): void {
    const { method, path, headers, body } = this.#call
    this.#pool.dispatch({ method: method as Dispatcher.HttpMethod, path, headers, body }, this)
  }

  #ask(): boolean | Promise<boolean> {
    const { mayLeave } = this.#call
    try {
      return mayLeave === undefined || mayLeave()
    } catch {
      return false
    }
  }

  #onPermit = (isAllowed: boolean): void => {
    if (this.#isOver) return
    if (isAllowed !== true) {
      this.#fail('', wasWithheld(this.#call.host))
      return
    }
    this.#permittedUntilMs = performance.now() + permitMs
    this.#dispatch()
  }

  #giveUp = (): void => this.#fail(`The request to ${this.#call.host} was aborted`)

  #fail(what: string, cause?: unknown): void {
    if (this.#isOver) return
    this.#end()
    const kind = this.#mayHaveLeft ? 'unsure' : 'not-sent'
    this.#reject(cause instanceof OutboundError ? cause : new OutboundError(kind, what, cause))
    this.#cut?.()
  }

  #answered(): void {
    const [first] = this.#chunks
    const whole = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks)
    const body = whole.toString('utf8', 0, Math.min(whole.length, answerBytesMax))
    this.#resolve({ status: this.#status, headers: headersIn(this.#headers), body })
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#call.signal?.removeEventListener('abort', this.#giveUp)
  }
}

/** An invalid header, for example with a line break, is found before anything connects. */
const isInvalid = (error: Error): boolean => codeOf(error) === 'UND_ERR_INVALID_ARG'

function headersIn(raw: readonly Buffer[]): Headers {
  const headers = new Headers()
  for (let index = 0; index + 1 < raw.length; index += 2) {
    headers.append(String(raw[index]), (raw[index + 1] as Buffer).toString('latin1'))
  }
  return headers
}
