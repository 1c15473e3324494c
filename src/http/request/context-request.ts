// The contexts that a call names: `{type: id}` or `{type: {id, data}}`.
import type { ContextMention } from '../../domain/delivery/event.ts'
import { contextDataBytesMax, contextsPerEventMax } from '../../domain/delivery/event.ts'
import { Mistakes } from './mistakes.ts'

const contextPart = /^[A-Za-z0-9_-]{1,100}$/

export function readContext(given: Readonly<Record<string, unknown>>): ContextMention[] | Mistakes {
  const entries = Object.entries(given)
  if (entries.length > contextsPerEventMax) {
    return new Mistakes([`at most ${contextsPerEventMax} types are allowed`])
  }
  const mentions: ContextMention[] = []
  for (const [type, value] of entries) {
    const { id, data } = (typeof value === 'string' ? { id: value } : (value ?? {})) as { id?: unknown; data?: unknown }
    if (!contextPart.test(type) || typeof id !== 'string' || !contextPart.test(id)) {
      return new Mistakes([`${type.slice(0, 100)} must map to an id; both of 1 to 100 letters, digits, _ or -`])
    }
    if (data !== undefined && (typeof data !== 'object' || data === null || Array.isArray(data))) {
      return new Mistakes([`${type}.data must be an object`])
    }
    if (data !== undefined && Buffer.byteLength(JSON.stringify(data)) > contextDataBytesMax) {
      return new Mistakes([`${type}.data is larger than ${contextDataBytesMax} bytes`])
    }
    mentions.push({ type, id, ...(data === undefined ? {} : { data: data as Record<string, unknown> }) })
  }
  return mentions
}
