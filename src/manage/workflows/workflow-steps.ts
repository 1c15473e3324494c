// The steps of a workflow as a caller sends them, made into the steps that are stored: in their order, with ids that last.
import type {
  MessageButton,
  NotificationStep,
  StepMetadata,
  StepTemplate,
  StepType,
  StepVariant,
  TimedConfig,
} from '../../domain/workflows/workflow.ts'
import type { GivenFilter } from './filter-rules.ts'
import { filterOfGiven } from './filter-rules.ts'

export interface GivenVariant {
  readonly _id?: string
  readonly uuid?: string
  readonly _parentId?: string | null
  readonly name?: string
  readonly active?: boolean
  readonly shouldStopOnFail?: boolean
  readonly template: GivenTemplate
  readonly filters?: readonly GivenFilter[]
  readonly metadata?: GivenMetadata
  readonly skip?: Readonly<Record<string, unknown>> | null
  readonly replyCallback?: { readonly active?: boolean; readonly url?: string }
}

export interface GivenStep extends GivenVariant {
  readonly variants?: readonly GivenVariant[]
}

/** Any word for a type, and the two members that have an older name. */
export type GivenTemplate = Omit<StepTemplate, 'type'> & {
  readonly type: string
  readonly _layoutId?: string | null
  readonly _feedId?: string | null
}

/** The settings of all kinds of steps; which belong together is the step's to say. */
export interface GivenMetadata {
  readonly [member: string]: unknown
  readonly type: StepMetadata['type']
  readonly timed?: Omit<TimedConfig, 'monthDays'> & { readonly monthDays?: readonly (string | number)[] }
}

/** An error anywhere in a workflow: the path of the field, and the message that follows it. */
export interface Mistake {
  readonly path: string
  readonly message: string
}

export interface ArrangedStep {
  readonly step: NotificationStep
  /** Its position in the caller's list, which errors refer to. */
  readonly place: number
}

/**
 * The steps in the order they run. A step that names the `_id` or `uuid` of one of the `existing` keeps that one's ids:
 * open digests are found by them. Steps whose order cannot be determined stay in the caller's order. Of `existing` steps with the
 * same `uuid` the first counts: current steps are before removed ones, whose `uuid` may have another owner now.
 */
export function arrangeSteps(
  given: readonly GivenStep[],
  existing: readonly NotificationStep[],
  newId: () => string,
): { steps: ArrangedStep[]; mistakes: Mistake[] } {
  const firsts = existing.filter((step, at) => existing.findIndex(({ uuid }) => uuid === step.uuid) === at)
  const known = given.map((step) => ({ given: step, before: sameAs(step, firsts) }))
  const { order, mistakes } = orderOf(known)
  const steps: ArrangedStep[] = []
  for (const place of order) {
    const one = known[place]
    if (one === undefined) continue
    const origin = { before: one.before, parentId: steps.at(-1)?.step._id, newId }
    steps.push({ place, step: stepOfGiven(one.given, origin) })
  }
  const variants = known.flatMap(({ given, before }, place) => repeatedVariants(given, before, place))
  return { steps, mistakes: [...repeatedNames(known, 'steps'), ...variants, ...mistakes] }
}

/** A step as given, and the stored one that it is. */
interface Known {
  readonly given: GivenVariant
  readonly before: StepVariant | undefined
}

function sameAs<Stored extends StepVariant>(given: GivenVariant, stored: readonly Stored[]): Stored | undefined {
  return stored.find((one) => one._id === given._id) ?? stored.find((one) => one.uuid === given.uuid)
}

/** Two steps, or two variants of a step, cannot be the same one. */
function repeatedNames(known: readonly Known[], path: string): Mistake[] {
  const seen = new Map<string, number>()
  return known.flatMap((one, place): Mistake[] => {
    const names = namesOf(one)
    const first = names.map((name) => seen.get(name)).find((other) => other !== undefined)
    for (const name of names) seen.set(name, place)
    if (first === undefined) return []
    const member = one.given._id === undefined ? 'uuid' : '_id'
    return [{ path: `${path}.${place}.${member}`, message: `is the same as ${path}.${first}` }]
  })
}

function repeatedVariants(step: GivenStep, before: NotificationStep | undefined, place: number): Mistake[] {
  const known = (step.variants ?? []).map((given) => ({
    given,
    before: sameAs(given, before?.variants ?? []),
  }))
  return repeatedNames(known, `steps.${place}.variants`)
}

function namesOf({ given, before }: Known): string[] {
  return [given._id, given.uuid, before?._id, before?.uuid].filter((name) => name !== undefined)
}

/** The positions in the order of the chain that `_parentId` forms; the caller's order if no step names a parent. */
function orderOf(known: readonly Known[]): { order: number[]; mistakes: Mistake[] } {
  const listed = known.map((_, place) => place)
  if (known.every(({ given }) => !given._parentId)) return { order: listed, mistakes: [] }
  const places = new Map(known.flatMap((one, place) => namesOf(one).map((name) => [name, place])))
  /** Which step follows the one at a place; −1 is the beginning. */
  const followers = new Map<number, number>()
  const mistakes: Mistake[] = []
  for (const [place, { given }] of known.entries()) {
    const { _parentId } = given
    const path = `steps.${place}._parentId`
    const parent = _parentId ? places.get(_parentId) : -1
    if (parent === undefined) {
      mistakes.push({ path, message: 'is not the _id or uuid of another step of this workflow' })
      continue
    }
    const rival = followers.get(parent)
    if (rival === undefined) followers.set(parent, place)
    else mistakes.push({ path, message: rivalry(parent, rival) })
  }
  if (mistakes.length > 0) return { order: listed, mistakes }
  const order: number[] = []
  for (let next = followers.get(-1); next !== undefined; next = followers.get(next)) order.push(next)
  if (order.length === known.length) return { order, mistakes: [] }
  const lost = listed.filter((place) => !order.includes(place))
  return {
    order: listed,
    mistakes: lost.map((place) => ({ path: `steps.${place}._parentId`, message: 'forms a cycle' })),
  }
}

function rivalry(parent: number, rival: number): string {
  return parent === -1
    ? `is required: steps.${rival} is already the first step. Omit it in all steps to run them in the order given`
    : `refers to steps.${parent}, which steps.${rival} already follows`
}

interface Origin<Stored> {
  readonly before: Stored | undefined
  readonly parentId: string | undefined
  readonly newId: () => string
}

function stepOfGiven(given: GivenStep, origin: Origin<NotificationStep>): NotificationStep {
  const variants = (given.variants ?? []).map((variant) =>
    variantOfGiven(variant, { ...origin, before: sameAs(variant, origin.before?.variants ?? []) }),
  )
  return { ...variantOfGiven(given, origin), variants }
}

function variantOfGiven(given: GivenVariant, { before, parentId, newId }: Origin<StepVariant>): StepVariant {
  const id = before?._id ?? newId()
  return {
    _id: id,
    uuid: given.uuid ?? before?.uuid ?? id,
    _templateId: before?._templateId ?? newId(),
    ...(parentId === undefined ? {} : { _parentId: parentId }),
    ...picked(given, ['name']),
    active: given.active ?? true,
    shouldStopOnFail: given.shouldStopOnFail ?? false,
    template: templateOfGiven(given.template),
    filters: (given.filters ?? []).map(filterOfGiven),
    ...(given.metadata === undefined ? {} : { metadata: metadataOfGiven(given.metadata) }),
    // An empty condition is none.
    ...(Object.keys(given.skip ?? {}).length === 0 ? {} : { skip: given.skip ?? {} }),
    ...(given.replyCallback === undefined ? {} : { replyCallback: picked(given.replyCallback, ['active', 'url']) }),
  }
}

function templateOfGiven(given: GivenTemplate): StepTemplate {
  const { content, cta, actor, variables } = given
  const layoutId = given.layoutId === undefined ? given._layoutId : given.layoutId
  const feedId = given.feedId === undefined ? given._feedId : given.feedId
  return {
    // Whether there is such a type is checked by the rules, which see every step.
    type: given.type as StepType,
    ...picked(given, ['contentType', 'subject', 'preheader', 'senderName', 'title', 'data', 'name']),
    ...picked(given, ['replyTo', 'disableOutputSanitization']),
    ...(given.from === undefined ? {} : { from: picked(given.from, ['email', 'name']) }),
    ...(content === undefined ? {} : { content: contentOfGiven(content) }),
    ...(layoutId === undefined ? {} : { layoutId }),
    ...(feedId === undefined ? {} : { feedId }),
    ...(cta === undefined ? {} : { cta: ctaOfGiven(cta) }),
    ...(actor === undefined ? {} : { actor: picked(actor, ['type', 'data']) }),
    ...(variables === undefined
      ? {}
      : { variables: variables.map((one) => picked(one, ['name', 'type', 'required', 'defaultValue'])) }),
  }
}

function contentOfGiven(content: NonNullable<StepTemplate['content']>): NonNullable<StepTemplate['content']> {
  if (typeof content === 'string') return content
  return content.map((block) => ({
    ...picked(block, ['type', 'content', 'url']),
    ...(block.styles === undefined ? {} : { styles: picked(block.styles, ['textAlign']) }),
  }))
}

function ctaOfGiven({ type, data, action }: NonNullable<StepTemplate['cta']>): NonNullable<StepTemplate['cta']> {
  return {
    ...(type === undefined ? {} : { type }),
    ...(data === undefined ? {} : { data: picked(data, ['url', 'target']) }),
    ...(action === undefined
      ? {}
      : {
          action: {
            ...picked(action, ['status']),
            ...(action.buttons === undefined ? {} : { buttons: action.buttons.map(buttonOfGiven) }),
            ...(action.result === undefined ? {} : { result: picked(action.result, ['payload', 'type']) }),
          },
        }),
  }
}

const buttonOfGiven = (button: MessageButton): MessageButton => ({
  ...picked(button, ['type', 'content', 'resultContent']),
  ...(button.redirect === undefined ? {} : { redirect: picked(button.redirect, ['url', 'target']) }),
})

const timingMembers = [
  ...['type', 'amount', 'unit', 'cron', 'extendToSchedule', 'digestKey', 'updateMode'],
  ...['backoff', 'backoffAmount', 'backoffUnit', 'delayPath', 'dynamicKey', 'threshold', 'throttleKey'],
] as const
const callMembers = ['url', 'method', 'headers', 'body', 'timeoutMs', 'continueOnFailure'] as const
const timedMembers = ['atTime', 'weekDays', 'ordinal', 'ordinalValue', 'monthlyType'] as const

function metadataOfGiven(given: GivenMetadata): StepMetadata {
  const { timed } = given
  const settings = {
    ...picked(given, [...timingMembers, ...callMembers]),
    ...(timed === undefined
      ? {}
      : {
          timed: {
            ...picked(timed, timedMembers),
            ...(timed.monthDays === undefined ? {} : { monthDays: timed.monthDays.map(String) }),
          },
        }),
  }
  // What does not belong to its kind is reported by the step's own errors, before anything is stored.
  return settings as unknown as StepMetadata
}

/** The members that are known and given: others are ignored, as everywhere. */
function picked<Whole extends object, Name extends keyof Whole>(
  whole: Whole,
  names: readonly Name[],
): Pick<Whole, Name> {
  const known = names.filter((name) => whole[name] !== undefined)
  return Object.fromEntries(known.map((name) => [name, whole[name]])) as Pick<Whole, Name>
}
