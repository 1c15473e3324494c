// What is wrong with a schema that is to be saved, found before anything is locked: in turns, or in a thread.
import { createHash } from 'node:crypto'
import { BoundedMap } from '../../domain/bounded-map.ts'
import type { Threads } from '../../world/threads.ts'
import type { PayloadSchema } from './payload-schema.ts'
import {
  compilePayloadSchema,
  payloadSchemaBytesMax,
  payloadSchemaParts,
  payloadSchemaPartsMax,
  tooBusy,
} from './payload-schema.ts'
import type { KnownSchema } from './schema-elsewhere.ts'
import { compileSchema } from './schema-elsewhere.ts'

type JsonObject = Readonly<Record<string, unknown>>
export type SchemaVerdict =
  | { readonly ok: true; readonly slowPatterns: readonly string[] }
  | Extract<PayloadSchema, { ok: false }>

/** Asked for soon after they were found: more are not saved at one time. */
const knownMax = 100
const known = new BoundedMap<string, SchemaVerdict>(knownMax)

/** Afterwards `schemaVerdict` knows it. What is refused for its size is not looked at. */
export async function judgeSchemaAhead(threads: Threads | undefined, schema: unknown): Promise<void> {
  if (!isObject(schema)) return
  const text = JSON.stringify(schema)
  if (text.length > payloadSchemaBytesMax || payloadSchemaParts(schema) > payloadSchemaPartsMax) return
  const key = keyOf(text)
  // One that took too long may take less another time.
  const before = known.get(key)
  if (before !== undefined && (before.ok || before.isOutOfTime !== true)) return
  const verdict = verdictOf(await compileSchema(() => threads)(schema))
  if (!verdict.ok && verdict.isStarved === true) throw tooBusy()
  known.set(key, verdict)
}

export function schemaVerdict(schema: JsonObject): SchemaVerdict {
  const found = known.get(keyOf(JSON.stringify(schema)))
  return found ?? verdictOf(compilePayloadSchema(schema))
}

/** The compiled schema itself is not kept. */
const verdictOf = (schema: KnownSchema): SchemaVerdict =>
  schema.ok ? { ok: true, slowPatterns: schema.slowPatterns } : schema

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const keyOf = (text: string): string => createHash('sha256').update(text).digest('base64')
