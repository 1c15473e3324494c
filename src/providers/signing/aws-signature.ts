// AWS Signature Version 4: how a request to Amazon is authenticated.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
import { createHash } from 'node:crypto'
import type { OutboundRequest } from '../../world/world.ts'
import { hmac } from './signing.ts'

export interface AwsAccount {
  readonly service: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined
}

const algorithm = 'AWS4-HMAC-SHA256'

/** The request with its timestamp and its signature. Its query is rewritten, so that it is the one that was signed. */
export function signedForAws(request: OutboundRequest, account: AwsAccount, now: Date): OutboundRequest {
  const { service, region, accessKeyId, secretAccessKey, sessionToken } = account
  const url = new URL(request.url)
  const query = canonicalQuery(url)
  const timestamp = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const headers: Record<string, string> = {
    ...Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value])),
    'x-amz-date': timestamp,
    ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
  }
  const signed = Object.entries({ ...headers, host: url.host })
    .filter(([name]) => isSigned(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    canonicalPath(url),
    query,
    ...signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}`),
    '',
    names,
    sha256Hex(request.body ?? ''),
  ].join('\n')
  const day = timestamp.slice(0, 8)
  const scope = `${day}/${region}/${service}/aws4_request`
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    (from, step) => hmac('sha256', from, step),
    `AWS4${secretAccessKey}`,
  )
  const signature = hmac('sha256', key, [algorithm, timestamp, scope, sha256Hex(canonical)].join('\n')).toString('hex')
  const authorization = `${algorithm} Credential=${accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`
  const address = `${url.origin}${url.pathname}${query === '' ? '' : `?${query}`}`
  return { ...request, url: address, headers: { ...headers, authorization } }
}

/** What Amazon requires to be signed; a proxy may change the rest. */
const isSigned = (name: string): boolean => name === 'host' || name === 'content-type' || name.startsWith('x-amz-')

/** Encoded once more than it travels, as every service but S3 wants it. */
const canonicalPath = (url: URL): string => url.pathname.split('/').map(encoded).join('/')

function canonicalQuery(url: URL): string {
  const pairs = [...url.searchParams].map(([name, value]): [string, string] => [encoded(name), encoded(value)])
  const order = ([name, value]: [string, string], [other, otherValue]: [string, string]): number =>
    name === other ? compared(value, otherValue) : compared(name, other)
  return pairs
    .toSorted(order)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

/** By code units: a locale would order them differently from Amazon. */
const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** RFC 3986: all but letters, digits, `-`, `.`, `_` and `~`. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)

const sha256Hex = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
