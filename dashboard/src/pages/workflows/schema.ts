// A JSON schema as the service documents it: what may be in a value, which members a step of a type has, and what is wrong.

/** Members that are listed belong to the types that list them, those of settings to the kinds (`metadata.type`) that do. */
type Steps = Readonly<Record<string, readonly string[] | Readonly<Record<string, readonly string[]>>>>

export interface Schema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly contentMediaType?: string
  readonly items?: Schema
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly maxProperties?: number
  readonly additionalProperties?: boolean
  readonly 'x-steps'?: Steps
}

export const typesOf = ({ type }: Schema): readonly string[] =>
  type === undefined ? [] : typeof type === 'string' ? [type] : type

const allows = (schema: Schema, type: string): boolean => typesOf(schema).length === 0 || typesOf(schema).includes(type)

export const propertyOf = (schema: Schema | undefined, name: string): Schema => schema?.properties?.[name] ?? {}

/** The kinds (`type` of the settings) that a step of this type may have. */
export function kindsOf(settings: Schema, stepType: string): string[] {
  const own = settings['x-steps']?.[stepType]
  return own === undefined || Array.isArray(own) ? [] : Object.keys(own)
}

/** The members that a step of this type has; with a kind, those of this kind. What no type lists, every type has. */
export function membersOf(schema: Schema, stepType: string, kind?: string): string[] {
  const listed = new Set(Object.values(schema['x-steps'] ?? {}).flatMap((own) => listedIn(own)))
  const own = new Set(listedIn(schema['x-steps']?.[stepType], kind))
  return Object.keys(schema.properties ?? {}).filter((name) => !listed.has(name) || own.has(name))
}

function listedIn(own: Steps[string] | undefined, kind?: string): readonly string[] {
  if (own === undefined) return []
  if (Array.isArray(own)) return own
  const kinds = own as Readonly<Record<string, readonly string[]>>
  return (kind === undefined ? undefined : kinds[kind]) ?? Object.values(kinds).flat()
}

/** The member that it is another name of. */
export const aliasOf = ({ description }: Schema): string | undefined =>
  description === undefined ? undefined : /^Alias of `(\w+)`/.exec(description)?.[1]

export interface Violation {
  /** From where one looked: `metadata.amount`. */
  readonly path: string
  readonly message: string
}

/** What the schema refuses in a value and in all that it holds. */
export function violationsOf(schema: Schema, value: unknown, path = ''): Violation[] {
  const own = violationOf(schema, value)
  if (own !== undefined) return [{ path, message: own }]
  const at = (name: string | number): string => (path === '' ? String(name) : `${path}.${name}`)
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? [] : value.flatMap((one, place) => violationsOf(items, one, at(place)))
  }
  if (typeof value !== 'object' || value === null) return []
  const members = value as Readonly<Record<string, unknown>>
  const { properties = {}, patternProperties = {} } = schema
  const [anyMember] = Object.values(patternProperties)
  return [
    ...missingOf(schema, members).map((name) => ({ path: at(name), message: 'Is required' })),
    ...Object.entries(members).flatMap(([name, member]) => {
      const known = properties[name] ?? anyMember
      return known === undefined || member === undefined ? [] : violationsOf(known, member, at(name))
    }),
  ]
}

/** What has a default is filled in by the service. */
export const missingOf = ({ required = [], properties = {} }: Schema, value: object): string[] =>
  required.filter(
    (name) =>
      (value as Readonly<Record<string, unknown>>)[name] === undefined && !('default' in (properties[name] ?? {})),
  )

/** What the schema refuses in the value itself, as a sentence without its subject. */
export function violationOf(schema: Schema, value: unknown): string | undefined {
  if (value === null) return allows(schema, 'null') ? undefined : 'Is required'
  if (Array.isArray(value)) return violationOfList(schema, value.length)
  switch (typeof value) {
    case 'string':
      return violationOfText(schema, value)
    case 'number':
      return violationOfNumber(schema, value)
    case 'boolean':
      return allows(schema, 'boolean') ? undefined : 'Must not be true or false'
    case 'object':
      return violationOfObject(schema, Object.keys(value).length)
    default:
      return undefined
  }
}

function violationOfText(schema: Schema, text: string): string | undefined {
  const { minLength = 0, maxLength, pattern, format } = schema
  if (!allows(schema, 'string')) return 'Must not be text'
  if (schema.enum !== undefined && !schema.enum.includes(text)) return `Must be one of ${schema.enum.join(', ')}`
  if (text === '' && minLength > 0) return 'Is required'
  if (text.length < minLength) return `Must have at least ${minLength} characters`
  // The service counts characters, and not the halves of those that take two.
  const count = maxLength !== undefined && text.length > maxLength ? [...text].length : 0
  if (maxLength !== undefined && count > maxLength)
    return `Must have at most ${maxLength.toLocaleString('en')} characters, and has ${count.toLocaleString('en')}`
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) return 'Contains characters that are not allowed'
  if (format === 'web-address' && !(/^https?:\/\//i.test(text) && URL.canParse(text)))
    return 'Must be a web address, such as https://example.com/path'
  return undefined
}

function violationOfNumber(schema: Schema, value: number): string | undefined {
  const { minimum, maximum } = schema
  const isWhole = Number.isInteger(value)
  if (!allows(schema, 'number') && !(isWhole && allows(schema, 'integer')))
    return allows(schema, 'integer') ? 'Must be a whole number' : 'Must not be a number'
  if (minimum !== undefined && value < minimum) return `Must be ${minimum.toLocaleString('en')} or more`
  if (maximum !== undefined && value > maximum) return `Must be at most ${maximum.toLocaleString('en')}`
  return undefined
}

function violationOfList(schema: Schema, count: number): string | undefined {
  if (!allows(schema, 'array')) return 'Must not be a list'
  const { maxItems } = schema
  return maxItems !== undefined && count > maxItems ? `Must be at most ${maxItems}, and are ${count}` : undefined
}

function violationOfObject(schema: Schema, count: number): string | undefined {
  if (!allows(schema, 'object')) return 'Must not be an object'
  const { maxProperties } = schema
  return maxProperties !== undefined && count > maxProperties
    ? `Must be at most ${maxProperties}, and are ${count}`
    : undefined
}
