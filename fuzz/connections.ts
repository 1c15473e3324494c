// Connections that stay open and send several requests before the first is answered.
import { Client } from 'undici'
import type { FuzzRequest } from './requests.ts'

export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly text: string
  readonly sentAt: number
  readonly answeredAt: number
  /** For how long this very process did not run meanwhile. */
  readonly sleptMs: number
}

export interface Connection {
  /** Undefined where the connection was closed before an answer came. */
  send(request: FuzzRequest): Promise<Answer | undefined>
  close(): Promise<void>
}

/** How long this process has been stopped in all: a timer that comes later than this was stopped with it. */
const tickMs = 200
const lateMs = 1_500
let slept = 0
let tickedAt = Date.now()
setInterval(() => {
  const now = Date.now()
  if (now - tickedAt > lateMs) slept += now - tickedAt
  tickedAt = now
}, tickMs).unref()

/** Longer than any deadline: what takes longer than that is reported as unanswered. */
const giveUpMs = 60_000

export function openConnection(origin: string, pipelining: number): Connection {
  const client = new Client(origin, {
    pipelining,
    headersTimeout: giveUpMs,
    bodyTimeout: giveUpMs,
    keepAliveTimeout: 60_000,
  })
  return {
    send: async ({ method, path, headers, body }) => {
      const sentAt = Date.now()
      const sleptBefore = slept
      try {
        const answer = await client.request({
          method: method as 'GET',
          path,
          headers: { ...headers },
          body: body === undefined ? null : Buffer.from(body.toWellFormed()),
          // So that others are sent behind it, whatever it does.
          idempotent: true,
          blocking: false,
        })
        const text = await answer.body.text()
        const contentType = String(answer.headers['content-type'] ?? '')
        const sleptMs = slept - sleptBefore
        return { status: answer.statusCode, contentType, text, sentAt, answeredAt: Date.now(), sleptMs }
      } catch {
        return undefined
      }
    },
    close: () => client.destroy(),
  }
}
