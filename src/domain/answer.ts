// The response to a request, and the idempotency value that gives a repeat the same response.

export interface Answer<Body> {
  readonly status: 200 | 201 | 202 | 204
  readonly body: Body
  /** Headers beyond those of every response, such as the name of a file. */
  readonly headers?: Readonly<Record<string, string>>
  /** What the caller should know beside the answer: sent as a header. */
  readonly warnings?: readonly Warning[]
  /** True when the call was carried out before: by its idempotency key, or by the transaction id of its events. */
  readonly replayed?: boolean
  /** The body as it was written before, which is sent in its place; or what keeps it when it is written now. */
  readonly written?: { readonly text: string } | { keep(text: string): void }
}

/** A code that programs can rely on, and what it is about, in texts. */
export interface Warning {
  readonly code: 'unknown-member' | 'unknown-parameter' | 'name-taken' | 'repeated'
  readonly [about: string]: string
}

export interface Idempotency {
  readonly key: string
  /** SHA-256 over method, path and key: which call this is. */
  readonly scopeHash: Buffer
  /** SHA-256 over query and body: whether it is the same request. */
  readonly requestHash: Buffer
}

export const ok = <Body>(body: Body): Answer<Body> => ({ status: 200, body })
export const created = <Body>(body: Body): Answer<Body> => ({ status: 201, body })
/** The work continues after the response; the body says where to look for it. */
export const accepted = <Body>(body: Body): Answer<Body> => ({ status: 202, body })
export const noContent: Answer<null> = { status: 204, body: null }
