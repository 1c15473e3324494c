// Translations: the texts of a locale, replaced as a whole or deleted.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { noContent, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { recordOfTranslation } from '../../domain/operate/audit-records.ts'
import { isLocale } from '../../domain/people/subscriber.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { conflict, invalid, invalidField, notFound } from '../../domain/problem.ts'
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

export async function putTranslation(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { texts: Readonly<Record<string, unknown>> },
): Promise<Answer<Translation>> {
  const locale = localeGiven(call.locale)
  await refuseMistakes(call.texts)
  return once(db, world, environment, call.idempotency, async (tx) => {
    await lockTranslations(tx, environment)
    const known = await listLocales(tx, environment)
    if (known.length >= localesMax && !known.some((one) => one.locale === locale)) {
      throw conflict(`There are already texts for ${localesMax} locales; delete one that is no longer needed`)
    }
    const before = await findTranslation(tx, environment, locale)
    const saved = await saveTranslation(tx, environment, { locale, texts: call.texts, now: world.now() })
    const length = await translationsLength(tx, environment)
    if (length > textsLengthMax) throw tooLong(length)
    await audit(tx, world, environment, call.author, {
      ...named(locale),
      action: before === undefined ? 'create' : 'change',
      before: before && recordOfTranslation(before),
      after: recordOfTranslation(saved),
    })
    return ok(translationOf(saved))
  })
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
    const deleted = await deleteTranslation(tx, environment, locale)
    if (deleted === undefined) throw noTranslation(locale)
    await audit(tx, world, environment, call.author, {
      ...named(locale),
      action: 'delete',
      before: recordOfTranslation(deleted),
    })
    return noContent
  })
}

export async function retrieveTranslation(db: Db, environment: Environment, locale: string): Promise<Translation> {
  const canonical = localeGiven(locale)
  const row = await findTranslation(db, environment, canonical)
  if (row === undefined) throw noTranslation(canonical)
  return translationOf(row)
}

function localeGiven(locale: string): string {
  if (isLocale(locale)) return canonicalLocale(locale)
  throw invalidField('locale', 'locale must be one such as `en`, `en-US` or `zh-Hant`', locale)
}

async function refuseMistakes(given: Readonly<Record<string, unknown>>): Promise<void> {
  const { texts, mistakes } = flatTexts(given)
  const found = mistakes.length > 0 ? mistakes : await textMistakes(texts)
  if (found.length === 0) return
  const errors: FieldErrors = {}
  for (const { key, message } of found) {
    const field = key === '' ? 'texts' : `texts.${key}`
    errors[field] = { messages: [`${field} ${message}`] }
  }
  throw invalid(errors)
}

const tooLong = (length: number) =>
  invalidField(
    'texts',
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
