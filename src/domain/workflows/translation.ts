// Translations: texts by locale, and which one a subscriber gets.
import { BoundedMap } from '../bounded-map.ts'

/** Where a template's scope holds its translations: a symbol, so that no payload and no template can reach it. */
export const translations: unique symbol = Symbol('translations')

/** Where a layout's scope names whose own texts come first; a workflow's is known by its identifier. */
export const textsOwner: unique symbol = Symbol('texts owner')

export const resourceTypes = ['workflow', 'layout'] as const
/** What may have texts of its own. */
export type ResourceType = (typeof resourceTypes)[number]

/** Under which name the texts of a locale hold those of all workflows, or of all layouts. */
export const ownTextsName = (type: ResourceType): 'workflows' | 'layouts' => `${type}s`

/** The key under which the texts of a locale hold those of one workflow or layout. */
export const ownTexts = (type: ResourceType, identifier: string): string => `${ownTextsName(type)}.${identifier}`

export interface Translations {
  /**
   * The text of a key for a subscriber with that locale; undefined if no applicable locale has it. Reports the locale
   * that had it, and whether that is the subscriber's own.
   */
  text(key: string, locale: unknown, note?: NoteLocale): string | undefined
  /** What it was made of, to be made again in another thread. */
  readonly locales: readonly LocaleTexts[]
}

export type NoteLocale = (locale: string, isOwn: boolean) => void

/** The texts of one locale, by their dotted keys. */
export interface LocaleTexts {
  readonly locale: string
  readonly texts: ReadonlyMap<string, string>
}

/** A text may be a paragraph, not a document. */
const textLengthMax = 10_000
/** As many as large applications have in all. */
const textsPerLocaleMax = 5_000
const textKeyLengthMax = 300
const textsDepthMax = 10
/** Every language of the world with a script has fewer readers at one customer. */
export const localesMax = 200
/**
 * The keys and texts of all locales of an environment together, in characters, each text under its full key. Every node
 * caches them, and they are read again after each change.
 */
export const textsLengthMax = 10_000_000

/** `de_at` and `de-AT` are one. The text must be a locale. */
export function canonicalLocale(locale: string): string {
  return Intl.getCanonicalLocales(locale.replaceAll('_', '-'))[0] ?? locale
}

/** `zh-Hant-TW`, then `zh-Hant`, then `zh`. */
function localesFor(locale: string): string[] {
  const parts = locale.split('-')
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'))
}

export interface TextMistake {
  /** The dotted key, empty for the whole. */
  readonly key: string
  readonly message: string
}

/** Nested texts by their dotted keys; errors for values that are not texts, too deep or too many. */
export function flatTexts(given: Readonly<Record<string, unknown>>): {
  texts: ReadonlyMap<string, string>
  mistakes: readonly TextMistake[]
} {
  const texts = new Map<string, string>()
  const mistakes: TextMistake[] = []
  const walk = (members: Readonly<Record<string, unknown>>, prefix: string, depth: number): void => {
    for (const [name, value] of Object.entries(members)) {
      const key = prefix === '' ? name : `${prefix}.${name}`
      const message = mistakeOf(key, value, depth, texts)
      if (message !== undefined) mistakes.push({ key, message })
      else if (typeof value === 'string') texts.set(key, value)
      else walk(value as Readonly<Record<string, unknown>>, key, depth + 1)
      if (mistakes.length >= errorsReportedMax) return
    }
  }
  walk(given, '', 1)
  if (texts.size > textsPerLocaleMax) {
    mistakes.push({ key: '', message: `has ${texts.size} texts; at most ${textsPerLocaleMax} are allowed` })
  }
  return { texts, mistakes }
}

/** Whoever uploads a wrong file needs to see that, not every line of it. */
const errorsReportedMax = 50

function mistakeOf(key: string, value: unknown, depth: number, texts: ReadonlyMap<string, string>): string | undefined {
  if (key.length > textKeyLengthMax) return `the key is longer than ${textKeyLengthMax} characters`
  if (typeof value === 'string') {
    if (texts.has(key)) return 'is given twice, once nested and once with dots'
    return value.length > textLengthMax ? `is longer than ${textLengthMax} characters` : undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'must be a string or an object of strings'
  return depth >= textsDepthMax ? `is nested more than ${textsDepthMax} levels deep` : undefined
}

/** What most callers write first; if it is missing, the oldest locale is used. */
export const preferredDefault = 'en'

/** `locales` are oldest first. */
export function translationsOf(locales: readonly LocaleTexts[]): Translations {
  const byLocale = new Map(locales.map((one) => [one.locale, one]))
  const standard = byLocale.get(preferredDefault) ?? locales[0]
  // A subscriber's locale is asked for with every text.
  const chains = new BoundedMap<string, Chain>(chainsMax)
  const chainOf = (locale: string): Chain => {
    const known = chains.get(locale)
    if (known !== undefined) return known
    const own = localesOf(locale).flatMap((name) => byLocale.get(name) ?? [])
    const all = [...new Set(standard === undefined ? own : [...own, standard])]
    const chain = all.map((one) => ({ ...one, isOwn: own.includes(one) }))
    chains.set(locale, chain)
    return chain
  }
  return {
    locales,
    text: (key, given, note) => {
      for (const { locale, texts, isOwn } of chainOf(typeof given === 'string' ? given : '')) {
        const text = texts.get(key)
        if (text === undefined) continue
        note?.(locale, isOwn)
        return text
      }
      return undefined
    },
  }
}

type Chain = readonly (LocaleTexts & { readonly isOwn: boolean })[]

/** Locales that subscribers of one environment have. */
const chainsMax = 1_000

/** Any locale that a subscriber was given; nothing if it is invalid. */
export function localesOf(locale: string): string[] {
  try {
    return localesFor(canonicalLocale(locale))
  } catch {
    return []
  }
}

/** Whether a text may use the filter `t`: rather once too often than not. In JSON, line breaks are escapes. */
export const usesTranslations = (text: string): boolean => /\|(?:\s|\\[nrt])*t\b/.test(text)
