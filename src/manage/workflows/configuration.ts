// Brings an environment to the configuration that is given: what would change, and the change itself.
import { once } from '../../commit/once.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { ok } from '../../domain/answer.ts'
import { mapInTurns } from '../../domain/turn.ts'
import type { ConfigurationChange, FeedDocument, TranslationDocument } from '../../domain/workflows/configuration.ts'
import { layoutDocument, mergedTexts } from '../../domain/workflows/configuration.ts'
import { canonicalLocale } from '../../domain/workflows/translation.ts'
import type { PlanContext, PlannedChange } from './configuration-change.ts'
import { changeOf, within } from './configuration-change.ts'
import { createFeed } from './feeds.ts'
import type { NewLayout } from './layouts.ts'
import { changeLayout, createLayout } from './layouts.ts'
import { putTranslation } from './translations.ts'
import type { GivenWorkflows } from './workflow-plan.ts'
import { plannedWorkflows } from './workflow-plan.ts'

type GivenLayout = NewLayout & { readonly identifier: string }

export interface GivenConfiguration {
  readonly feeds?: readonly FeedDocument[]
  readonly layouts?: readonly GivenLayout[]
  readonly translations?: readonly (TranslationDocument & {
    /** Texts that are stored and not given stay. */
    readonly merge?: boolean
  })[]
  readonly workflows?: NonNullable<GivenWorkflows['workflows']>
  /** Workflows that are stored and not given are deleted. */
  readonly deleteWorkflows?: boolean
}

export interface ConfigurationResult {
  readonly dryRun: boolean
  readonly changes: readonly ConfigurationChange[]
  /** What will not work in this environment, as sentences. */
  readonly notes: readonly string[]
}

/** Everything is checked before the first change. Each change is a transaction; a call that failed can be repeated. */
export async function applyConfiguration(
  context: PlanContext,
  call: { given: GivenConfiguration; dryRun: boolean; idempotency: Idempotency | undefined },
): Promise<Answer<ConfigurationResult>> {
  const { given, dryRun } = call
  const workflows = await plannedWorkflows(context, given)
  // Workflows last: they name layouts and feeds, and use texts.
  const planned = [
    ...plannedFeeds(context, given.feeds ?? []),
    ...(await plannedLayouts(context, given.layouts ?? [])),
    ...(await plannedTranslations(context, given.translations ?? [])),
    ...workflows.changes,
  ]
  if (!dryRun) for (const change of planned) await within(`${change.kind}s.${change.identifier}`, () => change.apply())
  const changes = planned.map(({ apply: _, ...change }) => change)
  const result = ok({ dryRun, changes, notes: workflows.notes })
  return once(context.db, context.world, context.principal.environment, call.idempotency, async () => result)
}

const silent = { idempotency: undefined } as const

function plannedFeeds({ db, world, principal, author, stored }: PlanContext, feeds: readonly FeedDocument[]) {
  const there = new Set(stored.feeds.map(({ identifier }) => identifier))
  return feeds.flatMap(({ identifier, name }) => {
    // A feed keeps the name it was given first: there is no call that changes it.
    if (there.has(identifier)) return []
    const apply = async (): Promise<void> => {
      await createFeed(db, world, principal.environment, { identifier, name, author, ...silent })
    }
    return changeOf('feed', identifier, { before: undefined, after: { identifier, name } }, apply) ?? []
  })
}

async function plannedLayouts(context: PlanContext, layouts: readonly GivenLayout[]): Promise<PlannedChange[]> {
  const { db, world, principal, author, stored } = context
  const planned = await mapInTurns(layouts, (given) => {
    const known = stored.layouts.find(({ identifier }) => identifier === given.identifier)
    const before = known && layoutDocument(known)
    const after = layoutDocument({ description: '', isDefault: false, ...before, ...given })
    const call = { contentField: 'content', author, ...silent }
    return (
      changeOf('layout', given.identifier, { before, after }, async () => {
        if (known === undefined) await createLayout(db, world, principal.environment, { ...call, layout: after })
        else await changeLayout(db, world, principal.environment, { ...call, layoutId: known._id, change: after })
      }) ?? []
    )
  })
  return planned.flat()
}

/** Each locale may have thousands of texts. */
async function plannedTranslations(
  { db, world, principal, author, stored }: PlanContext,
  translations: NonNullable<GivenConfiguration['translations']>,
): Promise<PlannedChange[]> {
  const planned = await mapInTurns(translations, ({ locale: given, texts: ofCall, merge }) => {
    const locale = localeOf(given)
    const known = stored.translations.find((one) => one.locale === locale)
    const texts = merge === true && known !== undefined ? mergedTexts(known.texts, ofCall) : ofCall
    const before = known && { locale, texts: known.texts }
    return (
      changeOf('translation', locale, { before, after: { locale, texts } }, async () => {
        await putTranslation(db, world, principal.environment, { locale, texts, author, ...silent })
      }) ?? []
    )
  })
  return planned.flat()
}

/** One that is none is refused where it is stored. */
function localeOf(given: string): string {
  try {
    return canonicalLocale(given)
  } catch {
    return given
  }
}
