// Plain-text messages from templates: SMS, chat and push, which show every character as it is.
import type { TemplateScope, TextContent } from '../domain/workflows/rendering.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import type { Budget } from './limits.ts'
import { subjectLengthMax, textLengthsMax } from './limits.ts'
import { oneLine } from './plain-text.ts'
import type { Template } from './template.ts'
import { compile } from './template.ts'

export interface CompiledText {
  readonly sourceLength: number
  readonly content: Template
  readonly title: Template | undefined
  readonly lengthMax: number
}

export function compileText(template: StepTemplate): CompiledText {
  const { type, content = '', title, subject } = template
  if (typeof content !== 'string')
    throw new RenderError('template.content', 'must be a string in this channel, not blocks')
  // API v2 calls a push message's title its subject.
  const [field, heading] = title === undefined ? ['template.subject', subject] : ['template.title', title]
  const hasTitle = type === 'push' && heading !== undefined && heading !== ''
  return {
    sourceLength: content.length + (hasTitle ? heading.length : 0),
    content: compile('template.content', content, 'plain'),
    title: hasTitle ? compile(field, heading, 'plain') : undefined,
    lengthMax: textLengthsMax[type as keyof typeof textLengthsMax] ?? textLengthsMax.sms,
  }
}

export function renderText(compiled: CompiledText, scope: TemplateScope, budget: Budget): TextContent {
  const content = plainText(compiled.content.render(scope, budget))
  if (content.length > compiled.lengthMax) {
    throw new RenderError('template.content', `renders to more than ${compiled.lengthMax} characters`)
  }
  const title = compiled.title && oneLine(compiled.title.render(scope, budget), subjectLengthMax)
  return { content, ...(title === undefined ? {} : { title }) }
}

/** Lines and tabs stay; other control characters cannot be shown by phones, and some not stored in databases. */
function plainText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .trim()
}
