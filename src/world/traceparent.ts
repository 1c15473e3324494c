// The W3C traceparent: which trace something belongs to, and which span of it comes before.
// https://www.w3.org/TR/trace-context/#traceparent-header

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly isSampled: boolean
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
/** Later versions may append more. */
const lengthMax = 512
const nothing = /^0+$/

/** Undefined if it is invalid: the trace then starts over, as the recommendation says. */
export function readTraceparent(header: unknown): TraceContext | undefined {
  if (typeof header !== 'string' || header.length > lengthMax) return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(header) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (nothing.test(traceId) || nothing.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export const writeTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
