// The steps of a workflow as API v2 sends them, converted to the common model; and the paths of their errors.
import { slugOf } from '../../domain/delivery/integration.ts'
import type { Controls } from '../../domain/workflows/step-controls.ts'
import {
  controlMembers,
  controlPath,
  foreignControls,
  isControlled,
  partsOfControls,
} from '../../domain/workflows/step-controls.ts'
import type { NotificationStep, StepTemplate, StepVariant } from '../../domain/workflows/workflow.ts'
import type { GivenMetadata, GivenStep, GivenTemplate, Mistake } from './workflow-steps.ts'

export interface GivenStepV2 {
  readonly _id?: string
  readonly stepId?: string
  readonly name: string
  readonly type: string
  readonly controlValues?: Controls | null
}

/** `existing` are the steps that are there already: what the second api cannot say of them stays with them. */
export function stepsOfV2(
  given: readonly GivenStepV2[],
  existing: readonly NotificationStep[],
): { steps: GivenStep[]; mistakes: Mistake[] } {
  const taken = new Set(given.flatMap((step) => [step._id, step.stepId]).filter((name) => name !== undefined))
  const steps = given.map((step) => {
    const before = sameAs(step, existing)
    const uuid = step.stepId ?? before?.uuid ?? freeName(step, taken)
    taken.add(uuid)
    return stepOfV2(step, uuid, before?.template.type === step.type ? before : undefined)
  })
  return { steps, mistakes: given.flatMap(controlMistakes) }
}

function sameAs({ _id, stepId }: GivenStepV2, existing: readonly NotificationStep[]): NotificationStep | undefined {
  const named = [_id, stepId].filter((name) => name !== undefined)
  return existing.find((step) => named.includes(step._id) || named.includes(step.uuid))
}

/** The slug of its name, with a number where that is another step's. */
function freeName({ name, type }: GivenStepV2, taken: ReadonlySet<string>): string {
  const slug = slugOf(name) || slugOf(type) || 'step'
  let free = slug
  for (let number = 2; taken.has(free); number += 1) free = `${slug}-${number}`
  return free
}

function stepOfV2({ _id, name, type, controlValues }: GivenStepV2, uuid: string, before?: NotificationStep): GivenStep {
  const kept = before === undefined ? {} : keptOf(before)
  const step = { ...kept, ...(_id === undefined ? {} : { _id }), uuid, name }
  // Whether there is such a type is checked by the rules, which see every step.
  if (!isControlled(type)) return { ...step, template: { type } }
  const { template, metadata, skip } = partsOfControls(type, controlValues ?? {})
  return {
    ...step,
    template: { ...(before && keptTemplateOf(before.template, template)), ...template, type } as GivenTemplate,
    ...(metadata === undefined ? {} : { metadata: metadata as GivenMetadata }),
    ...(skip === undefined ? {} : { skip }),
  }
}

function keptOf({ active, shouldStopOnFail, filters, variants, replyCallback }: NotificationStep): Partial<GivenStep> {
  return {
    active,
    shouldStopOnFail,
    filters,
    variants: variants.map(givenVariantOf),
    ...(replyCallback === undefined ? {} : { replyCallback }),
  }
}

const givenVariantOf = ({
  metadata,
  _templateId,
  ...variant
}: StepVariant): NonNullable<GivenStep['variants']>[number] => ({
  ...variant,
  ...(metadata === undefined ? {} : { metadata: metadata as unknown as GivenMetadata }),
})

/** What only API v1 can express, as long as v2 does not override it. */
function keptTemplateOf(before: StepTemplate, now: Partial<StepTemplate>): Partial<StepTemplate> {
  const { feedId, variables, name, actor, cta } = before
  const isPicture = actor?.type === 'system_custom'
  const buttons = now.cta?.action?.buttons?.map((button) => {
    const same = cta?.action?.buttons?.find((one) => one.type === button.type)
    return same?.resultContent === undefined ? button : { ...button, resultContent: same.resultContent }
  })
  if (buttons !== undefined) Object.assign(now, { cta: { ...now.cta, action: { ...cta?.action, buttons } } })
  return {
    ...(feedId === undefined ? {} : { feedId }),
    ...(variables === undefined ? {} : { variables }),
    ...(name === undefined ? {} : { name }),
    ...(actor === undefined || isPicture ? {} : { actor }),
  }
}

/** What the mapping would silently ignore. */
function controlMistakes({ type, controlValues }: GivenStepV2, place: number): Mistake[] {
  if (!isControlled(type) || !controlValues) return []
  const path = `steps.${place}.controlValues`
  return [
    ...foreignControls(type, controlValues).map((name) => ({
      path: `${path}.${name}`,
      message: `must be omitted: it is not a control of a ${type} step, which has ${controlMembers[type].join(', ')}`,
    })),
    ...(type === 'in_app' ? labelMistakes(controlValues, path) : []),
    ...(type === 'email' || type === 'chat' ? editorMistakes(type, controlValues, path) : []),
    ...lookBackMistakes(controlValues, path),
  ]
}

function labelMistakes(controls: Controls, path: string): Mistake[] {
  return ['primaryAction', 'secondaryAction'].flatMap((name) => {
    const action = controls[name] as { label?: unknown } | null | undefined
    if (!action || Object.keys(action).length === 0) return []
    const isThere = typeof action.label === 'string' && action.label.trim() !== ''
    return isThere ? [] : [{ path: `${path}.${name}.label`, message: 'is required: it is the text of the button' }]
  })
}

const editors = { email: ['html', 'block'], chat: ['text', 'block'] }

function editorMistakes(type: 'email' | 'chat', { editorType }: Controls, path: string): Mistake[] {
  if (editorType === undefined || editorType === null || editors[type].some((one) => one === editorType)) return []
  return [{ path: `${path}.editorType`, message: `must be one of ${editors[type].join(', ')}` }]
}

function lookBackMistakes({ type, cron, lookBackWindow }: Controls, path: string): Mistake[] {
  if (!lookBackWindow || (type !== 'timed' && !cron)) return []
  return [{ path: `${path}.lookBackWindow`, message: 'must be omitted: a timed digest has no look-back window' }]
}

/** Reports an error found in the model by its path in the v2 request. */
export function asControlErrors(steps: readonly GivenStep[]): (mistake: Mistake) => Mistake {
  return (mistake) => {
    const found = /^steps\.(\d+)\.(.*)$/s.exec(mistake.path)
    const template = steps[Number(found?.[1])]?.template
    if (found === null || template === undefined) return mistake
    const inner = found[2] === 'uuid' ? 'stepId' : controlPath(template as StepTemplate, found[2] ?? '')
    return { ...mistake, path: `steps.${found[1]}.${inner}` }
  }
}
