// What differs between two states of something, fit for the audit log: only that, bounded, and without secrets.
import { createHash } from 'node:crypto'
import { canonicalJson } from '../canonical-json.ts'

export type Members = Readonly<Record<string, unknown>>

/** A state of something: as it is compared, and as it may be seen. Both have the same members; secrets are struck out. */
export interface Recorded {
  readonly compared: Members
  readonly shown: Members
}

/** An e-mail template fits; longer texts are recorded by their hash. */
export const auditTextLengthMax = 16 * 1024
/** Of each side of an entry: a page of the log stays small enough to be read at once. */
export const auditSideBytesMax = 128 * 1024

export interface Difference {
  readonly before: Members | null
  readonly after: Members | null
}

/** Undefined when nothing differs. */
export function differenceOf(before: Recorded | undefined, after: Recorded | undefined): Difference | undefined {
  if (before === undefined || after === undefined) {
    if (before === after) return undefined
    return { before: before ? bounded(before.shown) : null, after: after ? bounded(after.shown) : null }
  }
  const difference = compared(before, after)
  return difference && { before: bounded(difference.before), after: bounded(difference.after) }
}

function compared(before: Recorded, after: Recorded): { before: Members; after: Members } | undefined {
  const names = [...new Set([...Object.keys(before.compared), ...Object.keys(after.compared)])]
  const changed = names.filter((name) => !isSame(before.compared[name], after.compared[name]))
  if (changed.length === 0) return undefined
  const sides = changed.map((name) => {
    const [was, is] = [pairAt(before, name), pairAt(after, name)]
    const inner = isRecorded(was) && isRecorded(is) ? compared(was, is) : undefined
    return { name, before: inner?.before ?? was.shown, after: inner?.after ?? marked(was.compared, is) }
  })
  const side = (which: 'before' | 'after'): Members =>
    Object.fromEntries(sides.flatMap((one) => (one[which] === undefined ? [] : [[one.name, one[which]]])))
  return { before: side('before'), after: side('after') }
}

interface Pair {
  readonly compared: unknown
  readonly shown: unknown
}

const pairAt = ({ compared, shown }: Recorded, name: string): Pair => ({ compared: compared[name], shown: shown[name] })

const isRecorded = (pair: Pair): pair is Recorded => isMembers(pair.compared) && isMembers(pair.shown)

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isSame = (one: unknown, other: unknown): boolean => canonicalJson(one) === canonicalJson(other)

/** A secret looks the same before and after: if it changed, that is stated. */
function marked(was: unknown, is: Pair): unknown {
  const { compared, shown } = is
  if (Array.isArray(shown) && Array.isArray(compared)) {
    return shown.map((one, index) => marked(inside(was, index), { compared: compared[index], shown: one }))
  }
  if (isMembers(shown) && isMembers(compared)) {
    return Object.fromEntries(
      Object.entries(shown).map(([name, one]) => [
        name,
        marked(inside(was, name), { compared: compared[name], shown: one }),
      ]),
    )
  }
  const isStruckOut = typeof shown === 'string' && shown !== compared
  return isStruckOut && was !== undefined && !isSame(was, compared) ? `${shown} (changed)` : shown
}

function inside(value: unknown, name: string | number): unknown {
  if (Array.isArray(value)) return value[Number(name)]
  return isMembers(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function bounded(side: Members): Members {
  const members = Object.entries(side).flatMap(([name, value]) => {
    const short = withShortTexts(value)
    const text = canonicalJson(short)
    return text === undefined ? [] : [{ name, value: short, bytes: Buffer.byteLength(text) }]
  })
  let bytes = members.reduce((sum, member) => sum + member.bytes, 0)
  // The longest first, so that as few as possible are recorded by their hash alone.
  const shortened = new Set<string>()
  for (const member of [...members].sort((one, other) => other.bytes - one.bytes)) {
    if (bytes <= auditSideBytesMax) break
    shortened.add(member.name)
    bytes -= member.bytes
  }
  return Object.fromEntries(
    members.map(({ name, value }) => [name, shortened.has(name) ? summaryOf(canonicalJson(value) ?? '') : value]),
  )
}

function withShortTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.length > auditTextLengthMax ? summaryOf(value) : value
  if (Array.isArray(value)) return value.map(withShortTexts)
  if (!isMembers(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withShortTexts(one)]))
}

/** Two long texts can still be distinguished, and a known one can be recognised. */
const summaryOf = (text: string): Members => ({
  sha256: createHash('sha256').update(text).digest('hex'),
  length: text.length,
})
