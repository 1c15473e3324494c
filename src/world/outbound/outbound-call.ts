// What an outbound request is, in either protocol: its limits, its headers, and how much of the response is read.
import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { MayLeave, OutboundRequest } from '../world.ts'
import { codeOf } from './address-guard.ts'
import { OutboundError } from './outbound-error.ts'

export const defaultTimeoutMs = 20_000
/** Name, connection, proxy and TLS together; a host that needs longer is down. */
export const connectTimeoutMs = 5_000
export const answerBytesMax = 64 * 1024
const userAgent = 'Posthorn/1.0'
/** What the connection itself decides. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'expect',
  'upgrade',
  'keep-alive',
  'te',
  'trailer',
  'http2-settings',
  'proxy-connection',
  'proxy-authorization',
])

export interface OutboundCall {
  readonly host: string
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | Buffer
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  readonly mayLeave: MayLeave | undefined
}

export async function bodyOf(request: Request | OutboundRequest): Promise<string | Buffer> {
  return request instanceof Request ? Buffer.from(await request.arrayBuffer()) : (request.body ?? '')
}

export function headersOf(request: Request | OutboundRequest, body: string | Buffer): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': userAgent }
  const given = request instanceof Request ? request.headers : Object.entries(request.headers)
  for (const [name, value] of given) {
    const lowerName = name.toLowerCase()
    if (!ownHeaders.has(lowerName)) headers[lowerName] = value
  }
  // Never compressed: the size limit counts what arrives, and 64 KiB of gzip can be 64 MiB of text.
  headers['accept-encoding'] = 'identity'
  if (body.length > 0 || (request.method !== 'GET' && request.method !== 'HEAD')) {
    headers['content-length'] = String(Buffer.byteLength(body))
  }
  return headers
}

/** HTTP/1 checks this itself; HTTP/2 would pass a line break on, for the next hop to stumble over. */
export function checkHeaders(host: string, headers: Readonly<Record<string, string>>): void {
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    }
  } catch (error) {
    throw couldNotBeMade(host, error)
  }
}

export const wasWithheld = (host: string): OutboundError =>
  new OutboundError('withheld', `The request to ${host} was cancelled before anything was sent`)

export function couldNotBeMade(host: string, error: unknown): OutboundError {
  const words = `The request to ${host} failed (${codeOf(error)})`
  return new OutboundError('not-sent', words, error, { isOurs: true })
}

/** OpenSSL's codes for a certificate that no trusted authority has signed. */
const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

export function couldNotConnect(host: string, error: unknown): string {
  const code = codeOf(error)
  const hint = untrusted.has(code)
    ? ': its certificate is not trusted; add its certificate authority to POSTHORN_CA_FILE'
    : ''
  return `Could not connect to ${host} (${code})${hint}`
}

interface Incoming {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown
  once(event: 'end', listener: () => void): unknown
  destroy(): unknown
}

/** Returns the body up to the limit; what follows is not waited for. */
export function readBody(incoming: Incoming, done: (text: string) => void): void {
  const chunks: Buffer[] = []
  let bytes = 0
  const end = (): void => {
    const whole = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
    done(whole.toString('utf8', 0, Math.min(whole.length, answerBytesMax)))
  }
  incoming.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes < answerBytesMax) return
    end()
    incoming.destroy()
  })
  incoming.once('end', end)
}
