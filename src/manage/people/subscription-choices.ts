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
import { findPreferenceWorkflows, listPreferenceWorkflows } from '../../store/workflows/preference-workflows.ts'

/** All of an environment nearly everywhere. */
const taggedMax = 1_000

/** One result for each list; null for one that is empty. Two statements at the most, and none without preferences. */
export async function resolveChoices(
  db: Sql,
  environment: Environment,
  lists: readonly (readonly GivenPreference[])[],
  now: Date,
): Promise<(SubscriptionChoices | null)[]> {
  const all = lists.flat()
  for (const [place, given] of all.entries()) refuseMistakes(givenChoice(given), `preferences.${place}.condition`)
  const [named, tagged] = [all.flatMap(namesIn), [...new Set(all.flatMap(tagsIn))]]
  const [byName, withTags] = await Promise.all([
    named.length === 0 ? new Map<string, PreferenceWorkflow>() : findPreferenceWorkflows(db, environment, named),
    tagged.length === 0
      ? []
      : listPreferenceWorkflows(db, environment, { criticality: 'all', tags: tagged, offset: 0, limit: taggedMax }),
  ])
  return lists.map((given) => choicesIn(given, byName, withTags, now))
}

function choicesIn(
  given: readonly GivenPreference[],
  byName: ReadonlyMap<string, PreferenceWorkflow>,
  tagged: readonly PreferenceWorkflow[],
  now: Date,
): SubscriptionChoices | null {
  const choices: Record<string, SubscriptionChoice> = {}
  for (const one of given) {
    const choice = choiceOf(givenChoice(one), now)
    for (const name of namesIn(one)) choices[choosable(byName.get(name), name, choice).id] = choice
    const tags = new Set(tagsIn(one))
    // A tag names no single workflow: those that cannot be switched off are passed over.
    for (const workflow of tagged) {
      if (!workflow.critical && workflow.tags.some((tag) => tags.has(tag))) choices[workflow.id] = choice
    }
  }
  return checkedChoices(choices)
}

/** Null for none. */
export function checkedChoices(choices: SubscriptionChoices): SubscriptionChoices | null {
  const count = Object.keys(choices).length
  if (count > subscriptionChoicesMax) {
    throw invalidField('preferences', `preferences must not name more than ${subscriptionChoicesMax} workflows`)
  }
  if (JSON.stringify(choices).length > subscriptionChoicesLengthMax) {
    throw invalidField('preferences', `preferences must not be larger than ${subscriptionChoicesLengthMax} characters`)
  }
  return count === 0 ? null : choices
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
