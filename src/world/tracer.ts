// The tracer: spans from a trigger to a provider, if the operator has a collector for them.
import { randomBytes } from 'node:crypto'
import type { TraceContext } from './traceparent.ts'
import { readTraceparent, writeTraceparent } from './traceparent.ts'

export type SpanKind = 'internal' | 'server' | 'client'
/** Never an address, content or a secret. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface FinishedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: SpanKind
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  readonly failed: boolean
}

export interface Span {
  readonly traceId: string
  /** What is passed on to those who continue it, here or on another node. */
  readonly traceparent: string
  /** Once: later calls are ignored. */
  end(more?: { attributes?: Attributes; failed?: boolean }): void
}

/** A point in time, by the wall clock and by a monotonic one. */
export interface Mark {
  readonly atMs: number
  readonly ticksMs: number
}

export interface Tracer {
  /** For a request that may name the trace it belongs to; undefined where that is not sampled. */
  request(name: string, header: unknown): Span | undefined
  /** Continues a sampled trace, from its stored traceparent. */
  begin(name: string, parent: string, more?: { kind?: SpanKind; since?: Mark | undefined }): Span | undefined
  mark(): Mark
  /** Spans that were handed on, and those that were not, since the start. */
  counts(): { readonly sent: number; readonly dropped: number }
  /** Exports what has ended so far. */
  flush(): Promise<void>
  /** The same within a few seconds, and nothing after it. */
  stop(): Promise<void>
}

/** The names that OpenTelemetry has for them. */
export type Sampler = `${'' | 'parentbased_'}${'always_on' | 'always_off' | 'traceidratio'}`

/** Where spans go when they have ended. */
export interface SpanSink extends Pick<Tracer, 'counts' | 'flush' | 'stop'> {
  add(span: FinishedSpan): void
}

export interface TracerOptions {
  readonly sink: SpanSink
  readonly sampler: Sampler
  /** Of all traces, from 0 to 1; for the samplers that go by a ratio. */
  readonly ratio: number
}

export function createTracer({ sink, sampler, ratio }: TracerOptions): Tracer {
  const followsParent = sampler.startsWith('parentbased_')
  const share = sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : ratio
  const mark = (): Mark => ({ atMs: Date.now(), ticksMs: performance.now() })
  return {
    request: (name, header) => {
      const parent = readTraceparent(header)
      const traceId = parent?.traceId ?? newId(traceIdBytes)
      const isSampled = parent !== undefined && followsParent ? parent.isSampled : isAmong(traceId, share)
      if (!isSampled) return undefined
      return spanOf(sink, { name, kind: 'server', traceId, parentSpanId: parent?.spanId, since: mark() })
    },
    begin: (name, given, { kind = 'internal', since = mark() } = {}) => {
      const parent = readTraceparent(given)
      if (parent === undefined) return undefined
      return spanOf(sink, { name, kind, traceId: parent.traceId, parentSpanId: parent.spanId, since })
    },
    mark,
    counts: () => sink.counts(),
    flush: () => sink.flush(),
    stop: () => sink.stop(),
  }
}

const traceIdBytes = 16
const spanIdBytes = 8
const newId = (bytes: number): string => randomBytes(bytes).toString('hex')

/** As many digits as a number holds exactly. */
const comparedDigits = 13

/** By the id alone: every node comes to the same result. */
const isAmong = (traceId: string, share: number): boolean =>
  Number.parseInt(traceId.slice(-comparedDigits), 16) < share * 16 ** comparedDigits

type BegunSpan = Pick<FinishedSpan, 'name' | 'kind' | 'traceId' | 'parentSpanId'> & { readonly since: Mark }

function spanOf(sink: SpanSink, { since, ...begun }: BegunSpan): Span {
  const context: TraceContext = { traceId: begun.traceId, spanId: newId(spanIdBytes), isSampled: true }
  let isOver = false
  return {
    traceId: begun.traceId,
    traceparent: writeTraceparent(context),
    end: ({ attributes = {}, failed = false } = {}) => {
      if (isOver) return
      isOver = true
      const endMs = since.atMs + (performance.now() - since.ticksMs)
      sink.add({ ...begun, spanId: context.spanId, startMs: since.atMs, endMs, attributes, failed })
    },
  }
}
