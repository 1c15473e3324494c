// posthorn: the API for programs that hold an API key. One function per operation of the OpenAPI document, no dependencies.
import type { operations } from './generated/api.ts'
import { calls } from './generated/calls.ts'
import type { Caller, ClientOptions } from './http.ts'
import { createCaller } from './http.ts'
import type { Call } from './types.ts'

export type { components, operations, paths } from './generated/api.ts'
export type { CallOptions, ClientOptions } from './http.ts'
export { PosthornError } from './http.ts'
export type { Answer, Call, Input } from './types.ts'

/** An operation is called by its id in the OpenAPI document, such as `triggerEvent`. */
export type PosthornClient = { readonly [Name in keyof operations]: Call<operations[Name]> }

export function createClient(options: ClientOptions): PosthornClient {
  const caller: Caller = createCaller(options)
  const entries = Object.entries(calls).map(([name, target]) => {
    const [method = '', path = ''] = target.split(' ')
    return [name, (input?: Record<string, unknown>, own?: object) => caller({ method, path, input }, own)]
  })
  return Object.freeze(Object.fromEntries(entries)) as PosthornClient
}
