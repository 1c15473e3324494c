// Hands spans to an OpenTelemetry collector: OTLP over HTTP as JSON, in batches, from a queue that never grows beyond its bound.
// https://opentelemetry.io/docs/specs/otlp/#otlphttp
import { hostname } from 'node:os'
import type { Log } from './log.ts'
import type { Attributes, FinishedSpan, SpanKind, SpanSink } from './tracer.ts'

/** Some 2 MB. What arrives while it is full is dropped, and counted. */
const queueMax = 4_096
/** As the SDKs of OpenTelemetry have them. */
const batchMax = 512
const sendEveryMs = 5_000
const timeoutMs = 10_000
/** A collector that fails is asked ever more seldom, up to this. */
const restMaxMs = 60_000
/** A stop does not wait longer for a collector that is slow. */
export const stopWithinMs = 3_000
/** One log line in this time reports failures, and how many spans they have cost so far. */
const warnEveryMs = 60_000
const attributeLengthMax = 256
/**
 * Statuses that may succeed another time, according to the protocol; the rest is a batch, or a URL, that never will.
 */
const laterStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504])

export interface OtlpOptions {
  /** The collector's address, without `/v1/traces`. The operator's own: it may be private. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string
  readonly log: Log
  readonly stopWithinMs: number
}

export const createOtlpExport = (options: OtlpOptions): SpanSink => new OtlpExport(options)

type Sent = 'taken' | 'later' | 'never'

class OtlpExport implements SpanSink {
  readonly #options: OtlpOptions
  readonly #url: string
  readonly #queue: FinishedSpan[] = []
  readonly #stopping = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #restMs = sendEveryMs
  #sent = 0
  #dropped = 0
  #warnedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: OtlpOptions) {
    this.#options = options
    this.#url = `${options.endpoint.replace(/\/+$/, '')}/v1/traces`
  }

  add(span: FinishedSpan): void {
    if (this.#stopping.signal.aborted || this.#queue.length >= queueMax) {
      this.#dropped += 1
      return
    }
    this.#queue.push(span)
    const isFull = this.#queue.length >= batchMax && this.#restMs === sendEveryMs
    if (isFull) void this.flush()
    else this.#sendLater()
  }

  counts(): { sent: number; dropped: number } {
    return { sent: this.#sent, dropped: this.#dropped }
  }

  flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
      if (this.#queue.length > 0) this.#sendLater()
    })
    return this.#sending
  }

  async stop(): Promise<void> {
    const late = setTimeout(() => this.#stopping.abort(), this.#options.stopWithinMs)
    // A batch in flight is awaited, then whatever ended in the meantime.
    await this.#sending
    await this.flush()
    clearTimeout(late)
    this.#stopping.abort()
    clearTimeout(this.#timer)
    const left = this.#queue.splice(0).length
    this.#dropped += left
    if (left > 0) this.#options.log.warn({ spans: left }, 'Some spans were not exported before the service stopped')
  }

  #sendLater(): void {
    if (this.#timer !== undefined || this.#sending !== undefined || this.#stopping.signal.aborted) return
    this.#timer = setTimeout(() => void this.flush(), this.#restMs)
    // The process does not stay alive to export spans.
    this.#timer.unref()
  }

  /** Until nothing is left, or the collector fails. */
  async #sendAll(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, batchMax)
      const sent = await this.#post(batch)
      if (sent === 'later') {
        this.#restMs = Math.min(this.#restMs * 2, restMaxMs)
        return
      }
      this.#queue.splice(0, batch.length)
      if (sent === 'taken') {
        this.#sent += batch.length
        this.#restMs = sendEveryMs
      } else this.#dropped += batch.length
    }
  }

  async #post(batch: readonly FinishedSpan[]): Promise<Sent> {
    if (this.#stopping.signal.aborted) return 'later'
    // Not by AbortSignal.any: the signal that lives as long as the service would remember every call (Node 20).
    const call = new AbortController()
    const end = (): void => call.abort(new Error('it did not respond in time'))
    const timer = setTimeout(end, timeoutMs)
    this.#stopping.signal.addEventListener('abort', end)
    try {
      // Not the World's fetch: that guards against addresses of callers, and this one is the operator's.
      const response = await fetch(this.#url, {
        method: 'POST',
        redirect: 'error',
        headers: { ...this.#options.headers, 'content-type': 'application/json' },
        body: JSON.stringify(requestOf(this.#options.serviceName, batch)),
        signal: call.signal,
      })
      await response.body?.cancel()
      if (response.ok) return 'taken'
      this.#warn(`it answered ${response.status}`)
      return laterStatuses.has(response.status) ? 'later' : 'never'
    } catch (error) {
      const { message, cause } = error as Error
      this.#warn(cause instanceof Error ? `${message}: ${cause.message}` : message)
      return 'later'
    } finally {
      clearTimeout(timer)
      this.#stopping.signal.removeEventListener('abort', end)
    }
  }

  #warn(reason: string): void {
    const nowMs = performance.now()
    if (nowMs - this.#warnedAtMs < warnEveryMs) return
    this.#warnedAtMs = nowMs
    const facts = { reason, waiting: this.#queue.length, dropped: this.#dropped }
    this.#options.log.warn(facts, 'The collector of OTEL_EXPORTER_OTLP_ENDPOINT does not accept spans')
  }
}

const kindNumbers: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 }
const failedStatus = { code: 2 }

function requestOf(serviceName: string, spans: readonly FinishedSpan[]): object {
  const resource = { 'service.name': serviceName, 'host.name': hostname(), 'process.pid': process.pid }
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: 'posthorn' }, spans: spans.map(spanOf) }],
      },
    ],
  }
}

function spanOf({ kind, startMs, endMs, attributes, failed, parentSpanId, ...span }: FinishedSpan): object {
  return {
    ...span,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    kind: kindNumbers[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: attributesOf(attributes),
    ...(failed ? { status: failedStatus } : {}),
  }
}

/** As text: more than a number holds. */
const nanoseconds = (ms: number): string => `${Math.round(ms * 1_000)}000`

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValueOf(value) }],
  )
}

function anyValueOf(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value.slice(0, attributeLengthMax) }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
