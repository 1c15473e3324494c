// The form of a step, made of the schema of steps: which fields it has, in which order, with which control and words.
import type { Control, Presentation } from './presentation.ts'
import { lastFields, mainFields, presentations } from './presentation.ts'
import type { Schema } from './schema.ts'
import { aliasOf, kindsOf, membersOf, propertyOf, typesOf } from './schema.ts'

export interface FormField {
  /** From the step: `template`, `subject`. */
  readonly path: readonly string[]
  readonly schema: Schema
  readonly control: Control
  readonly label: string
  readonly hint?: string
  readonly isRequired: boolean
  readonly presentation: Presentation
  /** Values with their words. */
  readonly options: readonly (readonly [value: string, shown: string])[]
  readonly section: 'main' | 'more' | 'last'
  /** Of an amount: what it is counted in. */
  readonly unit?: FormField
  /** Of a group. */
  readonly fields?: readonly FormField[]
  /** Of a list of objects: the fields of one. */
  readonly fieldsOfRow?: (place: number) => readonly FormField[]
}

export interface PlannedStep {
  readonly template: { readonly type: string }
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

interface Context {
  readonly type: string
  readonly kind: string | undefined
  /** What decides whether other members are shown. */
  readonly values: Readonly<Record<string, unknown>>
}

export function planOf(schema: Schema, { template, metadata = {} }: PlannedStep): FormField[] {
  const { type: kind, timed } = metadata as { type?: string; timed?: object }
  const context = { type: template.type, kind, values: { ...metadata, ...timed } }
  const fields = childrenOf(schema, [], context)
  const placeOf = ({ path }: FormField) => mainFields.findIndex((name) => isWithin(path, name))
  return [
    ...fields.filter(({ section }) => section === 'main').sort((one, other) => placeOf(one) - placeOf(other)),
    ...fields.filter(({ section }) => section === 'more').sort((one, other) => rankOf(one) - rankOf(other)),
    ...fields.filter(({ section }) => section === 'last'),
  ]
}

const isWithin = (path: readonly string[], name: string): boolean => `${path.join('.')}.`.startsWith(`${name}.`)
/** The settings of a step, and its content, are parts of the one form. */
const isPart = (path: readonly string[]): boolean =>
  path.length === 1 && ['template', 'metadata'].includes(path[0] ?? '')

/** What belongs to the type of the step comes before what all steps have, and its id comes last. */
const rankOf = ({ path }: FormField): number => (isPart(path.slice(0, 1)) ? 0 : path[0] === 'uuid' ? 2 : 1)

function childrenOf(schema: Schema, path: readonly string[], context: Context): FormField[] {
  return membersOf(schema, context.type, context.kind).flatMap((name) => {
    const at = [...path, name]
    const child = propertyOf(schema, name)
    const presentation = presentationOf(at, context)
    if (isPart(at)) return childrenOf(child, at, context)
    if (presentation.isElsewhere === true || aliasOf(child) !== undefined || presentation.with !== undefined) return []
    if (context.values[name] === undefined && !isShown(presentation, context)) return []
    // There is nothing to choose.
    if (isKind(at) && kindsOf(schema, context.type).length < 2) return []
    if (presentation.isFlat === true) return childrenOf(child, at, context)
    return [fieldOf(schema, at, context)]
  })
}

const isKind = (path: readonly string[]): boolean => path.join('.') === 'metadata.type'

function isShown({ when = {} }: Presentation, { values }: Context): boolean {
  return Object.entries(when).every(([name, wanted]) =>
    wanted.includes(String(values[name] ?? presentations[`timed.${name}`]?.fallback)),
  )
}

function fieldOf(parent: Schema, path: readonly string[], context: Context): FormField {
  const name = path.at(-1) ?? ''
  const schema = propertyOf(parent, name)
  const presentation = presentationOf(path, context)
  const control = presentation.control ?? controlOf(schema, context.type)
  const unitName = name.replace(/amount$/i, (end) => (end === 'amount' ? 'unit' : 'Unit'))
  const isAmount = control === 'number' && unitName !== name && propertyOf(parent, unitName).enum !== undefined
  const hint = presentation.hint ?? helpOf(schema)
  return {
    path,
    schema,
    control: isAmount ? 'amount' : control,
    label: presentation.label ?? titleOf(schema) ?? wordsOf(name),
    ...(hint === undefined || hint === '' ? {} : { hint }),
    isRequired: parent.required?.includes(name) === true && !('default' in schema),
    presentation,
    options: optionsOf(
      isKind(path) ? kindsOf(parent, context.type) : (schema.enum ?? schema.items?.enum),
      presentation,
    ),
    section: sectionOf(path),
    ...(isAmount ? { unit: fieldOf(parent, [...path.slice(0, -1), unitName], context) } : {}),
    ...(control === 'group' ? { fields: childrenOf(schema, path, context) } : {}),
    ...(control === 'rows'
      ? { fieldsOfRow: (place: number) => childrenOf(schema.items ?? {}, [...path, String(place)], context) }
      : {}),
  }
}

function sectionOf(path: readonly string[]): FormField['section'] {
  if (lastFields.some((name) => isWithin(path, name))) return 'last'
  return mainFields.some((name) => isWithin(path, name)) ? 'main' : 'more'
}

function presentationOf(path: readonly string[], { type, kind }: Context): Presentation {
  const names = path.filter((name) => !/^\d+$/.test(name))
  const key = (isPart(names.slice(0, 1)) ? names.slice(1) : names).join('.')
  const candidates = [names.join('.'), `${type}.${kind}.${key}`, `${type}.${key}`, `${kind}.${key}`, key]
  const found = candidates.find((one) => presentations[one] !== undefined)
  return found === undefined ? {} : (presentations[found] ?? {})
}

function controlOf(schema: Schema, stepType: string): Control {
  const types = typesOf(schema).filter((type) => type !== 'null')
  const { items } = schema
  // The editors of what is more than a value, by what they edit.
  if (items?.title === 'EmailBlock' && stepType === 'email') return 'blocks'
  if (items?.title === 'StepFilter') return 'conditions'
  if (items?.title === 'StepVariantInput') return 'variants'
  if (schema.enum !== undefined) return 'choice'
  if (types.includes('string')) return schema.contentMediaType === 'text/x-liquid' ? 'template' : 'words'
  if (types.includes('array')) return controlOfList(items ?? {})
  if (types.includes('object')) return controlOfObject(schema)
  if (types.includes('boolean')) return 'switch'
  return types.includes('number') || types.includes('integer') ? 'number' : 'value'
}

function controlOfList(items: Schema): Control {
  if (items.enum !== undefined) return 'ticks'
  if (items.properties !== undefined) return 'rows'
  return typesOf(items).some((type) => type === 'array' || type === 'object') ? 'value' : 'list'
}

function controlOfObject({ properties, patternProperties }: Schema): Control {
  if (properties !== undefined) return 'group'
  return patternProperties === undefined ? 'json' : 'pairs'
}

function optionsOf(values: readonly string[] = [], { words = {}, offers }: Presentation): FormField['options'] {
  return values
    .filter((value) => offers === undefined || offers.includes(value))
    .map((value) => [value, words[value] ?? value] as const)
}

/** The title of an object is the name of its schema, and no words for people. */
const titleOf = (schema: Schema): string | undefined =>
  typesOf(schema).some((type) => type === 'object' || type === 'array') ? undefined : schema.title

/** `timeoutMs` as “Timeout ms”. */
export function wordsOf(name: string): string {
  const words = name
    .replace(/^_+/, '')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A description without the types of steps that it begins with. */
export function helpOf({ description }: Schema): string | undefined {
  if (description === undefined) return undefined
  const words = description.replace(/^[A-Z][\w-]*(?:(?:, | and )[\w-]+)*: /, '').replaceAll('`', '')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
