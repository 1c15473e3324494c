// Preferences of subscriptions to topics as calls give them, checked and resolved to workflows.
import type { Sql } from '../../db/sql.ts'
import { skipMistakes } from '../../domain/conditions/skip-mistakes.ts'
import type { Environment } from '../../domain/environment.ts'
import type { PreferenceWorkflow } from '../../domain/preferences/preference-views.ts'
import type {
  GivenChoice,
  GivenPreference,
  SubscriptionChoice,
  SubscriptionChoices,
} from '../../domain/preferences/subscription-preferences.ts'
import {
  choiceOf,
  subscriptionChoicesLengthMax,
  subscriptionChoicesMax,
} from '../../domain/preferences/subscription-preferences.ts'
import { badRequest, invalid, invalidField, notFound } from '../../domain/problem.ts'
import {
  findPreferenceWorkflows,
  findWorkflowsAmong,
  listPreferenceWorkflows,
} from '../../store/workflows/preference-workflows.ts'

/** All of an environment nearly everywhere. */
const taggedMax = 1_000

type GivenList = readonly GivenPreference[]

/** Before a transaction begins: what needs no workflow to be refused. A list that several share is looked at once. */
export function refuseUnfit(lists: readonly (GivenList | undefined)[]): void {
  for (const list of new Set(lists)) {
    if (list === undefined) continue
    if (JSON.stringify(list).length > subscriptionChoicesLengthMax) throw tooLarge()
    for (const [place, given] of list.entries()) refuseMistakes(givenChoice(given), `preferences.${place}.condition`)
  }
}

/**
 * One result for each list; null for one that is empty. Two statements at the most, and none without preferences. Lists
 * are those that `refuseUnfit` let through; one that several share is resolved once.
 */
export async function resolveChoices(
  db: Sql,
  environment: Environment,
  lists: readonly GivenList[],
  now: Date,
): Promise<(SubscriptionChoices | null)[]> {
  const distinct = [...new Set(lists)]
  const all = distinct.flat()
  const [named, tagged] = [all.flatMap(namesIn), [...new Set(all.flatMap(tagsIn))]]
  const [byName, withTags] = await Promise.all([
    named.length === 0 ? new Map<string, PreferenceWorkflow>() : findPreferenceWorkflows(db, environment, named),
    tagged.length === 0
      ? []
      : listPreferenceWorkflows(db, environment, { criticality: 'all', tags: tagged, offset: 0, limit: taggedMax }),
  ])
  const byTag = groupedByTag(withTags)
  const resolved = new Map(distinct.map((given) => [given, choicesIn(given, byName, byTag, now)]))
  return lists.map((given) => resolved.get(given) ?? null)
}

function choicesIn(
  given: GivenList,
  byName: ReadonlyMap<string, PreferenceWorkflow>,
  byTag: ReadonlyMap<string, readonly PreferenceWorkflow[]>,
  now: Date,
): SubscriptionChoices | null {
  const choices = new Map<string, SubscriptionChoice>()
  for (const one of given) {
    const choice = choiceOf(givenChoice(one), now)
    for (const name of namesIn(one)) choices.set(choosable(byName.get(name), name, choice).id, choice)
    for (const tag of new Set(tagsIn(one))) for (const { id } of byTag.get(tag) ?? []) choices.set(id, choice)
    if (choices.size > subscriptionChoicesMax) throw tooMany()
  }
  return checkedChoices(Object.fromEntries(choices))
}

/** A tag names no single workflow: those that cannot be switched off are passed over. */
function groupedByTag(workflows: readonly PreferenceWorkflow[]): Map<string, PreferenceWorkflow[]> {
  const byTag = new Map<string, PreferenceWorkflow[]>()
  for (const workflow of workflows) {
    if (workflow.critical) continue
    for (const tag of workflow.tags) {
      const tagged = byTag.get(tag) ?? []
      tagged.push(workflow)
      byTag.set(tag, tagged)
    }
  }
  return byTag
}

/** Null for none. */
export function checkedChoices(choices: SubscriptionChoices): SubscriptionChoices | null {
  const count = Object.keys(choices).length
  if (count > subscriptionChoicesMax) throw tooMany()
  if (lengthOf(choices) > subscriptionChoicesLengthMax) throw tooLarge()
  return count === 0 ? null : choices
}

/** As JSON. One choice may be that of many workflows, by a tag: it is written once to be measured. */
function lengthOf(choices: SubscriptionChoices): number {
  const written = new Map([...new Set(Object.values(choices))].map((choice) => [choice, JSON.stringify(choice).length]))
  const entries = Object.entries(choices)
  const separators = 4
  return entries.reduce((sum, [id, choice]) => sum + id.length + separators + (written.get(choice) ?? 0), 1)
}

const tooMany = () =>
  invalidField('preferences', `preferences must not name more than ${subscriptionChoicesMax} workflows`)

const tooLarge = () =>
  invalidField('preferences', `preferences must not be larger than ${subscriptionChoicesLengthMax} characters`)

/** Without the choices for workflows that were deleted: no call shows them, and they would fill the limit. */
export async function choicesThatCount(
  db: Sql,
  environment: Environment,
  subscriptions: readonly { readonly _id: string; readonly choices: SubscriptionChoices | null }[],
): Promise<Map<string, SubscriptionChoices>> {
  const ids = subscriptions.flatMap(({ choices }) => Object.keys(choices ?? {}))
  const there = ids.length === 0 ? new Set<string>() : await findWorkflowsAmong(db, environment, ids)
  const left = (choices: SubscriptionChoices | null) =>
    Object.fromEntries(Object.entries(choices ?? {}).filter(([id]) => there.has(id)))
  return new Map(subscriptions.map(({ _id, choices }) => [_id, left(choices)]))
}

/** Whether a subscriber wants it does not count for a critical one, so that a call that says otherwise is refused. */
export function choosable(
  workflow: PreferenceWorkflow | undefined,
  name: string,
  { enabled, condition }: SubscriptionChoice,
): PreferenceWorkflow {
  if (workflow === undefined) throw notFound(`Workflow with id: ${name} is not found`)
  const isLimited = !enabled || condition !== undefined
  if (workflow.critical && isLimited) throw badRequest(`Critical workflow with id: ${name} can not be updated`)
  return workflow
}

export function refuseMistakes({ condition }: GivenChoice, path: string): void {
  if (condition == null) return
  const mistakes = skipMistakes(condition, path)
  if (mistakes.length > 0) throw invalid(Object.fromEntries(mistakes.map((one) => [one.path, messageOf(one.message)])))
}

const messageOf = (message: string) => ({ messages: [message] })

const givenChoice = (given: GivenPreference): GivenChoice => (typeof given === 'string' ? {} : given)

function namesIn(given: GivenPreference): readonly string[] {
  if (typeof given === 'string') return [given]
  return 'workflowId' in given ? [given.workflowId] : (given.filter.workflowIds ?? [])
}

const tagsIn = (given: GivenPreference): readonly string[] =>
  typeof given === 'string' || 'workflowId' in given ? [] : (given.filter.tags ?? [])
