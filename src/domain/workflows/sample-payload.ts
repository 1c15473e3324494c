// A sample payload for previews: what a JSON schema describes, or what the templates use.

type JsonObject = Readonly<Record<string, unknown>>

/** Deeper, and a preview shows nothing more. */
const depthMax = 8
/** A schema can refer to itself in many places; a sample of it need not. */
const nodesMax = 1_000

/** Values by the schema's own examples and defaults, else by its types. */
export function sampleOfSchema(schema: JsonObject): Record<string, unknown> {
  const sample = sampleOf(schema, '', { root: schema, depth: 0, count: { nodes: 0 } })
  return isObject(sample) ? { ...sample } : {}
}

/** Each variable by its dotted name, with that name as its value. */
export function sampleOfVariables(variables: readonly string[]): Record<string, unknown> {
  const sample: Record<string, unknown> = Object.create(null)
  for (const variable of variables.slice(0, nodesMax)) {
    const names = variable.split('.').slice(0, depthMax)
    let place = sample
    for (const [index, name] of names.entries()) {
      if (index === names.length - 1) place[name] ??= name
      else {
        // `order` is a string if nothing of it is used, and an object otherwise.
        const below = place[name]
        const next: Record<string, unknown> = isObject(below) ? (below as Record<string, unknown>) : Object.create(null)
        place[name] = next
        place = next
      }
    }
  }
  return plain(sample) as Record<string, unknown>
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Given values take precedence; objects are completed with what is missing in them. */
export function filledUp(given: unknown, sample: unknown, depth = 0): unknown {
  if (given === undefined) return sample
  if (!isObject(given) || !isObject(sample) || depth >= depthMax) return given
  const names = [...new Set([...Object.keys(sample), ...Object.keys(given)])].filter((name) => name !== '__proto__')
  return Object.fromEntries(names.map((name) => [name, filledUp(own(given, name), own(sample, name), depth + 1)]))
}

const own = (value: JsonObject, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined)

interface Place {
  readonly root: JsonObject
  readonly depth: number
  readonly count: { nodes: number }
}

function sampleOf(given: unknown, name: string, place: Place): unknown {
  place.count.nodes += 1
  if (place.depth > depthMax || place.count.nodes > nodesMax) return undefined
  if (!isObject(given)) return name
  const schema = referred(given, place.root)
  const said = saidIn(schema)
  if (said !== undefined) return said
  const below = { ...place, depth: place.depth + 1 }
  const [choice] = [schema['oneOf'], schema['anyOf']].flatMap((list) => (Array.isArray(list) ? list : []))
  if (choice !== undefined) return sampleOf(choice, name, below)
  const types = [schema['type']].flat()
  const type = types.find((one) => one !== 'null')
  if (type === 'object' || (type === undefined && (isObject(schema['properties']) || Array.isArray(schema['allOf'])))) {
    return objectOf(schema, below)
  }
  if (type === 'array') {
    const item = sampleOf(schema['items'], name, below)
    return item === undefined ? [] : [item]
  }
  return simpleValue(type, schema, name)
}

/** `default`, `example`, the first of `examples` and `enum`, `const`: whatever the author gave. */
function saidIn(schema: JsonObject): unknown {
  const listed = (word: string): unknown => (Array.isArray(schema[word]) ? schema[word][0] : undefined)
  return schema['default'] ?? schema['const'] ?? schema['example'] ?? listed('examples') ?? listed('enum')
}

function objectOf(schema: JsonObject, place: Place): Record<string, unknown> {
  const parts = [schema, ...(Array.isArray(schema['allOf']) ? schema['allOf'] : [])].filter(isObject)
  const members = parts.flatMap((part) => {
    const { properties } = referred(part, place.root)
    return isObject(properties) ? Object.entries(properties) : []
  })
  const samples = members
    .filter(([name]) => name !== '__proto__')
    .map(([name, member]) => [name, sampleOf(member, name, place)] as const)
  return Object.fromEntries(samples.filter(([, value]) => value !== undefined))
}

function simpleValue(type: unknown, schema: JsonObject, name: string): unknown {
  if (type === 'number' || type === 'integer') return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  return textsByFormat[String(schema['format'])] ?? name
}

const textsByFormat: Readonly<Record<string, string | undefined>> = {
  email: 'ada@example.com',
  uri: 'https://example.com',
  date: '2030-01-31',
  time: '09:00:00Z',
  'date-time': '2030-01-31T09:00:00Z',
  uuid: '018f0000-0000-7000-8000-000000000000',
}

/** A reference within the schema; others are not followed. */
function referred(schema: JsonObject, root: JsonObject): JsonObject {
  const reference = schema['$ref']
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return schema
  let found: unknown = root
  for (const part of reference.slice(2).split('/')) {
    found = isObject(found) ? own(found, part.replaceAll('~1', '/').replaceAll('~0', '~')) : undefined
  }
  return isObject(found) ? found : schema
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
