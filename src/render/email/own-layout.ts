// An environment's own layouts: Liquid around a slot for the body, checked when saved and compiled once.
import type { Template as Parsed } from 'liquidjs'
import { Output, TypeGuards, toValueSync } from 'liquidjs'
import type { EmailLayout, TemplateScope } from '../../domain/workflows/rendering.ts'
import { ownTexts, textsOwner } from '../../domain/workflows/translation.ts'
import type { Budget } from '../limits.ts'
import { demandFewTags } from '../markup.ts'
import { parse, TemplateMistake } from '../parse.ts'
import type { Template } from '../template.ts'
import { compile } from '../template.ts'
import { SafeText } from '../values.ts'
import { hasStyle, inlineCss } from './inline-css.ts'

const field = 'layout.content'

/** Names of the slot. The second one counts only where the first is missing: it may be a field of the payload otherwise. */
const slotNames = ['body', 'content'] as const
type SlotName = (typeof slotNames)[number]

/** Two braces for three, with the same length: columns in errors stay right. */
const tripleBraced = /\{\{\{(\s*(?:body|content)\s*)\}\}\}/g
const inLiquid = (content: string): string => content.replace(tripleBraced, '{{ $1 }}')

/** What is wrong with a layout, with line and column if there are any; undefined if it can be used. */
export function layoutMistake(content: string): string | undefined {
  try {
    const parsed = parse(inLiquid(content), 'html')
    const slots = slotsIn(parsed, slotNameIn(parsed))
    if (slots === 1) return undefined
    return slots === 0
      ? 'has no place for the body: add {{{body}}}'
      : `has ${slots} places for the body; one is allowed`
  } catch (error) {
    if (error instanceof TemplateMistake) return error.message
    throw error
  }
}

const slotNameIn = (templates: readonly Parsed[]): SlotName =>
  slotNames.find((name) => slotsIn(templates, name) > 0) ?? 'body'

function slotsIn(templates: readonly Parsed[], slot: SlotName): number {
  let count = 0
  for (const template of templates) {
    if (template instanceof Output && isSlot(template, slot)) count += 1
    const children = (template as Parsed).children?.(false, true)
    if (children !== undefined) count += slotsIn(toValueSync(children) as Parsed[], slot)
  }
  return count
}

function isSlot({ value }: Output, slot: SlotName): boolean {
  const [token] = value.initial.postfix
  if (value.initial.postfix.length !== 1 || !TypeGuards.isPropertyAccessToken(token)) return false
  const [name] = token.props
  if (token.props.length !== 1 || name === undefined) return false
  return TypeGuards.isWordToken(name) && name.content === slot
}

export interface CompiledLayout {
  readonly sourceLength: number
  readonly template: Template
  readonly slot: SlotName
  /** Whose texts the filter `t` finds first. */
  readonly textsOwner: string
  readonly hasStyle: boolean
  /** Whether it shows the preheader itself. */
  readonly hasPreheader: boolean
}

export function compileLayout({ content, identifier }: EmailLayout): CompiledLayout {
  const source = inLiquid(content)
  return {
    sourceLength: content.length,
    template: compile(field, source, 'html'),
    slot: slotNameIn(parse(source, 'html')),
    textsOwner: ownTexts('layout', identifier),
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
    {
      ...scope,
      [textsOwner]: layout.textsOwner,
      subject,
      preheader,
      lang: locale,
      branding: brandingOf(scope),
      [layout.slot]: new SafeText(body),
    },
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
