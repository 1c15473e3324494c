// Payload schemas: a workflow's own JSON schema, compiled, and payloads judged by it. Both are the caller's, so both are bounded.
import type { ErrorObject, Options, ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { isEmail } from '../../domain/people/subscriber.ts'
import { Problem } from '../../domain/problem.ts'
import { Turn } from '../../domain/turn.ts'
import { loadLinearEngine } from './linear-pattern.ts'
import { SchemaPatterns } from './schema-patterns.ts'
import { uniqueItems } from './unique-items.ts'
import { isOutOfTime, isStarved, withinTime } from './within-time.ts'

export type PayloadSchema = UsableSchema | UnusableSchema

export interface UsableSchema {
  readonly ok: true
  /**
   * What is wrong with a payload, each message naming the field; if nothing is, the schema's defaults were filled
   * in. Throws what `isTooBusy` recognises if the machine was too busy to tell.
   */
  check(payload: Record<string, unknown>): string[]
  /** Patterns that may take as long as their time limit allows, by their paths: none that is saved now. */
  readonly slowPatterns: readonly string[]
  /** Whether checking this payload takes some microseconds at the most; others may take their time. */
  isQuick(payload: Record<string, unknown>): boolean
}

export interface UnusableSchema {
  readonly ok: false
  readonly message: string
  /** The path in the schema, as `properties.total`; empty for the schema as a whole. */
  readonly path: string
  /** It took too long: on another day it may not. */
  readonly isOutOfTime?: true
  /** Others had the processor: nothing is known about it, nor about payloads. */
  readonly isStarved?: true
}

/** Allows hundreds of fields. The compiled form is some ten times as large, and is cached for every version in use. */
export const payloadSchemaBytesMax = 64 * 1024
/**
 * Objects within it that are schemas, or maps of them. Each costs 0.2 ms of compiling or more, in one piece, whenever a node
 * meets the version for the first time.
 */
export const payloadSchemaPartsMax = 300
/** A payload can be invalid in a thousand places; the first few errors are enough to fix it. */
const messagesMax = 20
/** A value of the schema is repeated in a message up to here. */
const wordsMax = 200
/** A hundred times what the largest sensible schema needs; and what it may take however often others kept it from working. */
const compileLimits: CompileLimits = { timeMaxMs: 1_000, totalMaxMs: 1_500 }
/** For patterns that can take exponential time: short enough not to delay other requests. */
const slowCheckTimeMaxMs = 50
/** For all others: three times what the largest payload needs. Only schemas that double themselves get this far. */
const checkTimeMaxMs = 60
/** Of one check, however often others kept it from working: what one turn of the event loop may take. */
const checkTotalMaxMs = 90
/**
 * The time limit costs 0.15 ms a payload: a schema that is short and has nothing of the below cannot take long, unless parts of
 * it are applied to each member of a payload that has many.
 */
const plainLengthMax = 4_096
const costlyKeywords =
  /"(?:pattern|patternProperties|uniqueItems|\$ref|\$dynamicRef)":|"format":"(?!(?:date|time|date-time|uuid|ipv4|ipv6|email)")/
/** Keywords whose schema is applied to each member: hundreds of parts, times as many members as a payload has. */
const keywordsOfMembers =
  /"(?:items|additionalItems|unevaluatedItems|contains|propertyNames)":|"(?:additional|unevaluated)Properties":\{/
/** With the longest plain schema they take about 2 ms. */
const quickMembersMax = 200

const options: Options = {
  allErrors: true,
  useDefaults: true,
  strict: false,
  logger: false,
  // Written out at every reference, 64 KB of them would become 90 MB.
  inlineRefs: false,
  // Written out name by name, 8,550 names that are required took a second to compile; in loops it takes 16 ms.
  loopRequired: 20,
  loopEnum: 20,
}

const drafts = {
  'draft-07': { Engine: Ajv, meta: new Ajv({ strict: false, logger: false }) },
  '2020-12': { Engine: Ajv2020, meta: new Ajv2020({ strict: false, logger: false }) },
} as const

for (const { meta } of Object.values(drafts)) formats.default(meta)

interface CompileLimits {
  readonly timeMaxMs: number
  readonly totalMaxMs: number
  cpuMs?(): number
}

/** At once. */
export function compilePayloadSchema(
  schema: Readonly<Record<string, unknown>>,
  limits: CompileLimits = compileLimits,
): PayloadSchema {
  const steps = compiling(schema, limits)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The same in turns of the event loop. */
export async function compileInTurns(schema: Readonly<Record<string, unknown>>): Promise<PayloadSchema> {
  const steps = compiling(schema, compileLimits)
  const turn = new Turn()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (turn.isOver()) await turn.next()
  }
}

/** Others may have their turn wherever it yields. */
function* compiling(
  schema: Readonly<Record<string, unknown>>,
  { timeMaxMs, totalMaxMs, cpuMs }: CompileLimits,
): Generator<undefined, PayloadSchema> {
  const bounded = <Result>(work: () => Result): Result => withinTime(timeMaxMs, work, cpuMs, totalMaxMs)
  const draft = draftOf(schema['$schema'])
  if (draft === undefined) {
    return broken('$schema', `must be omitted, or be one of ${Object.keys(drafts).join(' and ')}`)
  }
  if ('$async' in schema) return broken('$async', 'must be omitted: payloads are validated synchronously')
  const { Engine, meta } = drafts[draft]
  try {
    // Compiled with its first use, which must not end in the midst: the half of it would stay.
    meta.validateSchema({})
    yield
    const isSchema = bounded(() => meta.validateSchema(schema))
    const [first] = meta.errors ?? []
    if (isSchema !== true && first !== undefined) return broken(pathOf(first), wordsOf(first))
    yield
    const text = JSON.stringify(schema)
    const isPlain = text.length <= plainLengthMax && !costlyKeywords.test(text)
    const isQuick = quicknessOf(isPlain, keywordsOfMembers.test(text))
    // Not within the time of anything: half of it would stay for good.
    if (!isPlain) loadLinearEngine()
    yield
    const { validate, patterns } = bounded(() => compileWith(Engine, schema))
    yield
    yield* patterns.compile()
    const check = checkOf(isQuick, patterns.slow.size > 0 ? slowCheckTimeMaxMs : checkTimeMaxMs, validate)
    return { ok: true, check, slowPatterns: placesOf(schema, patterns.slow), isQuick }
  } catch (error) {
    return whyNot(schema, error)
  }
}

/**
 * A separate engine: what it caches for a schema is freed with the schema. Each attempt has its own: one that was ended in
 * the midst takes the schema for one that it is compiling still.
 */
function compileWith(Engine: (typeof drafts)[keyof typeof drafts]['Engine'], schema: object) {
  const patterns = new SchemaPatterns()
  const engine = new Engine({ ...options, meta: false, validateSchema: false, code: { regExp: patterns.regExp } })
  formats.default(engine)
  engine.addFormat('email', isEmail)
  engine.removeKeyword('uniqueItems')
  engine.addKeyword(uniqueItems)
  return { validate: engine.compile<Record<string, unknown>>(schema), patterns }
}

/** Stops counting when there are more than allowed. Values that are compared with count as well: a member may have any name. */
export function payloadSchemaParts(schema: unknown): number {
  const open = [schema]
  let parts = 0
  while (open.length > 0 && parts <= payloadSchemaPartsMax) {
    const one = open.pop()
    if (typeof one !== 'object' || one === null) continue
    if (!Array.isArray(one)) parts += 1
    open.push(...Object.values(one))
  }
  return parts
}

function draftOf(named: unknown): keyof typeof drafts | undefined {
  if (named === undefined) return 'draft-07'
  if (typeof named !== 'string') return undefined
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(named)) return 'draft-07'
  return /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(named) ? '2020-12' : undefined
}

const broken = (path: string, message: string) => ({ ok: false, path, message }) as const

function whyNot(schema: unknown, error: unknown): UnusableSchema {
  if (isOutOfTime(error)) {
    const tooLong = { ...broken('', 'takes too long to compile; simplify it'), isOutOfTime: true } as const
    return isStarved(error) ? { ...tooLong, isStarved: true } : tooLong
  }
  const { missingRef, message = 'is not valid' } = error as { missingRef?: string; message?: string }
  const found = textsOf(schema, '').find(({ name, text }) =>
    missingRef === undefined
      ? name === 'pattern' && !isPattern(text)
      : name === '$ref' && (missingRef.endsWith(text) || text.startsWith(missingRef)),
  )
  if (missingRef !== undefined) {
    return broken(found?.path ?? '', cut(`refers to ${found?.text ?? missingRef}, which is not in the schema itself`))
  }
  if (found !== undefined) return broken(found.path, 'is not a regular expression')
  return broken('', cut(`cannot be used: ${message}`))
}

interface PlacedText {
  readonly path: string
  readonly name: string
  readonly text: string
}

function textsOf(value: unknown, path: string): PlacedText[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const place = path === '' ? name : `${path}.${name}`
    return typeof member === 'string' ? [{ path: cut(place), name, text: member }] : textsOf(member, place)
  })
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}

type Quickness = (payload: Record<string, unknown>) => boolean

function quicknessOf(isPlain: boolean, isOfMembers: boolean): Quickness {
  if (!isPlain) return () => false
  return isOfMembers ? (payload) => !hasMoreMembers(payload, quickMembersMax) : () => true
}

/** Counts no further than it must. */
function hasMoreMembers(payload: object, most: number): boolean {
  const open: object[] = [payload]
  let left = most
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const name in one) {
      left -= 1
      if (left < 0) return true
      const member = (one as Record<string, unknown>)[name]
      if (typeof member === 'object' && member !== null) open.push(member)
    }
  }
  return false
}

/** Where patterns are. A `pattern` that is data, not a keyword, is treated as one too. */
function placesOf(schema: object, patterns: ReadonlySet<string>): string[] {
  return patterns.size === 0
    ? []
    : patternsOf(schema, '').flatMap(({ path, text }) => (patterns.has(text) ? [path] : []))
}

function patternsOf(value: unknown, path: string): { path: string; text: string }[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const place = cut(path === '' ? name : `${path}.${name}`)
    if (name === 'pattern' && typeof member === 'string') return [{ path: place, text: member }]
    const names = name === 'patternProperties' && typeof member === 'object' ? Object.keys(member ?? {}) : []
    return [...names.map((text) => ({ path: place, text })), ...patternsOf(member, place)]
  })
}

export const tooBusy = (): Problem =>
  new Problem(503, 'The service is too busy to validate the payload. Please retry', { headers: { 'retry-after': '1' } })

/** Nothing is said about the payload: it is to be checked again. */
export const isTooBusy = (error: unknown): error is Problem => error instanceof Problem && error.status === 503

export function checkOf(
  isQuick: Quickness,
  timeMaxMs: number,
  validate: ValidateFunction,
  cpuMs?: () => number,
): (payload: Record<string, unknown>) => string[] {
  return (payload) => {
    try {
      const check = (): boolean => validate(payload)
      const fits = isQuick(payload) ? check() : withinTime(timeMaxMs, check, cpuMs, checkTotalMaxMs)
      return fits ? [] : messagesOf(validate.errors ?? [])
    } catch (error) {
      // Others had the processor: the payload may be as it should be, and is judged when it comes again.
      if (isStarved(error)) throw tooBusy()
      if (isOutOfTime(error)) return ['payload takes too long to validate against the payloadSchema of the workflow']
      // A schema can refer to itself without end.
      if (error instanceof RangeError) return ['payload is nested too deeply for the payloadSchema of the workflow']
      throw error
    } finally {
      // The function is kept with its workflow, the payload is not.
      validate.errors = null
    }
  }
}

function messagesOf(errors: readonly ErrorObject[]): string[] {
  const messages = new Set<string>()
  for (const error of errors) {
    if (messages.size === messagesMax) break
    const path = pathOf(error)
    messages.add(`${path === '' ? 'payload' : `payload.${path}`} ${wordsOf(error)}`)
  }
  return [...messages]
}

function pathOf(error: ErrorObject): string {
  const parts = error.instancePath.split('/').slice(1)
  if (error.keyword === 'required') parts.push(String(error.params['missingProperty']))
  return cut(parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.'))
}

function wordsOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
      return 'is required'
    case 'enum':
      return cut(`must be one of ${(error.params['allowedValues'] as unknown[]).map(String).join(', ')}`)
    case 'additionalProperties':
      return cut(`must not have the field ${error.params['additionalProperty']}`)
    default:
      return cut(error.message ?? 'is not valid')
  }
}

const cut = (text: string): string => (text.length > wordsMax ? `${text.slice(0, wordsMax)}…` : text)
