// What a validator found, in the format of the API: every invalid field, and what to fix.
import { nearMiss } from '../../domain/nearest.ts'
import { topicKeyPattern, topicKeyWords } from '../../domain/people/topic.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { timePattern, timeWords } from '../../domain/time/time-of-day.ts'

/** What a validator reports about one error. */
export interface SchemaMistake {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Record<string, unknown>
  readonly data?: unknown
  /** The schema that has the keyword. */
  readonly parentSchema?: object
}

/** A longer offending value is not repeated to the caller, who has it anyway. */
const echoedValueMax = 200
/** So much of a name that we do not know is repeated. */
const nameMax = 100
/** A body can be invalid in a million places; the first few errors are enough to fix it. */
const fieldsMax = 100

export function fieldErrorsOf(mistakes: readonly SchemaMistake[], whole: string): FieldErrors {
  // Without a prototype: a field may be called `constructor`.
  const errors: FieldErrors = Object.create(null)
  for (const mistake of mistakes) {
    const field = pathOf(mistake) || whole
    if (errors[field] === undefined && Object.keys(errors).length === fieldsMax) break
    const entry = errors[field] ?? { messages: [] }
    errors[field] = entry
    const message = `${field} ${messageOf(mistake)}`
    if (!entry.messages.includes(message)) entry.messages.push(message)
    const shown = mistake.keyword === 'required' ? undefined : shownValue(field, mistake.data)
    if (shown !== undefined) entry.value = shown
  }
  return errors
}

function pathOf(mistake: SchemaMistake): string {
  const path = mistake.instancePath.split('/').slice(1)
  if (mistake.keyword === 'required') path.push(String(mistake.params['missingProperty']))
  if (mistake.keyword === 'additionalProperties')
    path.push(String(mistake.params['additionalProperty']).slice(0, nameMax))
  return path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}

function messageOf(mistake: SchemaMistake): string {
  switch (mistake.keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return `is not a known field${insteadOf(mistake)}`
    case 'enum':
      return `must be one of ${(mistake.params['allowedValues'] as unknown[]).join(', ')}${nearestValue(mistake)}`
    case 'pattern':
      return (
        patternWords.get(String(mistake.params['pattern'])) ?? 'is empty or contains characters that are not allowed'
      )
    case 'format':
      return `must be a valid ${mistake.params['format']}`
    default:
      return mistake.message ?? 'is not valid'
  }
}

function nearestValue({ params, data }: SchemaMistake): string {
  const values = (params['allowedValues'] as unknown[]).filter((value) => typeof value === 'string')
  const meant = typeof data === 'string' ? nearMiss(data, values) : undefined
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

const patternWords = new Map([
  [topicKeyPattern, topicKeyWords],
  [timePattern, timeWords],
])

/** More names would be no help. */
const listedNamesMax = 12

/** The name that is probably meant, and those that there are. */
function insteadOf({ params, parentSchema }: SchemaMistake): string {
  const names = Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {})
  const meant = nearMiss(String(params['additionalProperty']), names)
  const listed = names.length === 0 || names.length > listedNamesMax ? '' : `; allowed: ${names.join(', ')}`
  return `${listed}${meant === undefined ? '' : `; did you mean ${meant}?`}`
}

/** Where secrets belong, or are pasted by mistake: a key among its scopes. */
const secretFields = /credentials|secret|signingkey|password|apikey|token|webhookurl|^scopes\b|^link$/i

/** Never a secret, not even the caller's own: answers end up in logs. */
function shownValue(field: string, value: unknown): unknown {
  if (secretFields.test(field)) return undefined
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  return typeof value === 'string' && value.length <= echoedValueMax ? value : undefined
}
