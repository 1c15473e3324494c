// In-app messages from templates: sanitised content, plain subject and buttons, links that are safe, data with its texts rendered.
import type { InAppContent, TemplateScope } from '../domain/workflows/rendering.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import type {
  LinkTarget,
  MessageButton,
  MessageCta,
  StepTemplate,
  TemplateActor,
} from '../domain/workflows/workflow.ts'
import type { Budget } from './limits.ts'
import { dataDepthMax, dataTextsMax, inAppLengthMax, subjectLengthMax } from './limits.ts'
import { oneLine, safeAddress } from './plain-text.ts'
import { sanitized } from './sanitize.ts'
import type { Template } from './template.ts'
import { compile } from './template.ts'
import { contentMode } from './texts.ts'

type Render = (scope: TemplateScope, budget: Budget) => unknown

interface CompiledButton {
  readonly button: MessageButton
  readonly content: Template
  readonly resultContent: Template | undefined
  readonly url: Template | undefined
}

export interface CompiledInApp {
  readonly sourceLength: number
  readonly content: Template
  /** The output is shown as it is. */
  readonly isTrusted: boolean
  readonly subject: Template | undefined
  readonly type: MessageCta['type']
  readonly url: Template | undefined
  readonly target: LinkTarget | undefined
  readonly buttons: readonly CompiledButton[]
  /** The address of a custom picture. */
  readonly avatar: Template | undefined
  readonly data: Render | undefined
}

export function compileInApp(template: StepTemplate): CompiledInApp {
  let sourceLength = 0
  const text = (field: string, source: string, mode: 'html' | 'plain'): Template => {
    sourceLength += source.length
    return compile(`template.${field}`, source, mode)
  }
  const optional = (field: string, source: string | undefined): Template | undefined =>
    source === undefined || source === '' ? undefined : text(field, source, 'plain')
  const { content = '', subject, cta, data, actor } = template
  if (typeof content !== 'string') throw new RenderError('template.content', 'an in-app message has text, not blocks')
  const buttons = cta?.action?.buttons ?? []
  return {
    content: text('content', content, contentMode(template)),
    isTrusted: template.disableOutputSanitization === true,
    subject: optional('subject', subject),
    type: cta?.type,
    url: optional('cta.data.url', cta?.data?.url),
    target: cta?.data?.target,
    buttons: buttons.map((button, index) => ({
      button,
      content: text(`cta.action.buttons[${index}].content`, button.content, 'plain'),
      resultContent: optional(`cta.action.buttons[${index}].resultContent`, button.resultContent),
      url: optional(`cta.action.buttons[${index}].redirect.url`, button.redirect?.url),
    })),
    avatar: optional('actor.data', actor?.type === 'system_custom' ? (actor.data ?? undefined) : undefined),
    data: data === undefined ? undefined : compileData(data, { count: 0, text }),
    get sourceLength() {
      return sourceLength
    },
  }
}

interface DataTexts {
  count: number
  readonly text: (field: string, source: string, mode: 'plain') => Template
}

/** The data with every string in it a template of its own. */
function compileData(value: unknown, texts: DataTexts, field = 'data', depth = 0): Render {
  if (typeof value === 'string') {
    texts.count += 1
    if (texts.count > dataTextsMax) throw new RenderError('template.data', `contains more than ${dataTextsMax} strings`)
    const template = texts.text(field, value, 'plain')
    return (scope, budget) => template.render(scope, budget)
  }
  if (typeof value !== 'object' || value === null) return () => value
  if (depth >= dataDepthMax) throw new RenderError('template.data', `is nested more than ${dataDepthMax} levels deep`)
  if (Array.isArray(value)) {
    const members = value.map((member, index) => compileData(member, texts, `${field}[${index}]`, depth + 1))
    return (scope, budget) => members.map((member) => member(scope, budget))
  }
  const members = Object.entries(value).map(
    ([name, member]) => [name, compileData(member, texts, `${field}.${name}`, depth + 1)] as const,
  )
  return (scope, budget) => Object.fromEntries(members.map(([name, member]) => [name, member(scope, budget)]))
}

export function renderInApp(compiled: CompiledInApp, scope: TemplateScope, budget: Budget): InAppContent {
  const rendered = compiled.content.render(scope, budget)
  if (rendered.length > inAppLengthMax) {
    throw new RenderError('template.content', `renders to more than ${inAppLengthMax} characters`)
  }
  const content = compiled.isTrusted ? rendered : sanitized('template.content', rendered, 'inApp')
  const subject = compiled.subject && oneLine(compiled.subject.render(scope, budget), subjectLengthMax)
  const data = compiled.data?.(scope, budget) as InAppContent['data']
  const actor = compiled.avatar && actorOf(compiled.avatar.render(scope, budget))
  return {
    content,
    ...(subject === undefined ? {} : { subject }),
    cta: renderCta(compiled, scope, budget),
    ...(actor === undefined ? {} : { actor }),
    ...(data === undefined ? {} : { data }),
  }
}

/** A picture without an address that browsers may load is omitted: it is often a subscriber's own, and no reason not to send. */
function actorOf(rendered: string): TemplateActor {
  const none = { type: 'none', data: null } as const
  try {
    const avatar = safeAddress('template.actor.data', rendered)
    return avatar === undefined ? none : { type: 'system_custom', data: avatar }
  } catch (error) {
    if (error instanceof RenderError) return none
    throw error
  }
}

function renderCta({ type, url, target, buttons }: CompiledInApp, scope: TemplateScope, budget: Budget): MessageCta {
  const address = url && safeAddress('template.cta.data.url', url.render(scope, budget))
  const line = (template: Template) => oneLine(template.render(scope, budget), subjectLengthMax)
  return {
    ...(type === undefined && address === undefined ? {} : { type: 'redirect' }),
    ...(address === undefined ? {} : { data: { url: address, ...(target === undefined ? {} : { target }) } }),
    ...(buttons.length === 0
      ? {}
      : {
          action: {
            status: 'pending',
            buttons: buttons.map(({ button, content, resultContent, url }, index) => {
              const path = `template.cta.action.buttons[${index}].redirect.url`
              const leadsTo = url && safeAddress(path, url.render(scope, budget))
              return {
                type: button.type,
                content: line(content),
                ...(resultContent === undefined ? {} : { resultContent: line(resultContent) }),
                ...(leadsTo === undefined ? {} : { redirect: { ...button.redirect, url: leadsTo } }),
              }
            }),
          },
        }),
  }
}
