// POSTHORN_VENDOR=novu: the built-in ids of an answer, written for clients with closed enums.
import { novuWord } from '../domain/delivery/vendor.ts'

/** Fields that contain one of our ids; everything else is left alone. */
const idMembers = new Set(['providerId', 'origin'])
/** Fields that contain the caller's own data, where the same words mean something else. */
const callersOwn = new Set([
  ...['payload', 'overrides', 'credentials', 'to', 'raw', 'events'],
  ...['controlValues', 'values', 'metadata', 'preview', 'previewPayloadExample', 'payloadSchema'],
])

export function inVendorWords(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(inVendorWords)
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (idMembers.has(name) && typeof value === 'string') return [name, novuWord(value)]
      // `data` is the caller's own on a resource and the items themselves on an envelope, which is a list.
      if (callersOwn.has(name) || (name === 'data' && !Array.isArray(value))) return [name, value]
      return [name, inVendorWords(value)]
    }),
  )
}
