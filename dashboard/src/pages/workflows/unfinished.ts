// What is still missing in a workflow while it is written: such a draft is not asked about, as the service could only refuse it.
import type { Part } from './condition-parts.ts'
import type { Json } from './draft-step.ts'
import type { Schema } from './schema.ts'
import { violationsOf } from './schema.ts'
import { wordsOf } from './step-plan.ts'

interface Settings {
  readonly type?: string
  readonly unit?: string
  readonly cron?: string
  readonly timed?: { readonly monthlyType?: string } & Readonly<Record<string, unknown>>
  readonly [member: string]: unknown
}

interface Given {
  readonly name?: string
  readonly metadata?: Settings
  readonly template?: { readonly type?: string }
  readonly filters?: readonly { readonly children?: readonly Part[] }[]
  readonly variants?: readonly Given[]
}

/** In words, each once, by the steps as a save would send them. */
export function unfinishedOf(schema: Schema, steps: readonly Json[]): string[] {
  return [...new Set(steps.flatMap((step, place) => missingIn(schema, step, `step ${place + 1}`)))]
}

function missingIn(schema: Schema, step: Json, otherName: string): string[] {
  const { name, metadata = {}, filters = [], variants = [] } = step as Given
  const where = name === undefined || name === '' ? otherName : name
  const { filters: _filters, variants: _variants, ...rest } = step
  const isHalf = filters.some(({ children = [] }) => children.some(isHalfWritten))
  return [
    ...(isHalf ? [`${where}: a comparison is not filled in`] : []),
    ...violationsOf(schema, rest).map(({ path, message }) => {
      const words = wordsOf(path.split('.').at(-1) ?? '')
      return message === 'Is required' ? `${where}: fill in ${words}` : `${where}: ${words} ${message.toLowerCase()}`
    }),
    ...missingSettings(metadata).map((member) => `${where}: fill in ${wordsOf(member)}`),
    ...variants.flatMap((variant) => missingIn(schema, variant as Json, where)),
  ]
}

/** A kind that was just chosen lacks what the others do not have. */
function missingSettings(settings: Settings): string[] {
  const missing = (from: Readonly<Record<string, unknown>>, ...names: string[]) =>
    names.filter((name) => isEmpty(from[name]))
  switch (settings.type) {
    case 'scheduled':
      return missing(settings, 'delayPath')
    case 'dynamic':
      return missing(settings, 'dynamicKey')
    case 'timed':
      return isEmpty(settings.cron) ? missing(settings.timed ?? {}, ...timesOf(settings)) : []
    default:
      return []
  }
}

function timesOf({ unit, timed }: Settings): string[] {
  switch (unit) {
    case 'days':
      return ['atTime']
    case 'weeks':
      return ['atTime', 'weekDays']
    case 'months':
      return ['atTime', ...(timed?.monthlyType === 'on' ? ['ordinal', 'ordinalValue'] : ['monthDays'])]
    default:
      return []
  }
}

/** A list without members as well. */
const isEmpty = (value: unknown): boolean => value === undefined || String(value).trim() === ''

/** As a person leaves it between two fields. */
function isHalfWritten({ on, field, operator = '', value, webhookUrl = '', step }: Part): boolean {
  switch (on) {
    case 'isOnline':
      return false
    case 'isOnlineInLast':
      return !(Number(value) >= 1)
    case 'previousStep':
      return isEmpty(step)
    default: {
      const isRange = /BETWEEN$/.test(operator)
      const hasTwo = /[,[{]/.test(String(value ?? ''))
      return isEmpty(field) || (isRange && !hasTwo) || (on === 'webhook' && !URL.canParse(webhookUrl))
    }
  }
}
