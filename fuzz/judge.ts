// What an answer must not be, whatever the request was.
import type { Answer } from './connections.ts'
import type { FuzzRequest } from './requests.ts'

/** How long any request may take, from its first byte to its last, with a dozen others under way. */
export const deadlineMs = 10_000

const internals = /\n\s+at \S+ \(|"stack"|node_modules|syntax error at or near|violates \w+ constraint/

/** Statuses of the server itself, before a route is found or a body is read. */
const anywhere = new Set([400, 404, 405, 413, 414, 415, 431])

/** What is wrong with it; undefined when nothing is. */
export function fault(request: FuzzRequest, answer: Answer): string | undefined {
  const { operation } = request
  const { status, text } = answer
  if (status >= 500) return `status ${status}: ${text.slice(0, 500)}`
  if (tookMs(answer) > deadlineMs + waitMs(request)) return `${tookMs(answer)} ms`
  if (!request.isOwnPath) return undefined
  if (!operation.statuses.has(status)) {
    return anywhere.has(status) && status !== 404
      ? undefined
      : `status ${status}, which is not documented: ${text.slice(0, 300)}`
  }
  const broken = operation.judge(status, answer.contentType, text)
  if (broken !== undefined) return `status ${status} with ${broken}: ${text.slice(0, 500)}`
  if (status >= 400 && internals.test(JSON.parse(text).message)) return `internals in an answer: ${text.slice(0, 500)}`
  return undefined
}

/** From the first byte to the last, without what this process itself slept through: a machine may stop it for a while. */
export const tookMs = ({ sentAt, answeredAt, sleptMs }: Answer): number => Math.max(0, answeredAt - sentAt - sleptMs)

/** A call that waits for a message says for how long: a minute at the most. */
const waitMs = ({ operation }: FuzzRequest): number => (operation.path.endsWith('/wait') ? 60_000 : 0)

/** As a line to send it again by. */
export function printed({ index, mode, method, path, headers, body }: FuzzRequest): string {
  const text = body === undefined ? '' : ` ${body.length} characters ${JSON.stringify(body.slice(0, 600))}`
  const { authorization: _key, ...rest } = headers
  return `#${index} (${mode}) ${method} ${path.slice(0, 400)} ${JSON.stringify(rest)}${text}`
}
