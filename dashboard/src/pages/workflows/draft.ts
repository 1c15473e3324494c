// A workflow while it is edited: what can be changed of it, kept in this browser until it is saved.
import type { Schemas } from '../../api.ts'
import { forgotten, kept, stored } from '../../ui/kept.ts'
import { wholeFilters } from './condition-parts.ts'
import type { DraftStep, Json } from './draft-step.ts'
import type { Schema } from './schema.ts'
import { propertyOf, typesOf } from './schema.ts'
import { stepSchema } from './step-schemas.ts'

export type { DraftStep, Json } from './draft-step.ts'

type Workflow = Schemas['Workflow']
export interface Draft {
  readonly name: string
  readonly description: string
  readonly active: boolean
  readonly critical: boolean
  readonly tags: readonly string[]
  readonly steps: readonly DraftStep[]
}

const templateSchema = propertyOf(stepSchema, 'template')
const metadataSchema = propertyOf(stepSchema, 'metadata')
/** Have a place of their own in a draft, or none: the order of the list says which step comes before which. */
const ownMembers = ['_id', '_parentId', 'name', 'active', 'template', 'metadata', 'filters']
const restMembers = Object.keys(stepSchema.properties ?? {}).filter((name) => !ownMembers.includes(name))
const variantMembers = [...restMembers.filter((name) => name !== 'variants'), '_id', 'name', 'active']

function picked(from: object | null | undefined, names: readonly string[]): Json {
  const given = (from ?? {}) as Json
  return Object.fromEntries(
    names.flatMap((name) => (given[name] === undefined || given[name] === null ? [] : [[name, given[name]]])),
  )
}

/** What the service takes of what it answers; null only where it means something, such as no layout. */
function accepted(schema: Schema, from: object | null | undefined): Json {
  const { properties = {} } = schema
  return Object.fromEntries(
    Object.entries(from ?? {}).filter(([name, value]) => {
      const known = properties[name]
      return known !== undefined && value !== undefined && (value !== null || typesOf(known).includes('null'))
    }),
  )
}

let made = 0
export const newKey = (): string => {
  made += 1
  return `new-${made}-${Date.now()}`
}

export function draftOf(workflow: Workflow): Draft {
  return {
    name: workflow.name,
    description: workflow.description ?? '',
    active: workflow.active,
    critical: workflow.critical,
    tags: workflow.tags ?? [],
    steps: workflow.steps.map((step) => ({
      key: step._id ?? newKey(),
      ...(step._id === undefined ? {} : { _id: step._id }),
      name: step.name ?? '',
      active: step.active ?? true,
      template: accepted(templateSchema, step.template) as DraftStep['template'],
      ...(step.metadata == null ? {} : { metadata: accepted(metadataSchema, step.metadata) }),
      filters: wholeFilters(step.filters),
      rest: restOf(step),
    })),
  }
}

function restOf(step: object): Json {
  const rest = picked(step, restMembers)
  if (Array.isArray(rest.variants)) {
    rest.variants = rest.variants.map((variant: Json) => ({
      key: variant._id ?? newKey(),
      ...picked(variant, variantMembers),
      filters: wholeFilters(variant.filters),
      template: accepted(templateSchema, variant.template as object),
    }))
  }
  return rest
}

/** The steps before one that make messages, as conditions name them. */
export const earlierOf = (draft: Draft, step: DraftStep): { id: string; name: string }[] =>
  draft.steps
    .slice(0, draft.steps.indexOf(step))
    .filter(({ template }) => ['in_app', 'email', 'sms', 'push', 'chat'].includes(template.type))
    .map(({ rest, name, template }) => ({ id: String(rest.uuid ?? slugOf(name)), name: name || template.type }))

/** As the service makes one of a name. */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** As the API takes it. */
export function bodyOf(draft: Draft): Json {
  return {
    name: draft.name,
    description: draft.description === '' ? null : draft.description,
    active: draft.active,
    critical: draft.critical,
    tags: draft.tags,
    steps: draft.steps.map(({ key: _key, rest, metadata, ...step }) => ({
      ...rest,
      ...(Array.isArray(rest.variants) ? { variants: rest.variants.map(({ key: _own, ...variant }) => variant) } : {}),
      ...step,
      ...(metadata === undefined ? {} : { metadata }),
    })),
  }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** What was changed while a save was under way, on what the service made of it. Steps keep the keys they are edited under. */
export function rebased(now: Draft, sent: Draft, saved: Draft): Draft {
  const { steps: _steps, ...members } = saved
  const changed = (Object.keys(members) as (keyof typeof members)[]).filter((name) => !isSame(now[name], sent[name]))
  return {
    ...saved,
    ...Object.fromEntries(changed.map((name) => [name, now[name]])),
    steps: now.steps.map((step) => {
      const place = sent.steps.findIndex(({ key }) => key === step.key)
      const fresh = saved.steps[place]
      if (fresh === undefined) return step
      if (isSame(step, sent.steps[place]))
        return { ...fresh, key: step.key, rest: restUnderKeys(fresh.rest, step.rest) }
      const { _id, rest } = fresh
      return { ...step, ...(_id === undefined ? {} : { _id }), rest: { ...step.rest, ...picked(rest, ['uuid']) } }
    }),
  }
}

function restUnderKeys(fresh: Json, before: Json): Json {
  if (!Array.isArray(fresh.variants) || !Array.isArray(before.variants)) return fresh
  const known: readonly (Json | undefined)[] = before.variants
  return {
    ...fresh,
    variants: fresh.variants.map((variant: Json, place) => ({ ...variant, key: known[place]?.key ?? variant.key })),
  }
}

const firstContents: Readonly<Record<string, { template: Json; metadata?: Json }>> = {
  in_app: { template: { content: 'Hello {{ subscriber.firstName }}' } },
  email: {
    template: {
      contentType: 'editor',
      subject: 'News for {{ subscriber.firstName }}',
      content: [{ type: 'text', content: 'Hello {{ subscriber.firstName }},' }],
    },
  },
  sms: { template: { content: 'Hello {{ subscriber.firstName }}' } },
  push: { template: { title: 'News', content: 'Hello {{ subscriber.firstName }}' } },
  chat: { template: { content: 'Hello {{ subscriber.firstName }}' } },
  delay: { template: {}, metadata: { type: 'regular', amount: 1, unit: 'hours' } },
  digest: { template: {}, metadata: { type: 'regular', amount: 10, unit: 'minutes' } },
  throttle: { template: {}, metadata: { type: 'fixed', amount: 1, unit: 'hours', threshold: 1 } },
  custom: { template: {}, metadata: { type: 'http', url: 'https://example.com/hook', method: 'POST' } },
}
export const addableTypes = Object.keys(firstContents)

export function newStep(type: string, name: string): DraftStep {
  const { template = {}, metadata } = firstContents[type] ?? {}
  return {
    key: newKey(),
    name,
    active: true,
    template: { type, ...template },
    ...(metadata === undefined ? {} : { metadata }),
    filters: [],
    rest: {},
  }
}

export const copyOfStep = ({ _id, ...step }: DraftStep): DraftStep => {
  const { uuid: _uuid, variants: _variants, ...rest } = step.rest
  return { ...step, key: newKey(), name: `${step.name} copy`, rest }
}

interface Kept {
  readonly draft: Draft
  /** Of the workflow that the draft was made from. */
  readonly updatedAt: string
}

export const keptDraft = (id: string): Kept | undefined => kept<Kept>(id)
export const keepDraft = (id: string, draft: Kept): void => stored(id, draft)
export const forgetDraft = (id: string): void => forgotten(id)
