// What a step or a variant contains that could not be done, or would be silently ignored: found before it is stored.
import { settingsOf } from '../../domain/workflows/step-settings.ts'
import type { RunnableStepType, StepTemplate, StepVariant } from '../../domain/workflows/workflow.ts'
import { isPrivateHost } from '../../world/outbound/address-guard.ts'
import type { GivenStep, GivenVariant, Mistake } from './workflow-steps.ts'

/** What API v2 expresses differently. */
const laterMembers = ['controlValues'] as const

/** Fields that mean something to the caller and nothing to us. Other unknown ones are ignored, as everywhere. */
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
        message: 'must be omitted: it belongs to /v2/workflows; here, use template and metadata',
      })),
  )
}

/** Editors send empty members for those that were left out. */
function saysSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

export function templateContradictions(template: StepTemplate, path: string): Mistake[] {
  return [...documentMistakes(template, path), ...buttonMistakes(template, path), ...blockMistakes(template, path)]
}

/** A block editor saves its document as JSON; sent as it is, people would read braces. */
function documentMistakes({ content }: StepTemplate, path: string): Mistake[] {
  if (typeof content !== 'string' || !isDocument(content)) return []
  const message = 'is a block editor document, which cannot be rendered: use text, HTML or a list of blocks'
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

/** A button is answered by its type. */
function buttonMistakes({ cta }: StepTemplate, path: string): Mistake[] {
  const types = (cta?.action?.buttons ?? []).map((button) => button.type)
  return types.flatMap((type, index) =>
    types.indexOf(type) === index
      ? []
      : [{ path: `${path}.cta.action.buttons.${index}.type`, message: `is ${type}, which another button already has` }],
  )
}

function blockMistakes({ content }: StepTemplate, path: string): Mistake[] {
  if (!Array.isArray(content)) return []
  return content.flatMap(({ type, url }, index) =>
    type === 'button' && (typeof url !== 'string' || url.trim() === '')
      ? [{ path: `${path}.content.${index}.url`, message: 'is required: a button needs a URL' }]
      : [],
  )
}

/** Those of one kind only, which would be passed over in silence by another. */
const refusedElsewhere: Readonly<Record<string, string>> = { cron: 'timed', dynamicKey: 'dynamic' }

export function foreignSettings(type: RunnableStepType, { metadata }: StepVariant, path: string): Mistake[] {
  const settings: Readonly<Record<string, unknown>> = { ...metadata }
  const own = settingsOf(type)
  const kinds = type === 'delay' ? { ...refusedElsewhere, timed: 'timed' } : refusedElsewhere
  return Object.keys(settings).flatMap((member) => {
    if (!saysSomething(settings[member])) return []
    const kind = (kinds as Readonly<Record<string, string | undefined>>)[member]
    const isOwn = own?.has(member) === true
    if (isOwn && (kind === undefined || kind === settings['type'])) return []
    const words = isOwn ? `a ${type} of the type ${settings['type']}` : `a ${type}`
    return [{ path: `${path}.metadata.${member}`, message: `must be omitted: ${words} does not have this setting` }]
  })
}

export function replyMistakes({ replyCallback }: StepVariant, path: string): Mistake[] {
  if (replyCallback?.active !== true) return []
  const at = `${path}.replyCallback.url`
  const { url } = replyCallback
  if (url === undefined) return [{ path: at, message: 'is required while the reply callback is active' }]
  return isPrivateHost(new URL(url).hostname)
    ? [{ path: at, message: 'must not be a private address: use a public one' }]
    : []
}
