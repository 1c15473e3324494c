// What a step or a variant says that could not be done, or would be passed over in silence: found before it is stored.
import type { FieldFilterPart, StepFilter } from '../domain/condition.ts'
import { isRange } from '../domain/condition-evaluation.ts'
import type { RunnableStepType, StepTemplate, StepVariant } from '../domain/workflow.ts'
import { templateMistakes } from '../render/check.ts'
import { isPrivateHost } from '../world/address-guard.ts'
import type { GivenStep, GivenVariant, Mistake } from './workflow-steps.ts'

/** What the newer kind of workflow has, and we cannot run yet. */
const laterMembers = ['skip', 'controlValues'] as const

/** Members that mean something to the caller and nothing to us. Others that are unknown are passed over, as everywhere. */
export function laterMistakes(steps: readonly GivenStep[]): Mistake[] {
  return steps.flatMap((step, place) => [
    ...laterMistakesOf(step, `steps.${place}`),
    ...(step.variants ?? []).flatMap((variant, index) => laterMistakesOf(variant, `steps.${place}.variants.${index}`)),
  ])
}

function laterMistakesOf(given: GivenVariant, path: string): Mistake[] {
  const parts: readonly [string, object][] = [
    [path, given],
    [`${path}.template`, given.template],
  ]
  return parts.flatMap(([place, part]) =>
    laterMembers
      .filter((member) => saysSomething((part as Readonly<Record<string, unknown>>)[member]))
      .map((member) => ({
        path: `${place}.${member}`,
        message: 'must be left out: it belongs to workflows of version 2, which come with /v2/workflows',
      })),
  )
}

/** Editors send empty members for those that were left out. */
function saysSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

export function templateContradictions(template: StepTemplate, path: string): Mistake[] {
  return [
    ...documentMistakes(template, path),
    ...layoutMistakes(template, path),
    ...buttonMistakes(template, path),
    ...blockMistakes(template, path),
  ]
}

/** The block editor of version 2 saves its document as JSON; sent as it is, people would read braces. */
function documentMistakes({ content }: StepTemplate, path: string): Mistake[] {
  if (typeof content !== 'string' || !isDocument(content)) return []
  const message = 'is the document of a block editor, which comes with /v2/workflows: give text, HTML or blocks'
  return [{ path: `${path}.content`, message }]
}

function isDocument(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'type' in value && value.type === 'doc'
  } catch {
    return false
  }
}

function layoutMistakes({ layoutId }: StepTemplate, path: string): Mistake[] {
  if (layoutId === undefined || layoutId === null || layoutId === '' || layoutId === 'none') return []
  const message = 'names an unknown layout: leave it out for the built-in one, or say null for none'
  return [{ path: `${path}.layoutId`, message }]
}

/** A button is answered by its type. */
function buttonMistakes({ cta }: StepTemplate, path: string): Mistake[] {
  const types = (cta?.action?.buttons ?? []).map((button) => button.type)
  return types.flatMap((type, index) =>
    types.indexOf(type) === index
      ? []
      : [{ path: `${path}.cta.action.buttons.${index}.type`, message: `is ${type}, as another button’s is` }],
  )
}

function blockMistakes({ content }: StepTemplate, path: string): Mistake[] {
  if (!Array.isArray(content)) return []
  return content.flatMap(({ type, url }, index) =>
    type === 'button' && (typeof url !== 'string' || url.trim() === '')
      ? [{ path: `${path}.content.${index}.url`, message: 'is required: a button leads somewhere' }]
      : [],
  )
}

/** Which settings have no meaning for the other kind of step. */
const foreignMembers: Partial<Record<RunnableStepType, readonly string[]>> = {
  delay: ['digestKey', 'backoff', 'backoffAmount', 'backoffUnit', 'updateMode', 'timed'],
  digest: ['delayPath'],
}

export function foreignSettings(type: RunnableStepType, { metadata }: StepVariant, path: string): Mistake[] {
  const settings: Readonly<Record<string, unknown>> = { ...metadata }
  return (foreignMembers[type] ?? [])
    .filter((member) => saysSomething(settings[member]))
    .map((member) => ({
      path: `${path}.metadata.${member}`,
      message: `must be left out: it is no setting of a ${type}`,
    }))
}

export function filterMistakes(filters: readonly StepFilter[], path: string): Mistake[] {
  return filters.flatMap(({ children }, filter) =>
    children.flatMap((child, index) =>
      valueMistakes(child).map((message) => ({ path: `${path}.${filter}.children.${index}.value`, message })),
    ),
  )
}

/** Values are templates too; what those come to is known when they run. */
function valueMistakes({ value, operator }: FieldFilterPart): string[] {
  const mistakes = templateMistakes({ type: 'in_app', subject: value }).map(({ message }) => message)
  const isBetween = operator === 'BETWEEN' || operator === 'NOT_BETWEEN'
  if (mistakes.length > 0 || !isBetween || value.includes('{{') || value.includes('{%') || isRange(value)) {
    return mistakes
  }
  return [`must be two values for ${operator}, such as 10,20 or ["a","b"]`]
}

export function replyMistakes({ replyCallback }: StepVariant, path: string): Mistake[] {
  if (replyCallback?.active !== true) return []
  const at = `${path}.replyCallback.url`
  const { url } = replyCallback
  if (url === undefined) return [{ path: at, message: 'is required while the reply callback is active' }]
  return isPrivateHost(new URL(url).hostname)
    ? [{ path: at, message: 'must not be a private address: give one that can be reached from anywhere' }]
    : []
}
