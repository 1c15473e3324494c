// The texts that one workflow or layout has of its own: a part of the texts of each locale.
import { once } from '../../commit/once.ts'
import type { Db, Sql, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { noContent, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import { conflict, notFound } from '../../domain/problem.ts'
import type { ResourceType } from '../../domain/workflows/translation.ts'
import { ownTextsName, preferredDefault, resourceTypes } from '../../domain/workflows/translation.ts'
import { findLayout } from '../../store/workflows/layouts.ts'
import type { TranslationRow } from '../../store/workflows/translations.ts'
import { findTranslation, listTranslations, lockTranslations } from '../../store/workflows/translations.ts'
import type { World } from '../../world/world.ts'
import { unknownLayout } from './layouts.ts'
import { findByAnyName } from './preview-step.ts'
import { changeTexts, deleteTexts, localeGiven, refuseMistakes } from './translations.ts'
import { unknownWorkflow } from './workflow-rules.ts'

type Texts = Readonly<Record<string, unknown>>

interface Named {
  readonly resourceType: ResourceType
  readonly resourceId: string
}

interface Change {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

/** A workflow or a layout, by the identifier that its texts are kept under. */
interface Resource {
  readonly type: ResourceType
  readonly identifier: string
  readonly name: string
}

export interface OwnTexts extends Named {
  readonly locale: string
  readonly content: Texts
  readonly createdAt: string
  readonly updatedAt: string
}

export interface OwnTextsGroup extends Named {
  readonly resourceName: string
  readonly locales: readonly string[]
  readonly createdAt: string
  readonly updatedAt: string
}

export async function putOwnTexts(
  db: Db,
  world: World,
  environment: Environment,
  call: Change & Named & { locale: string; content: Texts },
): Promise<Answer<OwnTexts>> {
  const locale = localeGiven(call.locale)
  await refuseMistakes(call.content, 'content')
  return once(db, world, environment, call.idempotency, async (tx) => {
    const resource = await resourceCalled(tx, environment, call)
    await lockTranslations(tx, environment)
    const texts = (before: Texts): Texts => withOwn(before, resource, call.content)
    const change = { locale, author: call.author, field: 'content', texts }
    const row = await changeTexts(tx, world, environment, change)
    return ok(ownTextsOf(resource, row, call.content))
  })
}

export async function retrieveOwnTexts(
  db: Sql,
  environment: Environment,
  call: Named & { locale: string },
): Promise<OwnTexts> {
  const resource = await resourceCalled(db, environment, call)
  const locale = localeGiven(call.locale)
  const row = await findTranslation(db, environment, locale)
  const content = row && contentOf(row, resource)
  if (row === undefined || content === undefined) throw noOwnTexts(resource, locale)
  return ownTextsOf(resource, row, content)
}

export async function retrieveOwnTextsGroup(db: Sql, environment: Environment, call: Named): Promise<OwnTextsGroup> {
  const resource = await resourceCalled(db, environment, call)
  const rows = (await listTranslations(db, environment)).filter((row) => contentOf(row, resource) !== undefined)
  const [oldest] = rows
  if (oldest === undefined) throw noOwnTexts(resource)
  const updatedAt = rows.map((row) => row.updated_at.toISOString()).sort()
  return {
    resourceId: resource.identifier,
    resourceType: resource.type,
    resourceName: resource.name,
    locales: rows.map(({ locale }) => locale).sort(),
    createdAt: oldest.created_at.toISOString(),
    updatedAt: updatedAt.at(-1) ?? '',
  }
}

/** Of one locale, or of all of them. */
export async function removeOwnTexts(
  db: Db,
  world: World,
  environment: Environment,
  call: Change & Named & { locale?: string },
): Promise<Answer<null>> {
  const locale = call.locale === undefined ? undefined : localeGiven(call.locale)
  return once(db, world, environment, call.idempotency, async (tx) => {
    const resource = await resourceCalled(tx, environment, call)
    await lockTranslations(tx, environment)
    const meant = (await listTranslations(tx, environment)).filter(
      (row) => (locale === undefined || row.locale === locale) && contentOf(row, resource) !== undefined,
    )
    if (meant.length === 0) throw noOwnTexts(resource, locale)
    for (const row of meant) await removeFrom(tx, world, environment, { row, resource, author: call.author })
    return noContent
  })
}

/** A locale that has no texts left goes. */
async function removeFrom(
  tx: Tx,
  world: World,
  environment: Environment,
  { row, resource, author }: { row: TranslationRow; resource: Resource; author: Author },
): Promise<void> {
  const { locale } = row
  const left = withOwn(row.texts, resource, undefined)
  if (Object.keys(left).length === 0) await deleteTexts(tx, world, environment, { locale, author })
  else await changeTexts(tx, world, environment, { locale, author, field: 'content', texts: () => left })
}

/** The own texts of everything in a locale; without one, in the locale that stands in for all others. */
export async function retrieveMaster(
  db: Sql,
  environment: Environment,
  locale: string | undefined,
): Promise<Record<'workflows' | 'layouts', Texts>> {
  const rows = await listTranslations(db, environment)
  const wanted = locale === undefined ? undefined : localeGiven(locale)
  const row =
    wanted === undefined
      ? (rows.find((one) => one.locale === preferredDefault) ?? rows[0])
      : rows.find((one) => one.locale === wanted)
  return { workflows: partOf(row?.texts ?? {}, 'workflow'), layouts: partOf(row?.texts ?? {}, 'layout') }
}

export interface ImportResult {
  readonly success: boolean
  readonly message: string
  readonly successful: readonly string[]
  readonly failed: readonly string[]
}

/** What is not named stays; what is unknown is left out and reported. */
export async function importMaster(
  db: Db,
  world: World,
  environment: Environment,
  call: Change & { locale: string; masterJson: Texts },
): Promise<Answer<ImportResult>> {
  const locale = localeGiven(call.locale)
  await refuseMistakes(call.masterJson, 'masterJson')
  const given = resourceTypes.flatMap((resourceType) =>
    Object.entries(partOf(call.masterJson, resourceType)).map(([resourceId, content]) => ({
      resourceType,
      resourceId,
      content,
    })),
  )
  return once(db, world, environment, call.idempotency, async (tx) => {
    const found: { resource: Resource; content: unknown }[] = []
    const failed: string[] = []
    for (const { content, ...named } of given) {
      const resource = isTexts(content) ? await findResource(tx, environment, named) : undefined
      if (resource === undefined) failed.push(named.resourceId)
      else found.push({ resource, content })
    }
    if (found.length > 0) {
      await lockTranslations(tx, environment)
      const texts = (before: Texts): Texts =>
        found.reduce((all, { resource, content }) => withOwn(all, resource, content as Texts), before)
      await changeTexts(tx, world, environment, { locale, author: call.author, field: 'masterJson', texts })
    }
    const successful = found.map(({ resource }) => resource.identifier)
    const message = `${successful.length} of ${given.length} workflows and layouts were given texts`
    return ok({ success: failed.length === 0, message, successful, failed })
  })
}

async function resourceCalled(db: Sql, environment: Environment, named: Named): Promise<Resource> {
  const found = await findResource(db, environment, named)
  if (found !== undefined) return found
  throw named.resourceType === 'layout' ? unknownLayout(named.resourceId) : unknownWorkflow(named.resourceId)
}

async function findResource(
  db: Sql,
  environment: Environment,
  { resourceType: type, resourceId }: Named,
): Promise<Resource | undefined> {
  if (type === 'layout') {
    const layout = await findLayout(db, environment, resourceId)
    return layout && { type, identifier: layout.identifier, name: layout.name }
  }
  const workflow = await findByAnyName(db, environment, resourceId)
  return workflow && { type, identifier: workflow.identifier, name: workflow.definition.name }
}

const isTexts = (value: unknown): value is Texts => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Those of all workflows, or of all layouts, by their identifiers. */
function partOf(texts: Texts, type: ResourceType): Texts {
  const name = ownTextsName(type)
  const part = Object.hasOwn(texts, name) ? texts[name] : {}
  return isTexts(part) ? part : {}
}

function contentOf({ texts }: TranslationRow, { type, identifier }: Resource): Texts | undefined {
  const part = partOf(texts, type)
  const own = Object.hasOwn(part, identifier) ? part[identifier] : undefined
  return isTexts(own) ? own : undefined
}

/** The texts of a locale with other ones for a workflow or layout; undefined for none. */
function withOwn(texts: Texts, { type, identifier }: Resource, content: Texts | undefined): Texts {
  const name = ownTextsName(type)
  if (typeof texts[name] === 'string') throw conflict(`The key "${name}" is a text of this locale: rename it first`)
  const { [identifier]: _before, ...others } = partOf(texts, type)
  const part = content === undefined ? others : { ...others, [identifier]: content }
  const { [name]: _part, ...rest } = texts
  return Object.keys(part).length === 0 ? rest : { ...rest, [name]: part }
}

function ownTextsOf({ type, identifier }: Resource, row: TranslationRow, content: Texts): OwnTexts {
  return {
    resourceId: identifier,
    resourceType: type,
    locale: row.locale,
    content,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

const noOwnTexts = ({ type, identifier }: Resource, locale?: string) =>
  notFound(
    `The ${type} ${identifier} has no texts of its own${locale === undefined ? '' : ` for the locale ${locale}`}`,
  )
