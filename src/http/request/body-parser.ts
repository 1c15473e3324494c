// Reading a JSON body: UTF-8, bounded depth, no prototype poisoning, no text that a database cannot hold.
import { isUtf8 } from 'node:buffer'
import { eventBytesMax, eventsPerCallMax } from '../../domain/delivery/event.ts'
import type { ScanRefusal } from '../../domain/json-scan.ts'
import { blankBytesMax, scanJson, wordBytesMax } from '../../domain/json-scan.ts'
import { parseInTurns, pieceBytes } from '../../domain/parse-in-turns.ts'
import { Problem } from '../../domain/problem.ts'
import type { Turn } from '../../domain/turn.ts'
import type { JudgedAs } from '../route.ts'
import { bodyMembersMax, bodyValuesMax, mediumBodyBytes } from './body-budget.ts'

/** A longer field path is cut when it is shown: a field name can be as long as the body. */
const namedPathMax = 200

/** Deeper than any real payload; far below what would exhaust a stack here or in the database. */
export const jsonDepthMax = 100

/**
 * If each element is checked separately, one that is too deep must not cost the others. JSON is parsed without a stack,
 * but written with one that ends at some 4,000 levels.
 */
const judgedDepthMax = 1_000

/** None of them, an object, an array or a text, is shorter. */
const valueBytesMin = 2

/** Objects, arrays and texts of one event: more are more bytes than an event may have. */
export const eventValuesMax = eventBytesMax / valueBytesMin

/** Of one object, each of them different: to list, to copy and to write them takes some 10 ms each. */
export const fieldsPerObjectMax = 32_768

export type ParseJson = (text: string) => unknown

/** What an element could be rejected for appears in the text as one of these; hardly any body contains one. */
const suspicious = /\\u|"__proto__"|"constructor"|[0-9][eE]|[0-9]{300}/
const plainBodies = new WeakMap<object, number>()

/**
 * The size of a body that certainly needs no checking, or of the largest event of a bulk: neither depth, names, numbers
 * nor texts. Undefined if something might. Checking each element costs a twentieth of the time it takes to accept it.
 */
export function plainBytesOf(body: unknown): number | undefined {
  return typeof body === 'object' && body !== null ? plainBodies.get(body) : undefined
}

/**
 * `parse` is the JSON parser that rejects `__proto__` and `constructor.prototype`. `judgesText`: the route itself
 * checks texts, fields and depth, so it gets everything: JSON.parse makes `__proto__` a field like any other.
 */
export function readJsonBody(bytes: Buffer, parse: ParseJson, judgesText = false): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw notUtf8()
  const depthMax = judgesText ? judgedDepthMax : jsonDepthMax
  const depth = depthOf(bytes)
  if (depth > depthMax) throw tooDeep(depthMax)
  const text = bytes.toString('utf8')
  let body: unknown
  try {
    body = judgesText ? JSON.parse(text.replace(/^\uFEFF/, '')) : parse(text)
  } catch {
    throw isJson(text) ? poisonous() : notJson()
  }
  if (judgesText && depth <= jsonDepthMax && typeof body === 'object' && body !== null && !suspicious.test(text)) {
    plainBodies.set(body, bytes.length)
  }
  // NUL and lone surrogates can only come from an escape: raw ones are not JSON or not UTF-8.
  if (!judgesText && text.includes('\\u')) refuseUnstorableText(body, '')
  return body
}

const notUtf8 = (): Problem => new Problem(400, 'The body is not valid UTF-8')
const notJson = (): Problem => new Problem(400, 'The body is not sent as JSON')
const poisonous = (): Problem => new Problem(400, 'The body has a field that would change a prototype')
const tooDeep = (depthMax: number): Problem => new Problem(400, `The body is nested more than ${depthMax} levels deep`)
const tooMany = (valuesMax: number): Problem =>
  new Problem(400, `The body contains more than ${valuesMax} objects, arrays and strings`)

export interface LargeBodyRules {
  readonly parse: ParseJson
  readonly judgesText: JudgedAs | undefined
  /** Waits until a body of so many values may be parsed. */
  takeValues(values: number): Promise<void>
  readonly turn: Turn
}

/**
 * A body that is not small: scanned before anything of it is parsed, and in turns. One whose elements are checked
 * separately may have any size that its route allows, and is parsed in pieces; any other is not large enough to be.
 */
export async function readLargeJsonBody(bytes: Buffer, rules: LargeBodyRules): Promise<unknown> {
  if (!isUtf8(bytes)) throw notUtf8()
  const { turn } = rules
  const depthMax = rules.judgesText === undefined ? jsonDepthMax : judgedDepthMax
  const valuesMax = valuesMaxOf(rules.judgesText)
  const limits = {
    depthMax,
    valuesMax,
    commasMax: bodyMembersMax,
    pieceBytes,
    namesMax: fieldsPerObjectMax,
    ...(rules.judgesText === 'events' ? { partValuesMax: eventValuesMax } : {}),
  }
  const json = withoutMark(bytes)
  const scan = await scanJson(json, limits, turn)
  if (typeof scan === 'string') throw refused(scan, { depthMax, valuesMax })
  await rules.takeValues(scan.values)
  const isQuick = bytes.length <= eventBytesMax && scan.values <= quickValuesMax
  if (rules.judgesText === undefined && isQuick) return readJsonBody(bytes, rules.parse)
  const listMax = rules.judgesText === 'events' ? { listMax: eventsReadMax } : {}
  const body = await (isQuick ? parseAtOnce(json) : parseInTurns(json, scan, turn, listMax)).catch((error: unknown) => {
    throw error instanceof SyntaxError ? notJson() : error
  })
  if (typeof body !== 'object' || body === null) return body
  largeBodies.add(body)
  if (rules.judgesText === undefined) {
    if (scan.isSuspicious) await refuseUnfit(body, turn)
    return body
  }
  if (!scan.isSuspicious && scan.depth <= jsonDepthMax) {
    plainBodies.set(body, rules.judgesText === 'events' ? scan.elementBytes : bytes.length)
  }
  return body
}

/** What `parse` and readJsonBody refuse, of a body that was parsed in turns: each look through it has its own. */
async function refuseUnfit(body: object, turn: Turn): Promise<void> {
  await turn.next()
  if (changesPrototype(body)) throw poisonous()
  await turn.next()
  refuseUnstorableText(body, '')
}

function changesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(changesPrototype)
  if (Object.hasOwn(value, '__proto__')) return true
  const own = Object.hasOwn(value, 'constructor') ? value.constructor : undefined
  if (typeof own === 'object' && own !== null && Object.hasOwn(own, 'prototype')) return true
  for (const name in value) if (changesPrototype((value as Readonly<Record<string, unknown>>)[name])) return true
  return false
}

/** A larger bulk body is rejected by its schema, and reported as such whether all of it was read or not. */
const eventsReadMax = 10 * eventsPerCallMax

/** As most bulk bodies do: pieces would cost more than the few milliseconds that such a body takes. */
const quickValuesMax = 30_000

async function parseAtOnce(json: Buffer): Promise<unknown> {
  return JSON.parse(json.toString('utf8'))
}

/** Bodies that are not judged in parts are of a mebibyte at most, and may be full of the smallest values. */
function valuesMaxOf(judgesText: JudgedAs | undefined): number {
  if (judgesText === undefined) return mediumBodyBytes / valueBytesMin
  return judgesText === 'events' ? bodyValuesMax : eventValuesMax
}

/** Bodies that were parsed in turns, and have to be checked and hashed in turns. */
const largeBodies = new WeakSet<object>()

export function isLargeBody(body: unknown): boolean {
  return typeof body === 'object' && body !== null && largeBodies.has(body)
}

function refused(refusal: ScanRefusal, { depthMax, valuesMax }: { depthMax: number; valuesMax: number }): Problem {
  if (refusal === 'too deep') return tooDeep(depthMax)
  if (refusal === 'too many names')
    return new Problem(400, `The body contains an object with more than ${fieldsPerObjectMax} fields`)
  if (refusal === 'too many fields') return new Problem(400, `The body contains more than ${bodyMembersMax} values`)
  if (refusal === 'too much whitespace')
    return new Problem(400, `The body contains more than ${blankBytesMax} consecutive whitespace characters`)
  if (refusal === 'too long a number')
    return new Problem(400, `The body contains a number of more than ${wordBytesMax} digits`)
  return refusal === 'not JSON' ? notJson() : tooMany(valuesMax)
}

/** The mark that some editors begin a text with. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Compressed bodies are refused, not unpacked: a small one can hold gigabytes. */
export function refuseEncodedBody(contentEncoding: string | undefined): void {
  if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== 'identity') {
    throw new Problem(415, 'The body must be sent without a content-encoding')
  }
}

/** How deep the brackets go, strings left out. One pass over the bytes, before anything recursive sees them. */
function depthOf(bytes: Buffer): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]
    if (inString) {
      if (byte === 0x5c) index += 1
      else if (byte === 0x22) inString = false
    } else if (byte === 0x22) inString = true
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1
      if (depth > deepest) deepest = depth
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1
  }
  return deepest
}

export const unstorableWords = 'must not contain NUL characters or unpaired surrogates'

export const isUnstorable = (text: string): boolean => text.includes('\u0000') || !text.isWellFormed()

/** PostgreSQL holds neither NUL nor half a surrogate pair; found here, it is the caller's 422 and not our 500. */
export function refuseUnstorableText(value: unknown, path: string): void {
  const place = placeOfUnstorable(value)
  if (place !== undefined) throw unstorable([...(path === '' ? [] : [path]), ...place.reverse()].join('.'))
}

/** From the inside out: no path is written for a text that is good, since a body may have a hundred thousand. */
function placeOfUnstorable(value: unknown): string[] | undefined {
  if (typeof value === 'string') return isUnstorable(value) ? [] : undefined
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const place = placeOfUnstorable(value[index])
      if (place !== undefined) return within(place, String(index))
    }
    return undefined
  }
  for (const name of Object.keys(value)) {
    const place = isUnstorable(name) ? [] : placeOfUnstorable((value as Readonly<Record<string, unknown>>)[name])
    if (place !== undefined) return within(place, name)
  }
  return undefined
}

function within(place: string[], name: string): string[] {
  place.push(name)
  return place
}

/** A path that is safe to show. */
export function shownPath(path: string): string {
  return path.slice(0, namedPathMax).toWellFormed().replaceAll('\u0000', '\uFFFD')
}

function unstorable(path: string): Problem {
  const field = shownPath(path) || 'body'
  const message = `${field} ${unstorableWords}`
  return new Problem(422, 'Validation Error', { members: { errors: { [field]: { messages: [message] } } } })
}
