// The one caller of fetch: our API by the types of its own document, as whoever is signed in to the environment on the page.
import createClient from 'openapi-fetch'
import type { components, paths } from './api-types.ts'
import { say } from './ui/toast.tsx'

export type Schemas = components['schemas']

/** What went wrong, in the words of the service. */
export class ApiError extends Error {
  readonly status: number
  /** Of a fault of the service: to be quoted. */
  readonly errorId: string | undefined
  /** What is wrong with which field. */
  readonly fields: Readonly<Record<string, string>>
  /** How long the service asks to wait before the same is asked again. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, body: unknown, retryAfter: string | null = null) {
    const { message, errorId, errors } = (typeof body === 'object' && body !== null ? body : {}) as {
      message?: unknown
      errorId?: string
      errors?: unknown
    }
    const fields = fieldsOf(errors)
    const words = Object.values(fields)
    super(wordsOf(status, message, words))
    this.name = 'ApiError'
    this.status = status
    this.errorId = errorId
    this.fields = fields
    this.retryAfterMs = msOf(retryAfter)
  }
}

/** `Retry-After`: seconds, or a date where a proxy answered. */
function msOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null || retryAfter.trim() === '') return undefined
  const seconds = Number(retryAfter)
  const ms = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1_000
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

function wordsOf(status: number, message: unknown, fields: readonly string[]): string {
  if (status === 0) return 'The service cannot be reached. What you see may be out of date.'
  if (message === 'Validation Error' && fields.length > 0) return fields.join(' ')
  if (Array.isArray(message)) return message.join(' ')
  return typeof message === 'string' ? message : `The service answered with status ${status}.`
}

function fieldsOf(errors: unknown): Record<string, string> {
  if (typeof errors !== 'object' || errors === null) return {}
  return Object.fromEntries(
    Object.entries(errors).flatMap(([name, error]) => {
      const messages = (error as { messages?: string[] } | null)?.messages
      return messages === undefined ? [] : [[name, messages.join(' ')]]
    }),
  )
}

let environmentId = '*'

/** Which session the calls of this page are made with. */
export function callWithSessionOf(id: string): void {
  environmentId = id
}

/** Whether calls of this page still go where they went for the environment with this id. */
export const callsGoTo = (id: string): boolean => environmentId === id

/** Where the dashboard lives, with a slash at its end. */
export const basePath = new URL(document.baseURI).pathname

const headers = () => ({ 'x-posthorn-dashboard': environmentId })

function clientFor(idOf: () => string) {
  const made = createClient<paths>({ baseUrl: basePath.replace(/\/$/, '') })
  made.use({
    onRequest({ request }) {
      request.headers.set('x-posthorn-dashboard', idOf())
      return request
    },
    onResponse({ response }) {
      const warnings = response.headers.get('posthorn-warnings')
      if (warnings !== null) for (const words of warningWords(warnings)) say(words, 'error')
    },
  })
  return made
}

export const client = clientFor(() => environmentId)
export type Client = typeof client
/** Calls of another environment that one is signed in to. */
export const clientOf = (id: string): Client => clientFor(() => id)

/** What the service did not understand: `unknown-member;path="overrides.emial";nearest="email", more;count=3`. */
function warningWords(header: string): string[] {
  const items = header.match(/[a-z-]+(?:;[a-z]+=(?:"(?:[^"\\]|\\.)*"|[^;,"]*))*/g) ?? []
  return items.map((item) => {
    const about = [...item.matchAll(/;([a-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^;,"]*))/g)]
    const members = about.map(([, name, text, bare]) => `${name} ${(text ?? bare ?? '').replace(/\\(.)/g, '$1')}`)
    return `The service warns: ${[item.match(/^[a-z-]+/)?.[0]?.replaceAll('-', ' '), ...members].join(', ')}.`
  })
}

interface Reply<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

/** The answer, or an ApiError. */
export async function answerOf<Data>(call: Promise<Reply<Data>>): Promise<Data> {
  const reply = await call.catch(() => undefined)
  if (reply === undefined) throw new ApiError(0, undefined)
  if (!reply.response.ok) {
    throw new ApiError(reply.response.status, reply.error, reply.response.headers.get('retry-after'))
  }
  return reply.data as Data
}

/** For answers that are text: an e-mail as HTML or as its source. */
export async function textOf(path: string): Promise<string> {
  const response = await fetch(`${basePath.replace(/\/$/, '')}${path}`, { headers: headers() }).catch(() => undefined)
  if (response === undefined) throw new ApiError(0, undefined)
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => undefined))
  return response.text()
}

/** Calls back for every event of a stream until the signal aborts; ends when the service does. */
export async function streamOf(path: string, signal: AbortSignal, onEvent: (data: string) => void): Promise<void> {
  const response = await fetch(`${basePath.replace(/\/$/, '')}${path}`, { headers: headers(), signal })
  const reader = response.ok ? response.body?.pipeThrough(new TextDecoderStream()).getReader() : undefined
  if (reader === undefined) throw new ApiError(response.status, undefined)
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const data = part.split('\n').find((line) => line.startsWith('data: '))
      if (data !== undefined) onEvent(data.slice(6))
    }
  }
}
