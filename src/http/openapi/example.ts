// An example for a schema: the one that its author gave, otherwise one generated from its fields.
import type { Place } from './example-values.ts'
import { valueNamed, wholes } from './example-values.ts'

type Schema = Readonly<Record<string, unknown>>

/** Schemas hold themselves nowhere; this only ends what would not end otherwise. */
const depthMax = 12

/** Required fields only: optional ones could contradict each other. */
export function exampleOf(given: unknown, place: Place = { title: '', name: '' }, depth = 0): unknown {
  const schema = (given ?? {}) as Schema
  const examples = schema['examples']
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  const whole = wholes[String(schema['title'])]
  if (whole !== undefined) return whole
  const branches = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined
  if (branches !== undefined)
    return exampleOf(
      branches.find(({ type }) => type !== 'null'),
      place,
      depth,
    )
  const known = valueNamed(place, schema)
  if (known !== undefined) return known
  const values = schema['enum'] as readonly unknown[] | undefined
  if (values !== undefined) return values.find((value) => value !== null)
  if ('const' in schema) return schema['const']
  if ('default' in schema) return schema['default']
  return depth > depthMax ? null : ofType(schema, place, depth)
}

function ofType(schema: Schema, place: Place, depth: number): unknown {
  const { type } = schema
  switch (Array.isArray(type) ? type.find((one) => one !== 'null') : type) {
    case 'object':
      return ofObject(schema, place, depth)
    case 'array':
      return ofList(schema['items'] as Schema | undefined, place, depth)
    case 'string':
      return ofText(schema)
    case 'integer':
    case 'number':
      return schema['minimum'] ?? 0
    case 'boolean':
      return false
    default:
      return type === 'null' ? null : {}
  }
}

/** Of plain texts nothing is known that an example could hold. */
function ofList(items: Schema | undefined, { title }: Place, depth: number): unknown[] {
  const isPlainText = items?.['type'] === 'string' && items['enum'] === undefined && items['format'] === undefined
  return items === undefined || isPlainText ? [] : [exampleOf(items, { title, name: '' }, depth + 1)]
}

function ofObject(schema: Schema, place: Place, depth: number): unknown {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Schema>; required?: string[] }
  const title = typeof schema['title'] === 'string' ? schema['title'] : place.title
  const members = Object.entries(properties).filter(([name]) => required.includes(name))
  return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member, { title, name }, depth + 1)]))
}

function ofText({ format }: Schema): string {
  if (format === 'date-time') return '2026-01-02T03:04:05.678Z'
  return format === 'uuid' ? '019b7ca9-8f2e-70df-8841-dcc93f08a181' : 'text'
}
