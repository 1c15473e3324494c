// The control values of API v2: the content and settings of a step, in one object; and back.
import type { StepTemplate, StepVariant } from './workflow.ts'

export type Controls = Readonly<Record<string, unknown>>

/** What a step's control values become in the model. */
export interface ControlledParts {
  readonly template: Partial<StepTemplate>
  /** Whole and as given: which settings belong together is the step's own to say. */
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly skip?: Readonly<Record<string, unknown>>
}

const controlledTypes = ['in_app', 'email', 'sms', 'chat', 'push', 'digest', 'delay', 'throttle', 'custom'] as const
export type ControlledType = (typeof controlledTypes)[number]

const timing = ['type', 'amount', 'unit', 'cron', 'timed', 'extendToSchedule'] as const

/** Every member that means something, by type. The last ones of digests and delays are those of API v1. */
export const controlMembers: Readonly<Record<ControlledType, readonly string[]>> = {
  email: ['subject', 'body', 'editorType', 'layoutId', 'from', 'replyTo', 'preheader', 'disableOutputSanitization'],
  in_app: [
    ...['subject', 'body', 'avatar', 'primaryAction', 'secondaryAction', 'redirect', 'data'],
    'disableOutputSanitization',
  ],
  sms: ['body'],
  chat: ['body', 'editorType'],
  push: ['subject', 'body'],
  digest: [...timing, 'lookBackWindow', 'digestKey', 'updateMode'],
  delay: [...timing, 'dynamicKey', 'delayPath'],
  throttle: ['type', 'amount', 'unit', 'dynamicKey', 'threshold', 'throttleKey'],
  custom: ['type', 'url', 'method', 'headers', 'body', 'timeoutMs', 'continueOnFailure', 'custom'],
}

const commonMembers: ReadonlySet<string> = new Set(['skip'])
const knownMembers: ReadonlySet<string> = new Set(Object.values(controlMembers).flat())

export const isControlled = (type: string): type is ControlledType => controlledTypes.some((one) => one === type)

/**
 * Fields that belong to steps of other types, and would be silently ignored. Unknown ones are ignored, as everywhere.
 */
export function foreignControls(type: ControlledType, controls: Controls): string[] {
  return Object.keys(controls).filter(
    (name) =>
      knownMembers.has(name) &&
      !commonMembers.has(name) &&
      !controlMembers[type].includes(name) &&
      saysSomething(controls[name]),
  )
}

/** Editors send empty members for those that were left out. */
function saysSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

/** The fields that are given; null means nothing. */
function given(controls: Controls, names: readonly string[]): Record<string, unknown> {
  const known = names.filter((name) => controls[name] !== undefined && controls[name] !== null)
  return Object.fromEntries(known.map((name) => [name, controls[name]]))
}

export function partsOfControls(type: ControlledType, controls: Controls): ControlledParts {
  const { skip } = controls
  const parts = partsOf[type](controls)
  // An empty condition is none: editors send one.
  return isObject(skip) && Object.keys(skip).length > 0 ? { ...parts, skip } : parts
}

const partsOf: Readonly<Record<ControlledType, (controls: Controls) => ControlledParts>> = {
  email: (controls) => ({
    template: {
      ...given(controls, ['subject', 'replyTo', 'preheader', 'disableOutputSanitization']),
      ...emailContentOf(controls),
      ...(controls['layoutId'] === undefined ? {} : { layoutId: controls['layoutId'] as string | null }),
      ...(controls['useProviderDefaults'] === true ? {} : senderOf(controls['from'])),
    },
  }),
  in_app: (controls) => ({
    template: {
      ...given(controls, ['subject', 'data', 'disableOutputSanitization']),
      ...contentOf(controls),
      ...(saysSomething(controls['avatar'])
        ? { actor: { type: 'system_custom', data: String(controls['avatar']) } }
        : {}),
      ...ctaOf(controls),
    },
  }),
  sms: (controls) => ({ template: contentOf(controls) }),
  chat: (controls) => ({ template: contentOf(controls) }),
  push: (controls) => ({
    template: {
      ...contentOf(controls),
      ...(typeof controls['subject'] === 'string' ? { title: controls['subject'] } : {}),
    },
  }),
  digest: (controls) => ({ template: {}, metadata: digestOf(controls) }),
  delay: (controls) => ({
    template: {},
    metadata: { type: delayTypeOf(controls), ...given(controls, controlMembers.delay) },
  }),
  throttle: (controls) => ({
    template: {},
    metadata: { type: 'fixed', ...given(controls, controlMembers.throttle) },
  }),
  // A client whose form of a custom step is closed can only put them one deeper.
  custom: (controls) => ({
    template: {},
    metadata: { type: 'http', ...given({ ...objectOf(controls['custom']), ...controls }, customMembers) },
  }),
}

const customMembers = controlMembers.custom.filter((name) => name !== 'custom')

const contentOf = (controls: Controls): Partial<StepTemplate> =>
  typeof controls['body'] === 'string' ? { content: controls['body'] } : {}

/** Blocks are given as JSON where the editor is `block`; anything else is HTML. */
function emailContentOf(controls: Controls): Partial<StepTemplate> {
  const { body, editorType } = controls
  if (typeof body !== 'string') return {}
  const blocks = editorType === 'html' ? undefined : blocksOf(body)
  return blocks === undefined
    ? { content: body, contentType: 'customHtml' }
    : { content: blocks, contentType: 'editor' }
}

function blocksOf(body: string): Exclude<StepTemplate['content'], string | undefined> | undefined {
  if (!body.trimStart().startsWith('[')) return undefined
  try {
    const value: unknown = JSON.parse(body)
    return Array.isArray(value) && value.length > 0 && value.every(isObject) ? (value as never) : undefined
  } catch {
    return undefined
  }
}

/** A name without an address is the name beside the integration's own. */
function senderOf(from: unknown): Partial<StepTemplate> {
  const { email, name } = objectOf(from)
  const named = typeof name === 'string' && name !== '' ? { name } : {}
  if (typeof email === 'string' && email !== '') return { from: { email, ...named } }
  return named.name === undefined ? {} : { senderName: named.name }
}

type Cta = NonNullable<StepTemplate['cta']>
type Button = NonNullable<NonNullable<Cta['action']>['buttons']>[number]

function ctaOf(controls: Controls): Partial<StepTemplate> {
  const buttons = (['primary', 'secondary'] as const).flatMap((type): Button[] => {
    const { label, redirect } = objectOf(controls[`${type}Action`])
    if (typeof label !== 'string') return []
    return [{ type, content: label, ...(isObject(redirect) ? { redirect: redirect as Button['redirect'] & {} } : {}) }]
  })
  const { redirect } = controls
  const cta: Cta = {
    ...(isObject(redirect) ? { type: 'redirect', data: redirect } : {}),
    ...(buttons.length === 0 ? {} : { action: { buttons } }),
  }
  return Object.keys(cta).length === 0 ? {} : { cta }
}

function digestOf(controls: Controls): Readonly<Record<string, unknown>> {
  const members = given(
    controls,
    controlMembers.digest.filter((name) => name !== 'lookBackWindow'),
  )
  const type = members['type'] ?? (members['cron'] === undefined ? 'regular' : 'timed')
  const { amount, unit } = objectOf(controls['lookBackWindow'])
  if (!isObject(controls['lookBackWindow'])) return { ...members, type }
  // Reported by the step's own rules if it is a timed one.
  const kind = type === 'regular' ? 'backoff' : type
  return { ...members, type: kind, backoffAmount: amount, backoffUnit: unit }
}

function delayTypeOf(controls: Controls): string {
  const { cron, dynamicKey, delayPath } = given(controls, ['cron', 'dynamicKey', 'delayPath'])
  if (cron !== undefined) return 'timed'
  if (dynamicKey !== undefined) return 'dynamic'
  return delayPath === undefined ? 'regular' : 'scheduled'
}

/** What a step's parts read as in API v2, whichever version of the API wrote them. */
export function controlsOf(step: Pick<StepVariant, 'template' | 'metadata' | 'skip'>): Record<string, unknown> {
  const { template, metadata, skip } = step
  const controls = isControlled(template.type) ? readers[template.type](template, { ...metadata }) : {}
  return skip === undefined ? controls : { ...controls, skip }
}

type Reader = (template: StepTemplate, metadata: Readonly<Record<string, unknown>>) => Record<string, unknown>

const readers: Readonly<Record<ControlledType, Reader>> = {
  email: (template) => {
    const { content = '', from, senderName, layoutId } = template
    const isText = typeof content === 'string'
    const name = from?.name ?? senderName
    return {
      ...given({ ...template }, ['subject', 'replyTo', 'preheader', 'disableOutputSanitization']),
      body: isText ? content : JSON.stringify(content),
      editorType: isText ? 'html' : 'block',
      ...(layoutId === undefined ? {} : { layoutId }),
      ...(from === undefined && name === undefined
        ? {}
        : { from: { ...from, ...(name === undefined ? {} : { name }) } }),
    }
  },
  in_app: (template) => {
    const { cta, actor } = template
    const button = (type: Button['type']): object => {
      const found = cta?.action?.buttons?.find((one) => one.type === type)
      if (found === undefined) return {}
      return { [`${type}Action`]: { label: found.content, ...(found.redirect && { redirect: found.redirect }) } }
    }
    return {
      ...given({ ...template }, ['subject', 'data', 'disableOutputSanitization']),
      ...bodyOf(template),
      ...(actor?.type === 'system_custom' && actor.data ? { avatar: actor.data } : {}),
      ...button('primary'),
      ...button('secondary'),
      ...(cta?.data?.url === undefined ? {} : { redirect: cta.data }),
    }
  },
  sms: (template) => bodyOf(template),
  chat: (template) => bodyOf(template),
  push: (template) => ({ ...(template.title === undefined ? {} : { subject: template.title }), ...bodyOf(template) }),
  digest: (_, metadata) => {
    const { type, backoff, backoffAmount, backoffUnit, ...rest } = metadata
    if (type === 'timed' || (type !== 'backoff' && backoff !== true)) return { type, ...rest }
    const lookBackWindow = { amount: backoffAmount ?? rest['amount'], unit: backoffUnit ?? rest['unit'] }
    return { type: 'regular', ...rest, lookBackWindow }
  },
  delay: (_, metadata) => ({ ...metadata }),
  throttle: (_, metadata) => ({ ...metadata }),
  custom: (_, metadata) => ({ ...metadata }),
}

const bodyOf = ({ content }: StepTemplate): { body?: string } => (typeof content === 'string' ? { body: content } : {})

const replaced: readonly (readonly [RegExp, string])[] = [
  [/^template\.(?=subject|preheader|layoutId|replyTo|from|data|disableOutputSanitization)/, ''],
  [/^template\.content/, 'body'],
  [/^template\.senderName/, 'from.name'],
  [/^template\.title/, 'subject'],
  [/^template\.actor(\.data)?/, 'avatar'],
  [/^template\.cta\.data/, 'redirect'],
  [/^metadata\.backoffAmount/, 'lookBackWindow.amount'],
  [/^metadata\.backoffUnit/, 'lookBackWindow.unit'],
  [/^metadata\./, ''],
]

/** Where API v2 has what an error refers to by its path in the model, such as `template.content`. */
export function controlPath(template: Pick<StepTemplate, 'cta'>, path: string): string {
  if (path === 'template.type') return 'type'
  if (path === 'metadata') return 'controlValues'
  if (path === 'skip' || path.startsWith('skip.')) return `controlValues.${path}`
  const button = /^template\.cta\.action\.buttons\.(\d)\.(content|.*)$/.exec(path)
  if (button !== null) {
    const type = template.cta?.action?.buttons?.[Number(button[1])]?.type ?? 'primary'
    return `controlValues.${type}Action.${button[2] === 'content' ? 'label' : button[2]}`
  }
  for (const [pattern, words] of replaced) {
    if (pattern.test(path)) return `controlValues.${path.replace(pattern, words)}`
  }
  return path
}

const isObject = (value: unknown): value is Controls =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const objectOf = (value: unknown): Controls => (isObject(value) ? value : {})
