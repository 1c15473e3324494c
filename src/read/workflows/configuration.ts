// The configuration of an environment: as it is stored, and as documents for files and for other environments. Never a credential.
import type { Sql } from '../../db/sql.ts'
import type { Environment, Principal } from '../../domain/environment.ts'
import { notFound } from '../../domain/problem.ts'
import { mapInTurns, Turn } from '../../domain/turn.ts'
import type { Configuration, StoredConfiguration } from '../../domain/workflows/configuration.ts'
import {
  feedsUsed,
  layoutDocument,
  layoutsUsed,
  textKeysUsed,
  textsWith,
} from '../../domain/workflows/configuration.ts'
import { shownTo } from '../../domain/workflows/shown-secrets.ts'
import { ownTexts } from '../../domain/workflows/translation.ts'
import type { Workflow } from '../../domain/workflows/workflow.ts'
import type { DocumentNames } from '../../domain/workflows/workflow-document.ts'
import { documentOf } from '../../domain/workflows/workflow-document.ts'
import { listTranslations } from '../../store/workflows/translations.ts'
import { listOverrides } from '../../store/workflows/workflow-overrides.ts'
import type { CalledWorkflows } from './documents.ts'
import { allFeeds, allLayouts, workflowsCalled } from './documents.ts'

/** Only named: more of them are counted as "and more". */
const overridesNamedMax = 1_000

/** `called`: the identifiers of the workflows that matter. */
export async function storedConfiguration(
  db: Sql,
  environment: Environment,
  called: CalledWorkflows,
): Promise<StoredConfiguration> {
  const [feeds, layouts, translations, workflows] = [
    await allFeeds(db, environment),
    await allLayouts(db, environment),
    await listTranslations(db, environment),
    await workflowsCalled(db, environment, called),
  ]
  return { feeds, layouts, translations, workflows }
}

export interface ConfigurationQuery {
  /** Only these, by identifier, and what they refer to. */
  readonly workflows?: readonly string[]
  /** Whether workflows that are not active are included, too. */
  readonly drafts?: boolean
}

export async function exportedConfiguration(
  db: Sql,
  principal: Principal,
  { workflows: wanted, drafts = true }: ConfigurationQuery,
): Promise<Configuration> {
  const { environment } = principal
  const stored = await storedConfiguration(db, environment, wanted ?? 'all')
  const workflows = chosenOf(stored.workflows, wanted, drafts)
  const isWhole = wanted === undefined
  const layouts = isWhole ? stored.layouts : layoutsUsed(workflows, stored.layouts)
  const feeds = isWhole ? stored.feeds : feedsUsed(workflows, stored.feeds)
  const keys = isWhole ? 'all' : textKeysUsed([workflows, layouts])
  const owners = [
    ...workflows.map((one) => ownTexts('workflow', identifierOf(one))),
    ...layouts.map(({ identifier }) => ownTexts('layout', identifier)),
  ]
  const names = namesOf(stored)
  const left = isWhole && !drafts ? stored.workflows.filter(({ active }) => !active) : []
  const documents: Configuration['workflows'][number][] = []
  const turn = new Turn()
  for (const workflow of workflows) {
    if (turn.isOver()) await turn.next()
    documents.push(documentOf(shownTo(principal, workflow), names))
  }
  return {
    feeds: feeds.map(({ identifier, name }) => ({ identifier, name })),
    layouts: layouts.map(layoutDocument),
    translations: (
      await mapInTurns(stored.translations, (translation) => textsWith(translation, keys, owners) ?? [])
    ).flat(),
    workflows: documents,
    notes: [...left.map(draftNote), ...(await notesOf(db, environment, workflows))],
  }
}

function chosenOf(all: readonly Workflow[], wanted: readonly string[] | undefined, drafts: boolean): Workflow[] {
  const unknown = wanted?.find((one) => !all.some((workflow) => identifierOf(workflow) === one))
  if (unknown !== undefined) throw notFound(`There is no workflow ${unknown}`)
  // One that is asked for by its name is meant, draft or not.
  return all.filter((one) => wanted?.includes(identifierOf(one)) ?? (drafts || one.active))
}

const identifierOf = (workflow: Workflow): string => workflow.triggers[0]?.identifier ?? ''

function namesOf({ layouts, feeds }: Pick<StoredConfiguration, 'layouts' | 'feeds'>): DocumentNames {
  const named = (all: readonly { _id: string; identifier: string }[]) =>
    new Map(all.map((one) => [one._id, one.identifier]))
  return { layouts: named(layouts), feeds: named(feeds) }
}

const draftNote = (workflow: Workflow): string =>
  `The workflow ${identifierOf(workflow)} is a draft and is not included.`

/** What belongs to a workflow and to one environment alone. */
async function notesOf(db: Sql, environment: Environment, workflows: readonly Workflow[]): Promise<string[]> {
  const groups = workflows.flatMap((workflow) => {
    const name = workflow.notificationGroup?.name ?? 'General'
    return name === 'General'
      ? []
      : [`The workflow ${identifierOf(workflow)} is in the group ${name}, which is not included.`]
  })
  const overrides = await listOverrides(db, environment, { offset: 0, limit: overridesNamedMax })
  const own = new Set(workflows.map(({ _id }) => _id))
  const named = overrides.flatMap(({ workflowId, workflowIdentifier, tenantIdentifier }) =>
    own.has(workflowId)
      ? [
          `The workflow ${workflowIdentifier} has settings of its own for the tenant ${tenantIdentifier}, which are not included.`,
        ]
      : [],
  )
  return [...groups, ...named]
}
