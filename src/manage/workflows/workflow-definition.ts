// The definition of a workflow, from what a caller gives: complete and free of errors, or rejected.
import { partsOf } from '../../domain/conditions/condition.ts'
import type { Channel } from '../../domain/delivery/integration.ts'
import { channels } from '../../domain/delivery/integration.ts'
import type { GivenPreferences } from '../../domain/preferences/workflow-preferences.ts'
import type { NotificationStep, PreferenceSettings, Severity } from '../../domain/workflows/workflow.ts'
import { variablesOf } from '../../render/variables.ts'
import type { StoredDefinition } from '../../store/workflows/workflows.ts'
import { filterMistakes } from './filter-rules.ts'
import { laterMistakes } from './workflow-part-rules.ts'
import { refuseMistakes, settingsMistakes, stepMistakes } from './workflow-rules.ts'
import type { GivenStep, Mistake } from './workflow-steps.ts'
import { arrangeSteps } from './workflow-steps.ts'

/** What a caller may say of a workflow; null clears. */
export interface WorkflowChange {
  readonly name?: string
  readonly workflowId?: string
  /** Another name of `workflowId`. */
  readonly identifier?: string
  readonly description?: string | null
  readonly tags?: readonly string[]
  readonly active?: boolean
  readonly critical?: boolean
  readonly preferenceSettings?: Partial<PreferenceSettings>
  readonly severity?: Severity
  readonly payloadSchema?: Readonly<Record<string, unknown>> | null
  readonly validatePayload?: boolean
  readonly isTranslationEnabled?: boolean
  readonly data?: Readonly<Record<string, unknown>> | null
  /** Of API v2, in addition to the settings derived from them. */
  readonly preferences?: GivenPreferences
  readonly notificationGroupId?: string
  readonly steps?: readonly GivenStep[]
}

/** The defaults of a workflow. */
const emptyDefinition: Omit<StoredDefinition, 'name'> = {
  description: '',
  tags: [],
  critical: false,
  preferenceSettings: Object.fromEntries(channels.map((channel) => [channel, true])) as PreferenceSettings,
  severity: 'none',
  steps: [],
  variables: [],
  subscriberVariables: [],
}

/** How errors are reported: by the paths of API v1, unless another API has its own. */
interface ErrorTranslation {
  translate(mistake: Mistake): Mistake
  /** Those that were found before, in words of the other api already. */
  readonly found: readonly Mistake[]
}
const asTheyAre: ErrorTranslation = { translate: (mistake) => mistake, found: [] }

/** What it replaces: steps that are named again keep their ids, and a payload schema that stays is not checked again. */
type Replaced = Pick<StoredDefinition, 'steps' | 'payloadSchema'>

export function newDefinition(
  given: WorkflowChange & { name: string },
  newId: () => string,
  replaced: Replaced = emptyDefinition,
  translation: ErrorTranslation = asTheyAre,
): StoredDefinition {
  return completed({ ...emptyDefinition, name: given.name }, given, newId, replaced, translation)
}

/** What is absent stays, null clears; of the preference settings, each channel on its own. `former`: removed earlier. */
export function changedDefinition(
  stored: StoredDefinition,
  given: WorkflowChange,
  newId: () => string,
  former: readonly NotificationStep[] = [],
): StoredDefinition {
  return completed(stored, given, newId, { ...stored, steps: [...stored.steps, ...former] }, asTheyAre)
}

function completed(
  base: StoredDefinition,
  given: WorkflowChange,
  newId: () => string,
  replaced: Replaced,
  { translate, found }: ErrorTranslation,
): StoredDefinition {
  const arranged = given.steps === undefined ? undefined : arrangeSteps(given.steps, replaced.steps, newId)
  const mistakes =
    arranged === undefined
      ? []
      : [
          ...laterMistakes(given.steps ?? []),
          ...filterMistakes(given.steps ?? [], arranged.steps),
          ...arranged.mistakes,
          ...stepMistakes(arranged.steps),
        ]
  const settled = withSettings(base, given)
  const definition: StoredDefinition =
    arranged === undefined ? settled : { ...settled, steps: arranged.steps.map(({ step }) => step) }
  refuseMistakes([...found, ...mistakes.map(translate), ...settingsMistakes(given, definition, replaced)])
  return arranged === undefined ? definition : { ...definition, ...foundVariables(definition.steps) }
}

function withSettings(base: StoredDefinition, given: WorkflowChange): StoredDefinition {
  const { payloadSchema, data, validatePayload, isTranslationEnabled, preferences, ...rest } = base
  const [newSchema, newData] = [given.payloadSchema, given.data]
  const schema = newSchema === undefined ? payloadSchema : newSchema
  const custom = newData === undefined ? data : newData
  return {
    ...rest,
    name: given.name ?? base.name,
    description: given.description === undefined ? base.description : (given.description ?? ''),
    tags: given.tags === undefined ? base.tags : [...new Set(given.tags)],
    critical: given.critical ?? base.critical,
    preferenceSettings: withPreferences(base.preferenceSettings, given.preferenceSettings ?? {}),
    severity: given.severity ?? base.severity,
    ...(schema === undefined || schema === null ? {} : { payloadSchema: schema }),
    ...(custom === undefined || custom === null ? {} : { data: custom }),
    ...defined('validatePayload', given.validatePayload ?? validatePayload),
    ...defined('isTranslationEnabled', given.isTranslationEnabled ?? isTranslationEnabled),
    ...defined('preferences', given.preferences ?? preferences),
  }
}

const defined = (name: string, value: unknown): object => (value === undefined ? {} : { [name]: value })

function withPreferences(base: PreferenceSettings, given: Partial<PreferenceSettings>): PreferenceSettings {
  const entries = channels.map((channel): [Channel, boolean] => [channel, given[channel] ?? base[channel]])
  return Object.fromEntries(entries) as PreferenceSettings
}

function foundVariables(steps: readonly NotificationStep[]): { variables: string[]; subscriberVariables: string[] } {
  const parts = steps.flatMap((step) => [step, ...step.variants])
  return variablesOf(
    parts.map((part) => part.template),
    parts.flatMap((part) =>
      part.filters.flatMap((filter) =>
        partsOf(filter).flatMap((child) => ('value' in child ? String(child.value) : [])),
      ),
    ),
  )
}
