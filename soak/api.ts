// Calls to the service as a client makes them: any node, a time limit, and a clear word on what became of the call.
import type { EnvironmentLetter } from './people.ts'
import { apiKeys } from './people.ts'

export type Json = ReturnType<typeof JSON.parse>

/** An answer, or `lost`: the call may have been carried out or not. */
export type CallResult = { readonly status: number; readonly body: Json } | 'lost'

export interface Call {
  readonly method: string
  readonly path: string
  readonly environment: EnvironmentLetter
  readonly body?: unknown
  /** The `Idempotency-Key`. */
  readonly key?: string | undefined
}

/** A frozen or overloaded node must not hold up the client for ever. */
const timeoutMs = 10_000

export async function tryCall(baseUrl: string, call: Call, limitMs = timeoutMs): Promise<CallResult> {
  try {
    const answer = await fetch(`${baseUrl}${call.path}`, {
      method: call.method,
      headers: {
        authorization: `ApiKey ${apiKeys[call.environment]}`,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(call.key === undefined ? {} : { 'idempotency-key': call.key }),
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      signal: AbortSignal.timeout(limitMs),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
  } catch {
    return 'lost'
  }
}

/** For what must work, such as the set-up: anything but a success is an error. */
export async function mustCall(baseUrl: string, call: Call): Promise<Json> {
  const result = await tryCall(baseUrl, call, 60_000)
  if (result === 'lost') throw new Error(`${call.method} ${call.path} was not answered`)
  if (result.status >= 300) {
    throw new Error(`${call.method} ${call.path}: ${result.status} ${JSON.stringify(result.body).slice(0, 500)}`)
  }
  return result.body
}
