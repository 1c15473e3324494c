// The conditions of steps as callers send them: converted to what is stored, and what is wrong with them.
import type { FieldFilterPart, FilterPart, StepFilter } from '../../domain/conditions/condition.ts'
import { arrangedFilter } from '../../domain/conditions/condition.ts'
import { isRange } from '../../domain/conditions/condition-comparison.ts'
import { placeOfStep } from '../../domain/workflows/step-names.ts'
import type { NotificationStep } from '../../domain/workflows/workflow.ts'
import { ofWebhookUrl } from '../../providers/webhook.ts'
import { templateMistakes } from '../../render/check.ts'

/** The members of all kinds; which of them belong together depends on `on`. */
export interface GivenFilterPart {
  readonly on: FilterPart['on']
  readonly field?: string
  readonly value?: string | number | boolean
  readonly operator?: FieldFilterPart['operator']
  readonly webhookUrl?: string
  readonly timeOperator?: 'minutes' | 'hours' | 'days'
  readonly step?: string
  readonly stepType?: 'read' | 'unread' | 'seen' | 'unseen' | 'sent' | 'unsent'
}

export type GivenFilter = Pick<StepFilter, 'isNegated' | 'type' | 'value'> & {
  readonly children: readonly GivenFilterPart[]
  readonly moreChildren?: readonly GivenFilterPart[]
}

interface FilterMistake {
  readonly path: string
  readonly message: string
}

const fieldMembers = ['field', 'value', 'operator'] as const
const membersOf = {
  payload: fieldMembers,
  subscriber: fieldMembers,
  tenant: fieldMembers,
  webhook: ['webhookUrl', ...fieldMembers],
  isOnline: ['value'],
  isOnlineInLast: ['value', 'timeOperator'],
  previousStep: ['step', 'stepType'],
} as const satisfies Record<FilterPart['on'], readonly (keyof GivenFilterPart)[]>

/** Each child with the fields of its kind, as responses show it. Others are ignored, as everywhere. */
export function filterOfGiven(given: GivenFilter): StepFilter {
  const { isNegated, type, value, children, moreChildren = [] } = given
  return arrangedFilter({ isNegated, type, value, children: [...children, ...moreChildren].map(partOfGiven) })
}

function partOfGiven(given: GivenFilterPart): FilterPart {
  const members = membersOf[given.on].filter((member) => given[member] !== undefined)
  const part = Object.fromEntries(members.map((member) => [member, given[member]]))
  // Whether all of them exist is reported by the errors, before anything is stored.
  return { on: given.on, ...part } as FilterPart
}

interface WithFilters {
  readonly filters?: readonly GivenFilter[]
  readonly variants?: readonly WithFilters[]
}

/** `place` is the position of the step in the caller's list, which errors refer to; steps are in the order they run. */
export function filterMistakes(
  given: readonly WithFilters[],
  arranged: readonly { readonly step: NotificationStep; readonly place: number }[],
): FilterMistake[] {
  const steps = arranged.map(({ step }) => step)
  return arranged.flatMap(({ place }, order) => {
    const one = given[place]
    const path = `steps.${place}`
    const earlier = steps.slice(0, order)
    return [
      ...mistakesIn(one?.filters ?? [], `${path}.filters`, earlier),
      ...(one?.variants ?? []).flatMap(({ filters = [] }, index) =>
        mistakesIn(filters, `${path}.variants.${index}.filters`, earlier),
      ),
    ]
  })
}

/** Each is a call that the step waits for. */
const webhooksMax = 5

function mistakesIn(
  filters: readonly GivenFilter[],
  path: string,
  earlier: readonly NotificationStep[],
): FilterMistake[] {
  const mistakes = filters.flatMap((filter, index) =>
    (['children', 'moreChildren'] as const).flatMap((list) =>
      (filter[list] ?? []).flatMap((part, place) =>
        partMistakes(part, earlier).map(({ path: member, message }) => ({
          path: `${path}.${index}.${list}.${place}.${member}`,
          message,
        })),
      ),
    ),
  )
  const parts = filters.flatMap(({ children, moreChildren = [] }) => [...children, ...moreChildren])
  const addresses = new Set(parts.flatMap(({ on, webhookUrl }) => (on === 'webhook' ? [webhookUrl] : [])))
  if (addresses.size <= webhooksMax) return mistakes
  return [...mistakes, { path, message: `must not call more than ${webhooksMax} webhooks: a step waits for each` }]
}

/** By the member that is wrong. */
function partMistakes(part: GivenFilterPart, earlier: readonly NotificationStep[]): FilterMistake[] {
  const missing = membersOf[part.on].filter((member) => part[member] === undefined)
  if (missing.length > 0) {
    return missing.map((path) => ({ path, message: `is required for a condition on ${part.on}` }))
  }
  const errorsAt = (path: keyof GivenFilterPart, messages: readonly string[]): FilterMistake[] =>
    messages.map((message) => ({ path, message }))
  switch (part.on) {
    case 'isOnline':
      return typeof part.value === 'boolean' ? [] : errorsAt('value', ['must be true or false'])
    case 'isOnlineInLast':
      return isSpan(part.value) ? [] : errorsAt('value', [`must be a number from 1 to ${spanMax}`])
    case 'previousStep':
      return placeOfStep(earlier, part.step ?? '') === undefined
        ? errorsAt('step', ['must be the uuid, the _id or the slug of the name of a step before this one'])
        : []
    case 'webhook':
      return [
        ...errorsAt('webhookUrl', addressMistakes(part.webhookUrl ?? '')),
        ...errorsAt('value', valueMistakes(part)),
      ]
    default:
      return errorsAt('value', valueMistakes(part))
  }
}

/** In days, more than a thousand years. */
const spanMax = 525_600

const isSpan = (value: unknown): boolean => typeof value === 'number' && value >= 1 && value <= spanMax

function addressMistakes(address: string): string[] {
  const mistake = ofWebhookUrl(address)
  return mistake === undefined ? [] : [mistake]
}

/** Values are templates too; their results are known when they run. */
function valueMistakes({ value, operator }: GivenFilterPart): string[] {
  if (typeof value !== 'string') return ['must be a string']
  const mistakes = templateMistakes({ type: 'in_app', subject: value }).map(({ message }) => message)
  const isBetween = operator === 'BETWEEN' || operator === 'NOT_BETWEEN'
  if (mistakes.length > 0 || !isBetween || value.includes('{{') || value.includes('{%') || isRange(value)) {
    return mistakes
  }
  return [`must be two values for ${operator}, such as 10,20 or ["a","b"]`]
}
