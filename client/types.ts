// What an operation takes and answers, from the types that are made of the OpenAPI document.
import type { CallOptions } from './http.ts'

interface Operation {
  parameters: { query?: unknown; path?: unknown; header?: unknown }
  requestBody?: unknown
  responses: unknown
}

/** `never` stands for "takes none" in the generated types. */
type Given<Part> = [Exclude<Part, undefined>] extends [never] ? unknown : Exclude<Part, undefined>

type BodyOf<Op> = Op extends { requestBody: { content: { 'application/json': infer Body } } }
  ? { body: Body }
  : Op extends { requestBody?: { content: { 'application/json': infer Body } } }
    ? { body?: Body }
    : unknown

/** Without it a call that failed on the way cannot be repeated safely. */
type KeyOf<Op extends Operation> = [Exclude<Op['parameters']['header'], undefined>] extends [never]
  ? unknown
  : { idempotencyKey?: string }

/** Parameters of the path and of the query by their names, the body as `body`. */
export type Input<Op extends Operation> = Given<Op['parameters']['path']> &
  Given<Op['parameters']['query']> &
  BodyOf<Op> &
  KeyOf<Op>

type Success<Responses> = Responses[keyof Responses & (200 | 201 | 202 | 204)]

/** The body of the response: undefined where there is none, text where it is not JSON. */
export type Answer<Op extends Operation> = Content<Success<Op['responses']>>

type Content<Reply> = Reply extends { content: { 'application/json': infer Json } }
  ? Json
  : Reply extends { content?: never }
    ? undefined
    : string

/** Without an argument where nothing is needed. */
export type Call<Op extends Operation> =
  Record<never, never> extends Input<Op>
    ? (input?: Input<Op>, options?: CallOptions) => Promise<Answer<Op>>
    : (input: Input<Op>, options?: CallOptions) => Promise<Answer<Op>>
