// The feed's payload filter: base64 of a partial JSON object.
import { invalidField, Problem } from '../../domain/problem.ts'
import { readJsonBody } from './body-parser.ts'

/** A request line has room for little more. */
export const payloadFilterLengthMax = 8_192

/** Undefined when there is none: forms send their empty fields too. */
export function readPayloadFilter(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined || text === '') return undefined
  // A `+` that was not percent-encoded arrives as a blank; the alphabet for addresses is as good.
  const base64 = text.replaceAll(' ', '+').replaceAll('-', '+').replaceAll('_', '/')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw unreadable()
  try {
    const filter = readJsonBody(Buffer.from(base64, 'base64'), JSON.parse)
    if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) throw unreadable()
    return filter as Record<string, unknown>
  } catch (error) {
    // What a body would be rejected for is an error in one field here.
    throw error instanceof Problem ? unreadable() : error
  }
}

const unreadable = (): Problem =>
  invalidField('payload', 'payload must be the base64 encoding of a JSON object, such as {"orderId":"42"}')
