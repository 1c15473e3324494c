// The texts of a step's template, each with its place: what is checked when a workflow is saved, and read for its variables.
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import type { Mode } from './engine.ts'
import { dataDepthMax } from './limits.ts'

export interface TemplateText {
  /** Such as `template.content[1].url`. */
  readonly path: string
  readonly text: string
  readonly mode: Mode
}

/** How a content that is one text is rendered: what payloads bring is escaped in HTML, unless the author wants it as it is. */
export function contentMode({ type, disableOutputSanitization }: StepTemplate): Mode {
  const isHtml = type === 'email' || type === 'in_app'
  return isHtml && disableOutputSanitization !== true ? 'html' : 'plain'
}

export function textsOf(template: StepTemplate): TemplateText[] {
  const { content, cta, data } = template
  const texts: TemplateText[] = []
  const add = (path: string, text: unknown, mode: Mode = 'plain') => {
    if (typeof text === 'string') texts.push({ path: `template.${path}`, text, mode })
  }
  for (const name of ['subject', 'preheader', 'senderName', 'title'] as const) add(name, template[name])
  add('from.email', template.from?.email)
  add('from.name', template.from?.name)
  add('replyTo', template.replyTo)
  if (typeof content === 'string') add('content', content, contentMode(template))
  else {
    for (const [index, block] of (content ?? []).entries()) {
      add(`content[${index}].content`, block.content, block.type === 'button' ? 'plain' : 'html')
      add(`content[${index}].url`, block.url)
    }
  }
  add('cta.data.url', cta?.data?.url)
  for (const [index, button] of (cta?.action?.buttons ?? []).entries()) {
    add(`cta.action.buttons[${index}].content`, button.content)
    add(`cta.action.buttons[${index}].resultContent`, button.resultContent)
    add(`cta.action.buttons[${index}].redirect.url`, button.redirect?.url)
  }
  if (template.actor?.type === 'system_custom') add('actor.data', template.actor.data)
  addData('data', data, add)
  return texts
}

/** Nothing is read below the allowed depth: it is rejected as a whole. */
function addData(path: string, value: unknown, add: (path: string, text: unknown) => void, depth = 0): void {
  if (depth > dataDepthMax) return
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) addData(`${path}[${index}]`, member, add, depth + 1)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) addData(`${path}.${name}`, member, add, depth + 1)
  } else add(path, value)
}
