// Cursors: opaque to the caller, they hold the sort value and the id of an item, so they outlive it.
import { badRequest } from '../../domain/problem.ts'
import { isUuid } from '../../domain/uuid-v7.ts'

export interface Cursor {
  /** The order of the list: a cursor of one order means nothing in another. */
  readonly orderBy: string
  readonly value: string
  readonly id: string
}

export function writeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify([cursor.orderBy, cursor.value, cursor.id]), 'utf8').toString('base64url')
}

/** Throws 400 for anything `writeCursor` did not write for this order. */
export function readCursor(text: string, orderBy: string, isId: (id: string) => boolean = isUuid): Cursor {
  const parts = parse(text)
  const [writtenFor, value, id] = parts ?? []
  if (typeof writtenFor !== 'string' || typeof value !== 'string' || typeof id !== 'string' || !isId(id)) {
    throw badRequest('The cursor is not valid')
  }
  if (writtenFor !== orderBy) throw badRequest(`The cursor belongs to a list with another order than ${orderBy}`)
  return { orderBy, value, id }
}

function parse(text: string): unknown[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    return Array.isArray(parts) ? parts : undefined
  } catch {
    return undefined
  }
}
