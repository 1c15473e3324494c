// A chat message prepared for any vendor: its content, as JSON.
import type { Outcome } from '../../domain/delivery/outcome.ts'
import { refused } from '../../domain/delivery/outcome.ts'
import type { OutboundRequest } from '../../world/world.ts'

/** A rejection if none of these fields of a body has content. */
export function mistakeOfSilence(
  body: Readonly<Record<string, unknown>>,
  members: readonly string[],
): Outcome | undefined {
  return members.some((name) => saysSomething(body[name]))
    ? undefined
    : refused('bad-content', 'The message has no content')
}

function saysSomething(value: unknown): boolean {
  if (typeof value === 'string') return value !== ''
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

/** The text under the vendor's name for it, where there is any: some vendors reject an empty one beside cards. */
export function textAs(name: string, content: string): Readonly<Record<string, string>> {
  return content === '' ? {} : { [name]: content }
}

/** Of the requested kind, if there are any. */
export function givenText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function jsonRequest(
  url: URL | string,
  body: object,
  headers: OutboundRequest['headers'] = {},
): OutboundRequest {
  return {
    url: url.toString(),
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}
