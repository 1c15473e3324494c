// Whether conditions pass, and what was compared with what.
import { valueAt } from '../path.ts'
import type {
  FieldFilterPart,
  FilterPart,
  OnlineFilterPart,
  OnlineInLastFilterPart,
  PreviousStepFilterPart,
  StepFilter,
  WebhookFilterPart,
} from './condition.ts'
import { partsOf } from './condition.ts'
import { holds } from './condition-comparison.ts'
import { dateOf, shown } from './condition-values.ts'
import { ConditionWork, workFor } from './condition-work.ts'

type Fields = Readonly<Record<string, unknown>>

/** What the fields of conditions are looked up in. */
export type ConditionSubject = { readonly [Source in FieldFilterPart['on']]?: Fields | undefined }

/** What became of a message of an earlier step. */
export interface EarlierMessage {
  readonly status: string | null
  readonly seen: boolean
  readonly read: boolean
}

/** What conditions need in addition to fields. Conditions of integrations use only fields and need none of it. */
export interface ConditionSurroundings {
  readonly now: Date
  /** The messages of an earlier step; undefined if it has none or never ran. */
  messagesOf(step: string): readonly EarlierMessage[] | undefined
  /** The response of a URL; undefined while there is none. */
  answerOf(webhookUrl: string): Fields | undefined
  /** If nothing is called: the assumed result of comparisons with missing responses. */
  readonly assumes?: boolean | undefined
}

export interface EvaluatedCondition {
  readonly filter: (typeof kindNames)[FilterPart['on']]
  readonly field: string
  readonly expected: string
  readonly actual: string
  readonly operator: FieldFilterPart['operator']
  readonly passed: boolean
}

export interface Evaluation {
  /** False while it is not decided. */
  readonly passed: boolean
  /** Those that were evaluated: groups after one that passes are not, nor are webhooks that could change nothing. */
  readonly conditions: readonly EvaluatedCondition[]
  /** The URLs whose responses are needed to decide. */
  readonly asks: readonly string[]
}

const kindNames = {
  payload: 'Payload',
  subscriber: 'Subscriber',
  tenant: 'Tenant',
  webhook: 'Webhook',
  isOnline: 'Is online',
  isOnlineInLast: 'Last time was online',
  previousStep: 'Previous step',
} as const

/**
 * Groups are OR-ed. No group at all passes, and so does one without children, negated or not: it has no condition.
 * Throws what `renderValue` throws, and ConditionsTooLarge.
 */
export function evaluateFilters(
  filters: readonly StepFilter[],
  subject: ConditionSubject,
  renderValue: (text: string) => string,
  surroundings?: ConditionSurroundings,
): Evaluation {
  if (filters.length === 0) return { passed: true, conditions: [], asks: [] }
  const { work, paid } = workFor(subject)
  const asked = { subject, renderValue, surroundings, work: paid.has(filters) ? new ConditionWork() : work }
  const evaluation = evaluateGroups(filters, asked)
  paid.add(filters)
  return evaluation
}

function evaluateGroups(filters: readonly StepFilter[], asked: Omit<Asked, 'type'>): Evaluation {
  const conditions: EvaluatedCondition[] = []
  const asks = new Set<string>()
  for (const filter of filters) {
    const group = evaluateGroup(filter, { ...asked, type: filter.type })
    for (const condition of group.conditions) conditions.push(condition)
    if (group.passed === true) return { passed: true, conditions, asks: [] }
    for (const address of group.asks) asks.add(address)
  }
  return { passed: false, conditions, asks: [...asks] }
}

interface Asked {
  readonly type: StepFilter['type']
  readonly subject: ConditionSubject
  readonly renderValue: (text: string) => string
  readonly surroundings: ConditionSurroundings | undefined
  readonly work: ConditionWork
}

interface GroupEvaluation {
  /** Undefined while answers are missing that decide it. */
  readonly passed: boolean | undefined
  readonly conditions: EvaluatedCondition[]
  readonly asks: readonly string[]
}

/** Webhooks come last: they are called only if the others do not decide. */
function evaluateGroup(filter: StepFilter, asked: Asked): GroupEvaluation {
  const parts = partsOf(filter)
  if (parts.length === 0) return { passed: true, conditions: [], asks: [] }
  const webhooks = parts.filter((part) => part.on === 'webhook')
  const conditions = parts.flatMap((part) => (part.on === 'webhook' ? [] : [evaluatePart(part, asked)]))
  /** Whatever the others are, one of these decides: a true one for OR, a false one for AND. */
  const deciding = filter.value === 'OR'
  const isDecided = (): boolean => conditions.some((condition) => condition.passed === deciding)
  const asks: string[] = []
  if (!isDecided()) {
    for (const part of webhooks) {
      const answer = asked.surroundings?.answerOf(part.webhookUrl)
      const assumed = asked.surroundings?.assumes
      if (answer !== undefined) conditions.push(evaluateWebhook(part, answer, asked))
      else if (assumed !== undefined) conditions.push(assumedWebhook(part, assumed, asked))
      else asks.push(part.webhookUrl)
    }
  }
  const joined = isDecided() ? deciding : asks.length > 0 ? undefined : !deciding
  if (joined === undefined) return { passed: undefined, conditions, asks }
  return { passed: joined !== (filter.isNegated === true), conditions, asks: [] }
}

function evaluatePart(part: Exclude<FilterPart, WebhookFilterPart>, asked: Asked): EvaluatedCondition {
  switch (part.on) {
    case 'isOnline':
      return evaluateOnline(part, asked)
    case 'isOnlineInLast':
      return evaluateOnlineInLast(part, asked)
    case 'previousStep':
      return evaluatePreviousStep(part, asked)
    default:
      return evaluateField(part, asked.subject[part.on] ?? {}, asked)
  }
}

function evaluateField(
  part: FieldFilterPart | WebhookFilterPart,
  fields: Fields,
  { type, renderValue, work }: Asked,
): EvaluatedCondition {
  const expected = renderValue(part.value)
  const actual = valueAt(fields, part.field)
  work.compare(actual, expected)
  return {
    filter: kindNames[part.on],
    field: part.field,
    expected: shown(expected),
    actual: shown(actual),
    operator: part.operator,
    passed: holds(part.operator, { type, actual, expected }),
  }
}

const evaluateWebhook = (part: WebhookFilterPart, answer: Fields, asked: Asked): EvaluatedCondition =>
  evaluateField(part, answer, asked)

const assumedWebhook = (part: WebhookFilterPart, passed: boolean, asked: Asked): EvaluatedCondition => ({
  ...evaluateField(part, {}, asked),
  actual: 'not asked',
  passed,
})

/** A subscriber whose online status was never known is neither online nor offline. */
function evaluateOnline({ value }: OnlineFilterPart, { subject }: Asked): EvaluatedCondition {
  const { isOnline, lastOnlineAt } = onlineStateOf(subject)
  const isKnown = isOnline || lastOnlineAt !== undefined
  return {
    filter: kindNames.isOnline,
    field: 'isOnline',
    expected: String(value),
    actual: isKnown ? String(isOnline) : 'undefined',
    operator: 'EQUAL',
    passed: isKnown && isOnline === value,
  }
}

const timeOperatorMs = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const

function evaluateOnlineInLast(part: OnlineInLastFilterPart, { subject, surroundings }: Asked): EvaluatedCondition {
  const { isOnline, lastOnlineAt } = onlineStateOf(subject)
  const since = (surroundings?.now.getTime() ?? Number.NaN) - part.value * timeOperatorMs[part.timeOperator]
  return {
    filter: kindNames.isOnlineInLast,
    field: 'lastOnlineAt',
    expected: `${part.value} ${part.timeOperator}`,
    actual: isOnline ? 'online' : shown(subject.subscriber?.['lastOnlineAt']),
    operator: 'SMALLER_EQUAL',
    passed: isOnline || (lastOnlineAt !== undefined && lastOnlineAt >= since),
  }
}

function onlineStateOf({ subscriber }: ConditionSubject): { isOnline: boolean; lastOnlineAt: number | undefined } {
  return { isOnline: subscriber?.['isOnline'] === true, lastOnlineAt: dateOf(subscriber?.['lastOnlineAt']) }
}

/** The positive word of each, and whether it is asked for or its contrary. One message of several is enough. */
const previousStepMeanings = {
  read: { of: 'read', wanted: true },
  unread: { of: 'read', wanted: false },
  seen: { of: 'seen', wanted: true },
  unseen: { of: 'seen', wanted: false },
  sent: { of: 'sent', wanted: true },
  unsent: { of: 'sent', wanted: false },
} as const

/** A step that made no message, or never ran, is no reason to hold this one back. */
function evaluatePreviousStep({ step, stepType }: PreviousStepFilterPart, { surroundings }: Asked): EvaluatedCondition {
  const messages = surroundings?.messagesOf(step) ?? []
  const { of, wanted } = previousStepMeanings[stepType]
  const count = messages.filter((one) => (of === 'sent' ? one.status === 'sent' : one[of])).length
  return {
    filter: kindNames.previousStep,
    field: step,
    expected: stepType,
    actual: messages.length === 0 ? 'no message' : `${count} of ${messages.length} ${of}`,
    operator: 'EQUAL',
    passed: messages.length === 0 || count > 0 === wanted,
  }
}
