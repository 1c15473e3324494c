// The translations table: texts by locale, as the caller gave them.
import type { Sql, Tx } from '../../db/sql.ts'
import { json, sql } from '../../db/sql.ts'
import type { Environment } from '../../domain/environment.ts'

export interface TranslationRow {
  readonly locale: string
  readonly texts: Readonly<Record<string, unknown>>
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = sql`locale, texts, created_at, updated_at`

/** Replaces the texts of a locale as a whole. The time of change always advances: the caches of nodes depend on it. */
export async function saveTranslation(
  tx: Tx,
  environment: Environment,
  given: { locale: string; texts: Readonly<Record<string, unknown>>; now: Date },
): Promise<TranslationRow> {
  const row = await tx.row<TranslationRow>(sql`
    insert into translations (environment_id, locale, texts, created_at, updated_at)
    values (${environment.id}, ${given.locale}, ${json(given.texts)}::jsonb, ${given.now}, ${given.now})
    on conflict (environment_id, locale) do update set texts = excluded.texts,
      updated_at = greatest(excluded.updated_at, translations.updated_at + interval '1 millisecond')
    returning ${columns}`)
  if (row === undefined) throw new Error('An upsert returned nothing')
  return row
}

/** The texts as they were. */
export async function deleteTranslation(
  tx: Tx,
  environment: Environment,
  locale: string,
): Promise<TranslationRow | undefined> {
  return tx.row<TranslationRow>(sql`
    delete from translations where environment_id = ${environment.id} and locale = ${locale} returning ${columns}`)
}

export async function findTranslation(
  db: Sql,
  environment: Environment,
  locale: string,
): Promise<TranslationRow | undefined> {
  return db.row<TranslationRow>(
    sql`select ${columns} from translations where environment_id = ${environment.id} and locale = ${locale}`,
  )
}

/** Of these locales, and of the one that stands in for all that is missing: the preferred one, else the oldest. Oldest first. */
export async function findTranslations(
  db: Sql,
  environment: Environment,
  { locales, preferredDefault }: { locales: readonly string[]; preferredDefault: string },
): Promise<TranslationRow[]> {
  return db.rows<TranslationRow>(sql`
    select ${columns} from translations
    where environment_id = ${environment.id} and (locale = any(${locales}::text[]) or locale = (
      select locale from translations where environment_id = ${environment.id}
      order by locale <> ${preferredDefault}, created_at, locale limit 1))
    order by created_at, locale`)
}

/** All texts together, in characters, each with its full dotted key: the size of their cache in memory. */
export async function translationsLength(db: Sql, environment: Environment): Promise<number> {
  const row = await db.row<{ length: number }>(sql`
    with recursive members (key_length, value) as (
      select -1, texts from translations where environment_id = ${environment.id}
      union all
      select m.key_length + 1 + length(one.key), one.value
      from members m cross join lateral jsonb_each(m.value) as one
      where jsonb_typeof(m.value) = 'object')
    select coalesce(sum(key_length + length(value #>> '{}')), 0)::float8 as length
    from members where jsonb_typeof(value) = 'string'`)
  return row?.length ?? 0
}

/** Oldest first. There are at most a few hundred. */
export async function listTranslations(db: Sql, environment: Environment): Promise<TranslationRow[]> {
  return db.rows<TranslationRow>(sql`
    select ${columns} from translations where environment_id = ${environment.id} order by created_at, locale`)
}

/** Without their texts, by name. */
export async function listLocales(db: Sql, environment: Environment): Promise<Omit<TranslationRow, 'texts'>[]> {
  return db.rows<Omit<TranslationRow, 'texts'>>(sql`
    select locale, created_at, updated_at from translations where environment_id = ${environment.id} order by locale`)
}

/** Two calls that change texts wait for each other: the number of locales and their length are bounded. */
export async function lockTranslations(tx: Tx, environment: Environment): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('translations:' || ${environment.id}::text, 0))`)
}
