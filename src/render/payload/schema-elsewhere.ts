// Large payload schemas in a thread: the validator compiles a schema in one piece, and a large one takes longer than others should
// wait. Where there are no threads it is compiled here.
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Threads } from '../../world/threads.ts'
import { ThreadFailure } from '../../world/threads.ts'
import { createCheckGroups } from './check-groups.ts'
import type { PayloadSchema, UnusableSchema, UsableSchema } from './payload-schema.ts'
import { compileInTurns, compilePayloadSchema, isTooBusy, tooBusy } from './payload-schema.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** A schema that this thread holds, or one that another does. */
export type KnownSchema = PayloadSchema | SchemaElsewhere

export interface SchemaElsewhere {
  readonly ok: true
  readonly slowPatterns: readonly string[]
  /** Throws what `isTooBusy` recognises, as `check` does. */
  checkElsewhere(payload: JsonObject): Promise<CheckedPayload>
}

export interface CheckedPayload {
  /** What is wrong with it. */
  readonly unfit: readonly string[]
  /** With the defaults of the schema, if nothing is. */
  readonly payload: JsonObject
}

export type CompileSchema = (schema: JsonObject) => KnownSchema | Promise<KnownSchema>

/** As a thread is asked. Texts are copied far quicker than values are. */
export interface SchemaRequest {
  readonly payloadSchema: string
  /** None if only the schema is wanted. */
  readonly payloads: readonly string[]
}

type Verdict = Pick<PayloadSchema & { ok: true }, 'ok' | 'slowPatterns'> | UnusableSchema

/** `payload` is absent where it is as it was given. */
type CheckReply = { readonly unfit: readonly string[]; readonly payload?: string } | { readonly fault: string }

/** Of the first payloads, and of all that there was time for. */
export type SchemaReply =
  | { readonly value: { readonly verdict: Verdict; readonly checks: readonly CheckReply[] } }
  | { readonly fault: string }

/**
 * Values in a schema, whatever they are: a name that is required and a schema that is `false` become code as well. Of the costliest ones
 * each takes some tenths of a millisecond.
 */
export const valuesHereMax = 250

export const compileSchema =
  (threadsNow: () => Threads | undefined): CompileSchema =>
  async (schema) => {
    const threads = threadsNow()
    if (threads === undefined || !hasMoreValues(schema, valuesHereMax)) return compileInTurns(schema)
    const payloadSchema = JSON.stringify(schema)
    const { verdict } = await asked(threads, { payloadSchema, payloads: [] }).catch(withoutVerdict)
    if (!verdict.ok) return verdict
    const check = createCheckGroups(async (payloads) => {
      const reply = await asked(threads, { payloadSchema, payloads })
      // It was compiled before, and had no time for it now.
      if (!reply.verdict.ok) throw tooBusy()
      return reply.checks
    })
    const checkElsewhere = async (payload: JsonObject): Promise<CheckedPayload> => {
      const reply = await check(JSON.stringify(payload)).catch(tooLate)
      if ('fault' in reply) throw faultOf(reply.fault)
      return { unfit: reply.unfit, payload: reply.payload === undefined ? payload : JSON.parse(reply.payload) }
    }
    return { ok: true, slowPatterns: verdict.slowPatterns, checkElsewhere }
  }

type Asked = Extract<SchemaReply, { value: unknown }>['value']

async function asked(threads: Threads, request: SchemaRequest): Promise<Asked> {
  const reply = (await threads.run(request)) as SchemaReply
  if (!('fault' in reply)) return reply.value
  throw faultOf(reply.fault)
}

const faultOf = (fault: string): Error => (fault === busy ? tooBusy() : new Error(fault))

const tooLongToCompile = {
  ok: false,
  path: '',
  message: 'takes too long to compile; simplify it',
  isOutOfTime: true,
} as const

function withoutVerdict(error: unknown): { verdict: Verdict } {
  // A thread that had the processor ends by itself before the deadline, which goes by the clock.
  if (isTooBusy(error) || (error instanceof ThreadFailure && error.kind !== 'broken')) {
    return { verdict: { ...tooLongToCompile, isStarved: true } }
  }
  if (error instanceof ThreadFailure) return { verdict: tooLongToCompile }
  throw error
}

/** A check has a limit that is far below the deadline of its thread: a thread that missed it had to compile, or had no processor. */
function tooLate(error: unknown): never {
  throw error instanceof ThreadFailure ? tooBusy() : error
}

/** Counts no further than it must. */
function hasMoreValues(schema: JsonObject, most: number): boolean {
  const open: unknown[] = [schema]
  let left = most
  while (open.length > 0) {
    const one = open.pop()
    left -= 1
    if (left < 0) return true
    if (typeof one === 'object' && one !== null) for (const name in one) open.push((one as JsonObject)[name])
  }
  return false
}

/** What a thread holds, by their texts: a compiled one is some ten times as long, and a thread has 256 megabytes. */
const heldMax = 1_000
const heldCharactersMax = 5_000_000
const held = new BoundedMap<string, Held>(heldMax, { max: heldCharactersMax, of: ({ characters }) => characters })

interface Held {
  readonly schema: PayloadSchema
  readonly characters: number
}

const busy = 'busy'
/** Others wait for the thread, and the replies are read in one turn: what is left of a group is asked for again. */
const groupMsMax = 200
const repliesCharactersMax = 500_000

/**
 * No one waits for a thread as they do for the event loop. For each of two parts, the schema as such and its code: both together are
 * within the deadline of the thread, if it has the processor.
 */
const limitsInThread = { timeMaxMs: 1_500, totalMaxMs: 2_000 }

/** Its code is compiled with the first call of it, which must not count as the time of a payload. */
function compiledForUse(text: string): PayloadSchema {
  const schema = compilePayloadSchema(JSON.parse(text), limitsInThread)
  try {
    if (schema.ok) schema.check({})
  } catch (error) {
    if (!isTooBusy(error)) throw error
  }
  return schema
}

/** In the thread. */
export function schemaReply({ payloadSchema, payloads }: SchemaRequest): SchemaReply {
  try {
    const schema = held.get(payloadSchema)?.schema ?? compiledForUse(payloadSchema)
    if (!schema.ok) return { value: { verdict: schema, checks: [] } }
    held.set(payloadSchema, { schema, characters: payloadSchema.length })
    const endMs = performance.now() + groupMsMax
    const checks: CheckReply[] = []
    let charactersLeft = repliesCharactersMax
    for (const payload of payloads) {
      const reply = checkReply(schema, payload)
      checks.push(reply)
      charactersLeft -= 'unfit' in reply ? (reply.payload?.length ?? 0) : 0
      if (charactersLeft < 0 || performance.now() > endMs) break
    }
    return { value: { verdict: { ok: true, slowPatterns: schema.slowPatterns }, checks } }
  } catch (error) {
    return { fault: wordsOf(error) }
  }
}

/** What went wrong with one payload says nothing of the others. */
function checkReply(schema: UsableSchema, text: string): CheckReply {
  try {
    const payload = JSON.parse(text)
    const unfit = schema.check(payload)
    if (unfit.length > 0) return { unfit }
    const filled = JSON.stringify(payload)
    return filled === text ? { unfit } : { unfit, payload: filled }
  } catch (error) {
    return { fault: wordsOf(error) }
  }
}

function wordsOf(error: unknown): string {
  if (isTooBusy(error)) return busy
  return error instanceof Error ? error.message : String(error)
}
