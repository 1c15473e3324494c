// Reading variables as LiquidJS does: own members only, and `size`, `first` and `last` of what has them.
import { Drop, toValue } from 'liquidjs'
import type { Budget } from '../limits.ts'

export function memberAt(owner: unknown, name: unknown, budget: Budget): unknown {
  if (owner === null || owner === undefined) return owner
  if (typeof owner === 'object' && typeof name === 'string' && !(owner instanceof Drop)) {
    if (Object.hasOwn(owner, name)) {
      const value = (owner as Record<string, unknown>)[name]
      if (typeof value !== 'function') return value
    } else if (!Array.isArray(owner)) return name === 'size' ? budget.keysOf(owner).length : undefined
  }
  return oddMemberAt(owner, toValue(name) as string | number, budget)
}

/** What templates read of loops and captured texts. All else is ours: a class or a method could be called, and its state is shared. */
const dropMembers: ReadonlySet<string | number> = new Set(
  'i index index0 rindex rindex0 first last length name size cols row col col0 col_first col_last'.split(' '),
)

/** Of lists, texts, drops and the like. */
function oddMemberAt(owner: unknown, name: string | number, budget: Budget): unknown {
  if (Array.isArray(owner) && typeof name === 'number') {
    const index = name < 0 ? owner.length + name : name
    return Object.hasOwn(owner, index) ? owner[index] : undefined
  }
  const fields = owner as Record<string | number, unknown>
  const isReadable = owner instanceof Drop ? dropMembers.has(name) : Object.hasOwn(owner as object, name)
  const value = isReadable ? fields[name] : undefined
  if (value === undefined && owner instanceof Drop) return undefined
  if (typeof value === 'function') return value.call(owner)
  if (value !== undefined) return value
  if (name === 'size') return sizeOf(owner, budget)
  if (Array.isArray(owner)) {
    if (name === 'first') return owner[0]
    if (name === 'last') return owner.at(-1)
  }
  return undefined
}

function sizeOf(owner: unknown, budget: Budget): number | undefined {
  if (Array.isArray(owner) || typeof owner === 'string') return owner.length
  return typeof owner === 'object' && owner !== null ? budget.keysOf(owner).length : undefined
}

/** What a loop goes through. */
export interface Members {
  readonly list: readonly unknown[]
  /** For an object: the list has its names, and the loop gets names with values, each created on its turn. */
  readonly owner?: Readonly<Record<string, unknown>> | undefined
}

const none: Members = { list: [] }

export function membersOf(given: unknown, budget: Budget): Members {
  const value: unknown = toValue(given)
  if (Array.isArray(value)) return { list: value }
  if (typeof value === 'string') return value === '' ? none : { list: [value] }
  if (typeof value !== 'object' || value === null) return none
  if (Symbol.iterator in value) return { list: Array.from(value as Iterable<unknown>) }
  return { list: budget.keysOf(value), owner: value as Record<string, unknown> }
}
