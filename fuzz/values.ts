// Values for a schema of the document: ones that fit, ones that nearly fit, and hostile ones in places that take them.
import type { Random } from '../test/support/random.ts'
import type { Document, Schema } from './document.ts'
import { crons, hostileText, templates } from './hostile-texts.ts'
import { hostileLogic, hostilePayload, hostileSchema, hostileValue } from './hostile-values.ts'
import type { Known } from './known.ts'

export type Mode = 'valid' | 'nearly' | 'hostile'

export interface Maker {
  readonly random: Random
  readonly document: Document
  readonly known: Known
  readonly mode: Mode
  /** Bounds the count of pieces of whatever can be large. */
  readonly size: number
}

const depthMax = 7
/** How often a value of each mode is something else than its schema says. */
const wrong: Readonly<Record<Mode, number>> = { valid: 0, nearly: 0.06, hostile: 0.25 }

export function valueFor(maker: Maker, given: Schema, name = '', depth = 0): unknown {
  const { random, document, size } = maker
  const schema = document.resolve(given)
  if (random.chance(wrong[maker.mode])) return hostileValue(random, size)
  const special = specialValue(maker, name)
  if (special !== undefined) return special
  if (schema?.const !== undefined) return schema.const
  if (Array.isArray(schema?.enum)) return random.oneOf(schema.enum)
  if (Array.isArray(schema?.examples) && schema.examples.length > 0 && random.chance(0.3))
    return random.oneOf(schema.examples)
  const choices = schema?.anyOf ?? schema?.oneOf
  if (Array.isArray(choices)) return valueFor(maker, random.oneOf(choices), name, depth)
  const type = Array.isArray(schema?.type) ? random.oneOf(schema.type) : schema?.type
  switch (type) {
    case 'object':
      return objectFor(maker, schema, depth)
    case 'array':
      return listFor(maker, schema, name, depth)
    case 'integer':
    case 'number':
      return numberFor(maker, schema)
    case 'boolean':
      return random.chance(0.5)
    case 'null':
      return null
    case 'string':
      return textFor(maker, schema, name)
    default:
      return random.chance(0.5) ? textFor(maker, {}, name) : hostileValue(random, Math.min(size, 50))
  }
}

/** Places whose name tells what the service does with them. */
function specialValue(maker: Maker, name: string): unknown {
  const { random, mode, size } = maker
  if (mode === 'valid' ? random.chance(0.8) : random.chance(0.4)) return undefined
  if (name === 'payload' || name === 'customResult') return hostilePayload(random, size)
  if (name === 'skip') return hostileLogic(random, size)
  if (name === 'payloadSchema') return hostileSchema(random, size)
  if (name === 'cron') return random.oneOf(crons)
  // Of queries: a list of conditions, each of which may be a statement.
  if (mode !== 'hostile') return undefined
  if (name === 'filters') return JSON.stringify(Array.from({ length: random.integer(400) }, () => ({ read: false })))
  if (name === 'data') return JSON.stringify(hostileValue(random, Math.min(size, 50)))
  return undefined
}

function objectFor(maker: Maker, schema: Schema, depth: number): unknown {
  const { random } = maker
  const required = new Set<string>(schema.required ?? [])
  const share = depth > depthMax ? 0 : depth > 3 ? 0.25 : 0.5
  const entries: [string, unknown][] = []
  for (const [name, member] of Object.entries<Schema>(schema.properties ?? {})) {
    const isLeftOut = maker.mode === 'valid' ? false : random.chance(0.06)
    if (required.has(name) ? isLeftOut : !random.chance(share)) continue
    entries.push([name, valueFor(maker, member, name, depth + 1)])
  }
  const mayHaveMore = schema.additionalProperties === true || maker.mode !== 'valid'
  if (mayHaveMore && random.chance(0.2))
    entries.push([hostileText(random, '', 10), hostileValue(random, Math.min(maker.size, 50))])
  return Object.fromEntries(entries)
}

function listFor(maker: Maker, schema: Schema, name: string, depth: number): unknown {
  const { random, mode } = maker
  const most = Math.min(schema.maxItems ?? 5, depth > 3 ? 2 : 4)
  const count =
    mode === 'hostile' && random.chance(0.05)
      ? random.integer(200)
      : Math.max(schema.minItems ?? 0, random.integer(most + 1))
  return Array.from({ length: count }, () => valueFor(maker, schema.items ?? {}, name, depth + 1))
}

function numberFor({ random, mode }: Maker, schema: Schema): number {
  const least = schema.minimum ?? 0
  const most = schema.maximum ?? least + 100
  if (mode !== 'valid' && random.chance(0.3))
    return random.oneOf([least - 1, most + 1, 0.5, 1e308, -1e308, 2 ** 53, 2 ** 31])
  return least + random.integer(Math.max(1, Math.min(most - least + 1, 1_000)))
}

function textFor({ random, known, mode, size }: Maker, schema: Schema, name: string): string {
  if (mode !== 'valid' && random.chance(mode === 'hostile' ? 0.5 : 0.15)) return hostileText(random, name, size)
  const fitting = fittingText(random, schema, name)
  if (fitting !== undefined) return fitting
  return random.chance(0.9) ? known.idFor(random, name) : `new-${random.integer(100_000)}`
}

function fittingText(random: Random, schema: Schema, name: string): string | undefined {
  if (schema.format === 'uuid') return undefined
  if (schema.format === 'date-time' || /^(at|from|to|createdGte|createdLte|capturedAfter|capturedBefore)$/.test(name)) {
    return random.oneOf(['2026-01-02T03:04:05.678Z', '2027-01-02T03:04:05Z', '2026-01-02', '1970-01-01T00:00:00Z'])
  }
  if (schema.format === 'email' || name === 'email') return `person-${random.integer(50)}@example.com`
  if (schema.format === 'timezone') return random.oneOf(['Europe/Berlin', 'UTC', 'Asia/Kolkata', 'Pacific/Apia'])
  if (schema.format === 'locale' || name === 'locale') return random.oneOf(['en', 'en-GB', 'de', 'pt_BR'])
  if (schema.format === 'web-address' || /url$/i.test(name)) return 'https://example.com/hook'
  if (/atTime|start|end/.test(name)) return random.oneOf(['09:00', '23:59', '00:00'])
  if (name === 'cron') return random.oneOf(crons)
  if (name === 'filters') return '[{"read":false}]'
  if (name === 'type')
    return random.oneOf(['in_app', 'email', 'sms', 'chat', 'push', 'digest', 'delay', 'throttle', 'custom'])
  if (/^(content|body|subject|title|label)$/.test(name)) return random.oneOf(templates)
  return undefined
}
