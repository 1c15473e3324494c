// Translations: the texts of a locale, replaced as a whole or deleted.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { noContent, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfTranslation } from '../../domain/operate/audit-records.ts'
import { isLocale } from '../../domain/people/subscriber.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { conflict, invalid, invalidField, notFound } from '../../domain/problem.ts'
import type { TextMistake } from '../../domain/workflows/translation.ts'
import { canonicalLocale, flatTexts, localesMax, textsLengthMax } from '../../domain/workflows/translation.ts'
import { textMistakes } from '../../render/translation-check.ts'
import type { TranslationRow } from '../../store/workflows/translations.ts'
import {
  deleteTranslation,
  findTranslation,
  listLocales,
  lockTranslations,
  saveTranslation,
  translationsLength,
} from '../../store/workflows/translations.ts'
import type { World } from '../../world/world.ts'

interface Call {
  /** In whatever form callers write locales. */
  readonly locale: string
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

export interface Translation {
  readonly locale: string
  readonly texts: Readonly<Record<string, unknown>>
  readonly createdAt: string
  readonly updatedAt: string
}

type Texts = Readonly<Record<string, unknown>>

export async function putTranslation(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { texts: Texts },
): Promise<Answer<Translation>> {
  const locale = localeGiven(call.locale)
  await refuseMistakes(call.texts, 'texts')
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockTranslations(tx, environment)
    const change = { locale, author: call.author, field: 'texts', texts: () => call.texts }
    return ok(translationOf(await changeTexts(tx, world, environment, change)))
  })
}

/** Within a transaction that holds the lock of translations: other texts for a locale, made from those it has. */
export async function changeTexts(
  tx: Tx,
  world: World,
  environment: Environment,
  change: { locale: string; author: Author; field: string; texts: (before: Texts) => Texts },
): Promise<TranslationRow> {
  const { locale, field } = change
  const before = await findTranslation(tx, environment, locale)
  if (before === undefined && (await listLocales(tx, environment)).length >= localesMax) {
    throw conflict(`There are already texts for ${localesMax} locales; delete one that is no longer needed`)
  }
  const texts = change.texts(before?.texts ?? {})
  refuseFirst(flatTexts(texts).mistakes, field)
  const saved = await saveTranslation(tx, environment, { locale, texts, now: world.now() })
  const length = await translationsLength(tx, environment)
  if (length > textsLengthMax) throw tooLong(length, field)
  await audit(tx, world, environment, change.author, {
    ...named(locale),
    action: before === undefined ? 'create' : 'change',
    before: before && recordOfTranslation(before),
    after: recordOfTranslation(saved),
  })
  return saved
}

export async function removeTranslation(
  db: Db,
  world: World,
  environment: Environment,
  call: Call,
): Promise<Answer<null>> {
  const locale = localeGiven(call.locale)
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockTranslations(tx, environment)
    await deleteTexts(tx, world, environment, { locale, author: call.author })
    return noContent
  })
}

/** Within a transaction that holds the lock of translations. */
export async function deleteTexts(
  tx: Tx,
  world: World,
  environment: Environment,
  { locale, author }: { locale: string; author: Author },
): Promise<void> {
  const deleted = await deleteTranslation(tx, environment, locale)
  if (deleted === undefined) throw noTranslation(locale)
  const record = recordOfTranslation(deleted)
  await audit(tx, world, environment, author, { ...named(locale), action: 'delete', before: record })
}

export async function retrieveTranslation(db: Db, environment: Environment, locale: string): Promise<Translation> {
  const canonical = localeGiven(locale)
  const row = await findTranslation(db, environment, canonical)
  if (row === undefined) throw noTranslation(canonical)
  return translationOf(row)
}

export function localeGiven(locale: string): string {
  if (isLocale(locale)) return canonicalLocale(locale)
  throw invalidField('locale', 'locale must be one such as `en`, `en-US` or `zh-Hant`', locale)
}

export async function refuseMistakes(given: Texts, root: string): Promise<void> {
  const { texts, mistakes } = flatTexts(given)
  refuseFirst(mistakes.length > 0 ? mistakes : await textMistakes(texts), root)
}

function refuseFirst(found: readonly TextMistake[], root: string): void {
  if (found.length === 0) return
  const errors: FieldErrors = {}
  for (const { key, message } of found) {
    const field = key === '' ? root : `${root}.${key}`
    errors[field] = { messages: [`${field} ${message}`] }
  }
  throw invalid(errors)
}

const tooLong = (length: number, field: string) =>
  invalidField(
    field,
    `texts of all locales would have ${length} characters including keys; at most ${textsLengthMax} are allowed: delete some that are no longer needed`,
  )

function translationOf(row: TranslationRow): Translation {
  return {
    locale: row.locale,
    texts: row.texts,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

const named = (locale: string) => ({ kind: 'translation', id: locale, name: locale }) as const

const noTranslation = (locale: string) => notFound(`There are no texts for the locale ${locale}`)
