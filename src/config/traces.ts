// Where traces go, as OpenTelemetry's own variables say it.
import { list, oneOf, text } from './values.ts'

/** Which traces are kept, by the names that OpenTelemetry has for it. */
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

export interface TraceConfig {
  readonly tracesEndpoint: string | undefined
  readonly tracesHeaders: Readonly<Record<string, string>>
  readonly tracesServiceName: string
  readonly tracesSampler: (typeof samplers)[number]
  readonly tracesRatio: number
}

export const traceSettings = {
  tracesEndpoint: {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    meaning:
      'The URL of an OpenTelemetry collector (OTLP over HTTP, as JSON; `/v1/traces` is appended), such as `http://localhost:4318`, that receives traces from triggers to providers. See docs/traces.md.',
    shownDefault: 'none: nothing is traced',
    defaultValue: undefined,
    read: collectorAddress,
  },
  tracesHeaders: {
    variable: 'OTEL_EXPORTER_OTLP_HEADERS',
    meaning: 'Headers for the collector: `name=value`, separated by commas, values percent-encoded.',
    shownDefault: 'none',
    secret: true as const,
    defaultValue: {},
    read: headerList,
  },
  tracesServiceName: {
    variable: 'OTEL_SERVICE_NAME',
    meaning: 'The name of the service in traces.',
    shownDefault: 'posthorn',
    defaultValue: 'posthorn',
    read: text,
  },
  tracesSampler: {
    variable: 'OTEL_TRACES_SAMPLER',
    meaning:
      'Which traces are sampled: `always_on`, `always_off` or `traceidratio`; with the prefix `parentbased_`, the `traceparent` of the request decides if there is one.',
    shownDefault: 'parentbased_always_on',
    defaultValue: 'parentbased_always_on' as const,
    read: oneOf(...samplers),
  },
  tracesRatio: {
    variable: 'OTEL_TRACES_SAMPLER_ARG',
    meaning: 'The fraction of traces that the ratio samplers keep, from 0 to 1.',
    shownDefault: '1',
    defaultValue: 1,
    read: ratio,
  },
}

/** The collector's address. Fetch takes no password in an address, and a log might show it. */
function collectorAddress(value: string): string {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) {
    throw new Error('must be an http(s) address such as http://localhost:4318')
  }
  const { username, password } = new URL(value)
  if (username !== '' || password !== '') {
    throw new Error('must not contain a user name or password: send them as a header in OTEL_EXPORTER_OTLP_HEADERS')
  }
  return value.replace(/\/+$/, '')
}

/** `name=value,name=value`, the values percent-encoded where need be. */
function headerList(value: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    list(value).map((entry) => {
      const at = entry.indexOf('=')
      const name = entry.slice(0, Math.max(at, 0)).trim().toLowerCase()
      const decoded = decodedOf(entry.slice(at + 1).trim())
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || decoded === undefined || !/^[\t\x20-\x7e]*$/.test(decoded)) {
        throw new Error('must list headers as name=value, separated by commas')
      }
      return [name, decoded]
    }),
  )
}

function decodedOf(value: string): string | undefined {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}

function ratio(value: string): number {
  const number = Number(value)
  if (!/^[0-9.]+$/.test(value) || !(number >= 0 && number <= 1)) {
    throw new Error(`must be a number from 0 to 1, not "${value}"`)
  }
  return number
}
