// Requests of providers as readable text: what is stored under test/providers/golden and compared.
import type { AskedRequest } from './provider-contract.ts'

/** One request a paragraph: its line, its headers in their order, its body laid out. */
export function writtenRequest({ method, url, headers, body }: AskedRequest, volatile: readonly RegExp[] = []): string {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  const lines = Object.entries(headers).map(([name, value]) => `${name.toLowerCase()}: ${value}`)
  const text = [`${method} ${url}`, ...lines, '', laidOut(body, type)].join('\n').trimEnd()
  return volatile.reduce(
    (reported, pattern) => reported.replaceAll(new RegExp(pattern, 'g'), '<differs each time>'),
    text,
  )
}

function laidOut(body: string, type: string): string {
  if (type.includes('json') && body !== '') return JSON.stringify(JSON.parse(body), null, 2)
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return [...new URLSearchParams(body)].map(([name, value]) => `${name}=${value}`).join('\n')
  }
  return body.replaceAll('\r\n', '\n')
}

/** Every text within a body, decoded: what a message says must be among it. */
export function textsOf({ url, headers, body }: AskedRequest): string[] {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  const inUrl = [...new URL(url).searchParams.values()]
  if (type.includes('json')) return [...inUrl, ...textsIn(JSON.parse(body))]
  if (type.startsWith('application/x-www-form-urlencoded')) return [...inUrl, ...new URLSearchParams(body).values()]
  return [...inUrl, body]
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value, ...nested(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Some vendors take JSON within JSON. */
function nested(value: string): string[] {
  if (!/^[[{]/.test(value)) return []
  try {
    return textsIn(JSON.parse(value))
  } catch {
    return []
  }
}
