// Whether an event can be stored as it was sent: its depth, its field names, its numbers and texts.
import { isUnstorable, jsonDepthMax, shownPath, unstorableWords } from './body-parser.ts'

interface Unfit {
  /** The names on the way to it, the innermost first. */
  readonly path: string[]
  words(field: string): string
}

const tooDeep = (): Unfit => ({ path: [], words: () => `The event is nested more than ${jsonDepthMax} levels deep` })
const poisonous = (): Unfit => ({ path: [], words: (field) => `${field} would change a prototype and is not allowed` })
const unstorableText = (): Unfit => ({ path: [], words: (field) => `${field} ${unstorableWords}` })
const tooLarge = (): Unfit => ({ path: [], words: (field) => `${field} is a number too large to be stored` })

/** The first thing that cannot be kept, in words that name its place; undefined when all can. */
export function unfitValue(event: unknown): string | undefined {
  const unfit = findUnfit(event, 1)
  if (unfit === undefined) return undefined
  return unfit.words(shownPath(unfit.path.reverse().join('.')) || 'The event')
}

/** Goes no deeper than allowed, so the stack is safe whatever was sent. */
function findUnfit(value: unknown, depth: number): Unfit | undefined {
  if (typeof value === 'string') return isUnstorable(value) ? unstorableText() : undefined
  // 1e400 is read as Infinity, and would be written as null.
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : tooLarge()
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > jsonDepthMax) return tooDeep()
  return Array.isArray(value) ? findInArray(value, depth) : findInObject(value, depth)
}

function findInArray(items: readonly unknown[], depth: number): Unfit | undefined {
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index]
    // Files may come as lists of millions of these.
    if (typeof item === 'number' && Number.isFinite(item)) continue
    const unfit = findUnfit(item, depth + 1)
    if (unfit !== undefined) return within(String(index), unfit)
  }
  return undefined
}

function findInObject(members: object, depth: number): Unfit | undefined {
  for (const name of Object.keys(members)) {
    const member = (members as Readonly<Record<string, unknown>>)[name]
    const unfit = findInName(name, member) ?? findUnfit(member, depth + 1)
    if (unfit !== undefined) return within(name, unfit)
  }
  return undefined
}

/** The same fields that every other body is rejected for. */
function findInName(name: string, member: unknown): Unfit | undefined {
  if (isUnstorable(name)) return unstorableText()
  if (name === '__proto__') return poisonous()
  const isObject = typeof member === 'object' && member !== null
  return name === 'constructor' && isObject && Object.hasOwn(member, 'prototype') ? poisonous() : undefined
}

function within(name: string, unfit: Unfit): Unfit {
  unfit.path.push(name)
  return unfit
}

/** Its minimum size as JSON; counted until it exceeds `enough`, however deep it goes. */
export function leastBytesOf(event: unknown, enough: number): number {
  const open: object[] = []
  let bytes = 0
  const count = (value: unknown): void => {
    // With the comma or the bracket after it.
    bytes += typeof value === 'string' ? value.length + 3 : 2
    if (typeof value === 'object' && value !== null) open.push(value)
  }
  count(event)
  for (let value = open.pop(); value !== undefined && bytes <= enough; value = open.pop()) {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length && bytes <= enough; index += 1) count(value[index])
    } else {
      for (const name of Object.keys(value)) {
        bytes += name.length + 3
        count((value as Readonly<Record<string, unknown>>)[name])
      }
    }
  }
  return bytes
}
