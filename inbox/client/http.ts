// Calls with a session: opened with the first call, and opened again once where its token is no longer accepted.
import type { Session } from './types.ts'
import { InboxError } from './types.ts'

export interface InboxOptions {
  /** Where the service answers, without `/v1`. */
  readonly url: string
  /** The `identifier` of the environment. Left out, the demo inbox of Development opens, where the service offers it. */
  readonly application?: string
  /** An id, or an object with `subscriberId` and what is known of the person. */
  readonly subscriber?: string | ({ readonly subscriberId: string } & Readonly<Record<string, unknown>>)
  /** HMAC-SHA256 of the id, made by your own server; required outside Development. */
  readonly subscriberHash?: string
  readonly context?: Readonly<Record<string, unknown>>
  readonly contextHash?: string
}

export interface Http {
  session(): Promise<Session>
  /** The body of a success, undefined where there is none. */
  call(method: string, path: string, body?: unknown): Promise<unknown>
  /** The answer of a GET, whatever its status. */
  open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response>
  /** Opens another session; calls that wait for one share it. */
  renew(): Promise<Session>
}

const unauthorized = 401

export function createHttp({ url, application, ...identity }: InboxOptions): Http {
  const base = `${url.replace(/\/+$/, '')}/v1/inbox`
  let opened: Promise<Session> | undefined

  async function openSession(): Promise<Session> {
    const response = await fetch(`${base}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ applicationIdentifier: application, ...identity }),
    })
    return ((await bodyOf(response)) as { data: Session }).data
  }

  function session(): Promise<Session> {
    opened ??= openSession().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  function renew(): Promise<Session> {
    opened = undefined
    return session()
  }

  async function send(path: string, init: RequestInit): Promise<Response> {
    const { token } = await session()
    return fetch(base + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } })
  }

  return {
    session,
    renew,
    async call(method, path, body) {
      const init: RequestInit = { method, headers: { 'content-type': 'application/json' } }
      if (body !== undefined) init.body = JSON.stringify(body)
      let response = await send(path, init)
      if (response.status === unauthorized) {
        await renew()
        response = await send(path, init)
      }
      return bodyOf(response)
    },
    open: (path, headers, signal) => send(path, { headers, signal, cache: 'no-store' }),
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined
  const body: unknown = await response.json().catch(() => undefined)
  if (response.ok) return body
  const { message } = (body ?? {}) as { message?: unknown }
  throw new InboxError(
    response.status,
    Array.isArray(message) ? message.join('; ') : String(message ?? response.status),
  )
}
