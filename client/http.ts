// One call of the API: the address, the key, a deadline, and an error that says what the service said.

export interface ClientOptions {
  /** The service, with its path if it has one: `http://localhost:3000`. */
  readonly url: string
  /** An API key; it determines the environment. */
  readonly key: string
  /** Per call; 30,000 unless given. */
  readonly timeoutMs?: number
  /** What the service did not understand in a call that it accepted, such as misspelt members. */
  readonly onWarnings?: (warnings: string, operation: string) => void
  /** In place of the global one. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

export interface Target {
  readonly method: string
  /** With `{name}` where a parameter belongs. */
  readonly path: string
  readonly input: Readonly<Record<string, unknown>> | undefined
}

export type Caller = (target: Target, options?: CallOptions) => Promise<unknown>

const defaultTimeoutMs = 30_000

/** An answer that is not a success. */
export class PosthornError extends Error {
  readonly status: number
  /** The body as it came: JSON where it is JSON. */
  readonly body: unknown
  /** Of a fault of the service: to be quoted. */
  readonly errorId: string | undefined

  constructor(status: number, operation: string, body: unknown) {
    super(`${operation} answered ${status}: ${wordsOf(body)}`)
    this.name = 'PosthornError'
    this.status = status
    this.body = body
    this.errorId = memberOf(body, 'errorId') as string | undefined
  }
}

export function createCaller(options: ClientOptions): Caller {
  const base = new URL(options.url).href.replace(/\/+$/, '')
  const send = options.fetch ?? ((url: string, init: RequestInit) => fetch(url, init))
  return async ({ method, path, input = {} }, { signal, timeoutMs = options.timeoutMs ?? defaultTimeoutMs } = {}) => {
    const operation = `${method} ${path}`
    const { body, idempotencyKey, ...parameters } = input
    const deadline = AbortSignal.timeout(timeoutMs)
    const response = await send(base + addressOf(path, parameters), {
      method,
      headers: {
        authorization: `ApiKey ${options.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': String(idempotencyKey) }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A key is not sent on to wherever a redirect leads.
      redirect: 'error',
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    })
    const answer = await read(response)
    if (!response.ok) throw new PosthornError(response.status, operation, answer)
    const warnings = response.headers.get('posthorn-warnings')
    if (warnings !== null) options.onWarnings?.(warnings, operation)
    return answer
  }
}

/** What does not belong in the path is the query. Lists repeat their name. */
function addressOf(path: string, parameters: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  const taken = new Set<string>()
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name]
    if (value === undefined || value === null || value === '') throw new TypeError(`${path} needs ${name}`)
    taken.add(name)
    return encodeURIComponent(String(value))
  })
  for (const [name, value] of Object.entries(parameters)) {
    if (taken.has(name) || value === undefined || value === null) continue
    for (const one of [value].flat()) query.append(name, typeof one === 'object' ? JSON.stringify(one) : String(one))
  }
  const text = query.toString()
  return text === '' ? filled : `${filled}?${text}`
}

async function read(response: Response): Promise<unknown> {
  const text = await response.text()
  if (text === '') return undefined
  if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return text
  try {
    return JSON.parse(text)
  } catch {
    // One JSON document per line: a proxy or an export. It is for the caller to read.
    return text
  }
}

function wordsOf(body: unknown): string {
  if (typeof body === 'string') return body.slice(0, 200)
  const message = memberOf(body, 'message')
  return [message].flat().join(' ') || 'no message'
}

const memberOf = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
