// A Problem: a client error. Thrown anywhere below http, answered once in http/problem-reply.ts.

export type ProblemStatus = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 426 | 429 | 503

export interface FieldErrors {
  [fieldPath: string]: { messages: string[]; value?: unknown }
}

export class Problem extends Error {
  readonly status: ProblemStatus
  /** Further fields of the error body, such as `errors` or the existing resource of a 409. */
  readonly members: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: ProblemStatus,
    message: string,
    options: { members?: Record<string, unknown>; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.name = 'Problem'
    this.status = status
    this.members = options.members ?? {}
    this.headers = options.headers ?? {}
  }
}

export const badRequest = (message: string): Problem => new Problem(400, message)
export const forbidden = (message: string): Problem => new Problem(403, message)
export const notFound = (message: string): Problem => new Problem(404, message)

export const conflict = (message: string, existing: object = {}): Problem =>
  new Problem(409, message, { members: { ...existing } })

/** Every invalid field, at once, with what to fix. */
export const invalid = (errors: FieldErrors, message = 'Validation Error'): Problem =>
  new Problem(422, message, { members: { errors } })

export const invalidField = (fieldPath: string, message: string, value?: unknown): Problem =>
  invalid({ [fieldPath]: { messages: [message], ...(value === undefined ? {} : { value }) } })
