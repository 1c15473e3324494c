// An environment's own layouts: Liquid around a slot for the body, checked when saved and compiled once.
import type { Template as Parsed } from 'liquidjs'
import { Output, TypeGuards, toValueSync } from 'liquidjs'
import type { EmailLayout, TemplateScope } from '../../domain/workflows/rendering.ts'
import type { Budget } from '../limits.ts'
import { demandFewTags } from '../markup.ts'
import { parse, TemplateMistake } from '../parse.ts'
import type { Template } from '../template.ts'
import { compile } from '../template.ts'
import { SafeText } from '../values.ts'
import { hasStyle, inlineCss } from './inline-css.ts'

const field = 'layout.content'

/** Two braces for three, with the same length: columns in errors stay right. */
const tripleBraced = /\{\{\{(\s*body\s*)\}\}\}/g
const inLiquid = (content: string): string => content.replace(tripleBraced, '{{ $1 }}')

/** What is wrong with a layout, with line and column if there are any; undefined if it can be used. */
export function layoutMistake(content: string): string | undefined {
  try {
    const slots = slotsIn(parse(inLiquid(content), 'html'))
    if (slots === 1) return undefined
    return slots === 0
      ? 'has no place for the body: add {{{body}}}'
      : `has ${slots} places for the body; one is allowed`
  } catch (error) {
    if (error instanceof TemplateMistake) return error.message
    throw error
  }
}

function slotsIn(templates: readonly Parsed[]): number {
  let count = 0
  for (const template of templates) {
    if (template instanceof Output && isBody(template)) count += 1
    const children = (template as Parsed).children?.(false, true)
    if (children !== undefined) count += slotsIn(toValueSync(children) as Parsed[])
  }
  return count
}

function isBody({ value }: Output): boolean {
  const [token] = value.initial.postfix
  if (value.initial.postfix.length !== 1 || !TypeGuards.isPropertyAccessToken(token)) return false
  const [name] = token.props
  if (token.props.length !== 1 || name === undefined) return false
  return TypeGuards.isWordToken(name) && name.content === 'body'
}

export interface CompiledLayout {
  readonly sourceLength: number
  readonly template: Template
  readonly hasStyle: boolean
  /** Whether it shows the preheader itself. */
  readonly hasPreheader: boolean
}

export function compileLayout({ content }: EmailLayout): CompiledLayout {
  return {
    sourceLength: content.length,
    template: compile(field, inLiquid(content), 'html'),
    hasStyle: hasStyle(content),
    hasPreheader: /\bpreheader\b/.test(content),
  }
}

/** What a layout shows if no brand is set. */
const plainBranding = { color: '#1f2933' }

export function renderLayout(
  layout: CompiledLayout,
  mail: { subject: string; preheader: string; body: string; locale: string },
  scope: TemplateScope,
  budget: Budget,
): string {
  const { subject, preheader, body, locale } = mail
  const whole = layout.template.render(
    { ...scope, subject, preheader, lang: locale, branding: brandingOf(scope), body: new SafeText(body) },
    budget,
  )
  demandFewTags(field, whole)
  // Its rules may apply to elements of the body too, so they are inlined once both are there.
  return layout.hasStyle ? inlineCss(whole) : whole
}

/** A tenant's own, under `branding` in its data. */
function brandingOf({ tenant }: TemplateScope): Readonly<Record<string, unknown>> {
  const data = tenant?.['data'] as Readonly<Record<string, unknown>> | undefined
  const own = data?.['branding']
  return typeof own === 'object' && own !== null && !Array.isArray(own) ? { ...plainBranding, ...own } : plainBranding
}
