// The filter of an inbox call, read from a query, a body or the JSON text of either, and how it is echoed.
import type { InboxFilter } from '../../domain/messages/inbox-filter.ts'
import { FilterMistake, readInboxFilter } from '../../domain/messages/inbox-filter.ts'
import { badRequest } from '../../domain/problem.ts'
import { isUnstorable, unstorableWords } from './body-parser.ts'

/** Far more than all values of the longest filter. */
export const filterTextMax = 64 * 1024

type Raw = Readonly<Record<string, unknown>>

/** A filter, and the same as received: clients find their results by it. */
export interface EchoedFilter {
  readonly filter: InboxFilter
  readonly echo: Raw
}

const plainMembers = ['read', 'archived', 'snoozed', 'seen', 'severity', 'createdGte', 'createdLte']

function filterOf(given: unknown): InboxFilter {
  try {
    return readInboxFilter(given)
  } catch (error) {
    throw error instanceof FilterMistake ? badRequest(error.message) : error
  }
}

/** `tags=a`, `tags[]=a&tags[]=b`: any of them. `tags[0][]=a&tags[1][]=b`: each group. `data` is JSON text. */
export function filterOfQuery(query: Raw): EchoedFilter {
  const { tags, data } = query
  const plain = plainMembers.filter((name) => query[name] !== undefined).map((name) => [name, query[name]])
  const echo = {
    ...Object.fromEntries(plain),
    ...(tags === undefined ? {} : { tags: tagsOf(tags) }),
    ...(data === undefined ? {} : { data: parsed('data', data) }),
  }
  return { filter: filterOf(echo), echo }
}

/** Of a bulk mark: `tags`, and `data` as JSON text. */
export function filterOfBody({ tags, data }: { tags?: unknown; data?: unknown }): InboxFilter {
  return filterOf({ tags, data: typeof data === 'string' ? parsed('data', data) : data })
}

export function filtersOfText(text: string, countMax: number): EchoedFilter[] {
  const filters = parsed('filters', text)
  if (!Array.isArray(filters)) throw badRequest('filters must be a list')
  if (filters.length > countMax) throw badRequest(`filters must have at most ${countMax} elements`)
  return filters.map((echo: Raw) => ({ filter: filterOf(echo), echo }))
}

function tagsOf(given: unknown): unknown {
  const all = [given].flat()
  return all.some(Array.isArray) ? { and: all.map((group) => ({ or: [group].flat() })) } : all
}

function parsed(name: string, text: unknown): unknown {
  if (text === '') return undefined
  try {
    const value: unknown = JSON.parse(String(text))
    if (isUnstorableAnywhere(value)) throw badRequest(`${name} ${unstorableWords}`)
    return value
  } catch (error) {
    throw error instanceof SyntaxError ? badRequest(`${name} must be JSON`) : error
  }
}

/** Escapes stay in JSON: the text before parsing says nothing. */
function isUnstorableAnywhere(value: unknown): boolean {
  if (typeof value === 'string') return isUnstorable(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, member]) => isUnstorable(name) || isUnstorableAnywhere(member))
}
