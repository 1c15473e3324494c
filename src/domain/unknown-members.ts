// Members of a value that its schema does not know: a walk that is compiled once for each schema.
import { BoundedMap } from './bounded-map.ts'
import { nearMiss } from './nearest.ts'

/** What the walk reads of a JSON schema; everything else is for the validator. */
interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

export interface UnknownMember {
  /** `overrides.emial`, `steps.0.stepz`. */
  readonly path: string
  /** The known name that it is probably meant to be. */
  readonly nearest?: string
}

export type UnknownMembersOf = (value: unknown) => readonly UnknownMember[]

/** More are not worth naming; a body may be full of them. */
export const unknownMembersMax = 20

/** So much of a path is named: a name may be as long as the body. */
const pathLengthMax = 200

const none: readonly UnknownMember[] = []

/** Names that are not reported although no schema has them. */
type Passes = (name: string) => boolean

/** Compiled when first used. A value that lacks nothing costs one look-up for each member. */
export function unknownMembersOf(schema: () => object, passes: Passes = () => false): UnknownMembersOf {
  let level: Level | undefined | 'unread' = 'unread'
  return (value) => {
    if (level === 'unread') level = levelOf(schema() as Schema, passes)
    return level?.unknownIn(value) ?? none
  }
}

/** Of one value, such as a file that is checked once. */
export const unknownMembers = (schema: object, value: unknown): readonly UnknownMember[] =>
  unknownMembersOf(() => schema)(value)

/**
 * One level of a schema. Where anything goes there is none. `names` are those of the value, if they are listed already:
 * of an object with tens of thousands that alone takes many milliseconds.
 */
interface Level {
  /** Whether it is for values of that kind at all: others are for the validator. */
  readonly kind: 'object' | 'array' | 'any'
  knowsAll(value: unknown, names?: readonly string[]): boolean
  /** The first of them, with paths from here; undefined if all are known. */
  unknownIn(value: unknown, names?: readonly string[]): UnknownMember[] | undefined
}

function levelOf(schema: Schema, passes: Passes): Level | undefined {
  if (schema.anyOf !== undefined) return unionOf(schema.anyOf, passes)
  if (schema.properties !== undefined || schema.patternProperties !== undefined) return objectLevel(schema, passes)
  if (typeof schema.additionalProperties === 'object') return objectLevel(schema, passes)
  return schema.items === undefined ? undefined : arrayLevel(schema.items, passes)
}

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What is known of a member: nothing about what is in it, if it has no level. */
interface Known {
  readonly level: Level | undefined
}

const anything: Known = { level: undefined }

function objectLevel(schema: Schema, passes: Passes): Level {
  const { properties = {}, additionalProperties: further } = schema
  const known = (member: Schema): Known => ({ level: levelOf(member, passes) })
  const members = new Map(Object.entries(properties).map(([name, member]) => [name, known(member)]))
  const patterns = Object.entries(schema.patternProperties ?? {}).map(
    ([pattern, member]) => [new RegExp(pattern, 'u'), known(member)] as const,
  )
  const others = typeof further === 'object' ? known(further) : undefined
  const otherMember = (name: string): Known | undefined => {
    const matched = patterns.find(([pattern]) => pattern.test(name))
    if (matched !== undefined) return matched[1]
    return others ?? (further === true || passes(name) ? anything : undefined)
  }
  const nearestTo = nearestAmong([...members.keys()])
  return {
    kind: 'object',
    knowsAll: (value, names) => {
      if (!isObject(value)) return true
      for (const name of names ?? Object.keys(value)) {
        const member = members.get(name) ?? otherMember(name)
        if (member === undefined || member.level?.knowsAll(value[name]) === false) return false
      }
      return true
    },
    unknownIn: (value, names) => {
      if (!isObject(value)) return undefined
      let found: UnknownMember[] | undefined
      for (const name of names ?? Object.keys(value)) {
        const member = members.get(name) ?? otherMember(name)
        if (member === undefined) found = withMore(found, [unknownMember(name, nearestTo(name))])
        else if (member.level !== undefined) found = withMore(found, member.level.unknownIn(value[name]), name)
        if (found !== undefined && found.length >= unknownMembersMax) break
      }
      return found
    },
  }
}

/** Who misspells a name does so in every call. */
const slipsKept = 100

function nearestAmong(names: readonly string[]): (name: string) => string | undefined {
  const slips = new BoundedMap<string, string | undefined>(slipsKept)
  return (name) => {
    if (slips.has(name)) return slips.get(name)
    const nearest = nearMiss(name, names)
    if (name.length <= pathLengthMax) slips.set(name, nearest)
    return nearest
  }
}

function unknownMember(path: string, nearest: string | undefined): UnknownMember {
  return { path: path.slice(0, pathLengthMax), ...(nearest === undefined ? {} : { nearest }) }
}

/** Those inside of a member are named by the way to it. */
function withMore(
  found: UnknownMember[] | undefined,
  more: readonly UnknownMember[] | undefined,
  inside?: string | number,
): UnknownMember[] | undefined {
  if (more === undefined) return found
  const place = inside === undefined ? '' : `${String(inside).slice(0, pathLengthMax)}.`
  const all = found ?? []
  for (const { path, nearest } of more.slice(0, unknownMembersMax - all.length)) {
    all.push(unknownMember(place + path, nearest))
  }
  return all
}

function arrayLevel(items: Schema, passes: Passes): Level | undefined {
  const level = levelOf(items, passes)
  if (level === undefined) return undefined
  return {
    kind: 'array',
    knowsAll: (value) => {
      if (!Array.isArray(value)) return true
      for (let at = 0; at < value.length; at += 1) if (!level.knowsAll(value[at])) return false
      return true
    },
    unknownIn: (value) => {
      if (!Array.isArray(value)) return undefined
      let found: UnknownMember[] | undefined
      for (let at = 0; at < value.length && (found?.length ?? 0) < unknownMembersMax; at += 1) {
        found = withMore(found, level.unknownIn(value[at]), at)
      }
      return found
    },
  }
}

/** What a schema without a level lets through: all objects, or none because it is for texts and numbers. */
const takesAnyObject = ({ type }: Schema): boolean =>
  type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))

/** Of several ways to write a value the one that knows most of it counts. */
function unionOf(ways: readonly Schema[], passes: Passes): Level | undefined {
  const levels: Level[] = []
  for (const way of ways) {
    const level = levelOf(way, passes)
    if (level !== undefined) levels.push(level)
    else if (takesAnyObject(way)) return undefined
  }
  if (levels.length === 0) return undefined
  const objects = levels.filter(({ kind }) => kind !== 'array')
  const arrays = levels.filter(({ kind }) => kind !== 'object')
  const fitting = (value: unknown): readonly Level[] => {
    if (Array.isArray(value)) return arrays
    return isObject(value) ? objects : []
  }
  return {
    kind: 'any',
    knowsAll: (value, names) => {
      const candidates = fitting(value)
      for (const level of candidates) if (level.knowsAll(value, names)) return true
      return candidates.length === 0
    },
    unknownIn: (value) => {
      const candidates = fitting(value)
      if (candidates.length <= 1) return candidates[0]?.unknownIn(value)
      const names = isObject(value) ? Object.keys(value) : undefined
      if (candidates.some((level) => level.knowsAll(value, names))) return undefined
      const readings = candidates.map((level) => level.unknownIn(value, names) ?? [])
      return readings.sort((one, other) => strangeness(one) - strangeness(other))[0]
    },
  }
}

/** Fewer are better; of as many those that are nearly right, and those that are further inside. */
const strangeness = (members: readonly UnknownMember[]): number =>
  members.reduce((sum, { path, nearest }) => sum + (nearest === undefined ? 3 : 2) + 1 / path.split('.').length, 0)
