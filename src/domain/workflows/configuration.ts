// What an author writes of an environment: workflows with all they refer to, as documents that mean the same in another environment.
import type { Feed } from './feed.ts'
import type { Layout, LayoutFields } from './layout.ts'
import { flatTexts } from './translation.ts'
import type { Workflow } from './workflow.ts'
import type { Document } from './workflow-document.ts'

export interface FeedDocument {
  readonly identifier: string
  readonly name: string
}

export interface TranslationDocument {
  readonly locale: string
  readonly texts: Readonly<Record<string, unknown>>
}

export interface Configuration {
  readonly feeds: readonly FeedDocument[]
  readonly layouts: readonly LayoutFields[]
  readonly translations: readonly TranslationDocument[]
  readonly workflows: readonly Document[]
  /** What workflows use that is no part of this: sentences. */
  readonly notes: readonly string[]
}

/** As it is stored. */
export interface StoredConfiguration {
  readonly feeds: readonly Feed[]
  readonly layouts: readonly Layout[]
  readonly translations: readonly TranslationDocument[]
  readonly workflows: readonly Workflow[]
}

export const configurationKinds = ['feed', 'layout', 'translation', 'workflow'] as const
export const configurationActions = ['create', 'change', 'delete'] as const

export interface ConfigurationChange {
  readonly kind: (typeof configurationKinds)[number]
  /** The identifier; of translations the locale. */
  readonly identifier: string
  readonly action: (typeof configurationActions)[number]
  readonly before: Document | null
  readonly after: Document | null
}

export const layoutDocument = ({ identifier, name, description, content, isDefault }: LayoutFields): LayoutFields => ({
  identifier,
  name,
  description,
  content,
  isDefault,
})

/** The layouts that e-mails of these workflows use; one that names none uses the default. */
export function layoutsUsed(workflows: readonly Workflow[], all: readonly Layout[]): Layout[] {
  const variants = workflows.flatMap(({ steps }) => steps.flatMap((step) => [step, ...step.variants]))
  const templates = variants.flatMap(({ template }) => (template.type === 'email' ? [template] : []))
  const named = new Set(templates.flatMap(({ layoutId }) => layoutId ?? []))
  const usesDefault = templates.some(({ layoutId }) => layoutId === undefined)
  return all.filter(
    ({ _id, identifier, isDefault }) => named.has(_id) || named.has(identifier) || (usesDefault && isDefault),
  )
}

export function feedsUsed(workflows: readonly Workflow[], all: readonly Feed[]): Feed[] {
  const variants = workflows.flatMap(({ steps }) => steps.flatMap((step) => [step, ...step.variants]))
  const named = new Set(variants.flatMap(({ template }) => template.feedId ?? []))
  return all.filter(({ _id, identifier }) => named.has(_id) || named.has(identifier))
}

/** `{{ "order.shipped" | t }}`, and any use of the filter. */
const literalKey = /(?:"([^"]+)"|'([^']+)')\s*\|\s*t\b/g
const anyKey = /\|\s*t\b/g

/** The keys of texts that templates use; `all` if one of them is computed. */
export function textKeysUsed(values: unknown): ReadonlySet<string> | 'all' {
  const keys = new Set<string>()
  let isComputed = false
  const walk = (value: unknown): void => {
    if (typeof value === 'string') {
      const literals = [...value.matchAll(literalKey)]
      for (const [, double, single] of literals) keys.add(double ?? single ?? '')
      if ((value.match(anyKey) ?? []).length > literals.length) isComputed = true
    } else if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) walk(member)
  }
  walk(values)
  return isComputed ? 'all' : keys
}

/** Only the texts with these keys, and those of these owners; undefined if the locale has none of them. */
export function textsWith(
  { locale, texts }: TranslationDocument,
  keys: ReadonlySet<string> | 'all',
  owners: readonly string[],
): TranslationDocument | undefined {
  if (keys === 'all') return { locale, texts }
  const isOwned = (key: string): boolean => owners.some((owner) => key.startsWith(`${owner}.`))
  const found = [...flatTexts(texts).texts].filter(([key]) => keys.has(key) || isOwned(key))
  return found.length === 0 ? undefined : { locale, texts: Object.fromEntries(found) }
}

/** The texts of both; where both have a key, the new one's. A key is the same however deep it is written. */
export function mergedTexts(
  stored: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const merged: Record<string, unknown> = structuredClone(stored) as Record<string, unknown>
  for (const [key, text] of flatTexts(given).texts) place(merged, key, text)
  return merged
}

/** Where the key stands already, else flat. */
function place(members: Record<string, unknown>, key: string, text: string): void {
  for (const [name, value] of Object.entries(members)) {
    if (name === key) break
    if (!key.startsWith(`${name}.`) || typeof value !== 'object' || value === null) continue
    place(value as Record<string, unknown>, key.slice(name.length + 1), text)
    return
  }
  members[key] = text
}
