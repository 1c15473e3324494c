// POSTHORN_VENDOR=novu: the built-in ids of an answer, written for clients with closed enums.
import { novuWord } from '../domain/delivery/vendor.ts'
import { isLong } from '../domain/json-pieces.ts'
import { Turn } from '../domain/turn.ts'

/** Fields that contain one of our ids; everything else is left alone. */
const idMembers = new Set(['providerId', 'origin'])
/** Fields that contain the caller's own data, where the same words mean something else. */
const callersOwn = new Set([
  ...['payload', 'overrides', 'credentials', 'to', 'raw', 'events'],
  ...['controlValues', 'values', 'metadata', 'preview', 'previewPayloadExample', 'payloadSchema'],
])
/** In letters, as pieces of an answer are counted: some milliseconds. */
const atOnceMax = 128 * 1024

export function inVendorWords(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(inVendorWords)
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      isOurs(name, value) ? inVendorWords(value) : wordOf(name, value),
    ]),
  )
}

/** The same of a large one, in turns of the event loop. */
export async function vendorWordsInTurns(body: unknown, turn = new Turn()): Promise<unknown> {
  if (turn.isOver()) await turn.next()
  if (!isLong(body, atOnceMax)) return inVendorWords(body)
  if (Array.isArray(body)) {
    const items: unknown[] = []
    for (const item of body) items.push(await vendorWordsInTurns(item, turn))
    return items
  }
  if (typeof body !== 'object' || body === null) return body
  const members: [string, unknown][] = []
  for (const [name, value] of Object.entries(body)) {
    members.push([name, isOurs(name, value) ? await vendorWordsInTurns(value, turn) : wordOf(name, value)])
  }
  return Object.fromEntries(members)
}

/** Whether there may be more of our ids in it. `data` is the caller's own on a resource; on an envelope it is a list, of the items themselves. */
const isOurs = (name: string, value: unknown): boolean =>
  typeof value === 'object' && !callersOwn.has(name) && (name !== 'data' || Array.isArray(value))

const wordOf = (name: string, value: unknown): unknown =>
  idMembers.has(name) && typeof value === 'string' ? novuWord(value) : value
