// A template, compiled once and rendered many times.
import type { Template as Parsed, Token } from 'liquidjs'
import { Context, Output, TypeGuards, toValueSync } from 'liquidjs'
import type { TemplateScope } from '../domain/rendering.ts'
import { RenderError } from '../domain/rendering.ts'
import type { Mode } from './engine.ts'
import { CountedEmitter, engines } from './engine.ts'
import type { Budget } from './limits.ts'
import { mistakeOf, parse } from './parse.ts'
import { escapeHtml, print, SafeText, valueAt } from './values.ts'

export interface Template {
  /** The text it was made of, or what stands for it: what it costs to keep. */
  readonly sourceLength: number
  /** Throws a RenderError that names the field. */
  render(scope: TemplateScope, budget: Budget): string
}

/** Throws a RenderError that names the field. */
export function compile(field: string, text: string, mode: Mode): Template {
  if (!text.includes('{')) return constant(text)
  const parsed = inField(field, () => parse(text, mode))
  const parts = simpleParts(parsed)
  const render = parts === undefined ? fully(text, parsed, mode) : simply(parts, mode)
  return {
    sourceLength: text.length,
    render: (scope, budget) => inField(field, () => render(scope, budget)),
  }
}

/** Runs what may meet a mistake or a limit, and names the field where it did. */
export function inField<T>(field: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (error instanceof RenderError) throw error
    throw new RenderError(field, mistakeOf(error).message)
  }
}

function constant(text: string): Template {
  return {
    sourceLength: text.length,
    render(_, budget) {
      budget.write(text.length)
      return text
    },
  }
}

type Path = readonly (string | number)[]

/**
 * Text and plain variables only, as nearly every template is: undefined when there is more to it. Walking these ourselves
 * takes a tenth of what LiquidJS' generators take.
 */
function simpleParts(parsed: readonly Parsed[]): (string | Path)[] | undefined {
  const parts: (string | Path)[] = []
  for (const template of parsed) {
    const part = TypeGuards.isHTMLToken(template.token) ? template.token.getContent() : pathIn(template)
    if (part === undefined) return undefined
    parts.push(part)
  }
  return parts
}

function pathIn(template: Parsed): Path | undefined {
  if (!(template instanceof Output)) return undefined
  const { initial, filters } = template.value
  const [token] = initial.postfix
  // The one filter is what prints.
  if (filters.length !== 1 || initial.postfix.length !== 1 || filters[0]?.raw === true) return undefined
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable !== undefined) return undefined
  const path: (string | number)[] = []
  for (const property of token.props as readonly Token[]) {
    const isName = TypeGuards.isWordToken(property) || TypeGuards.isQuotedToken(property)
    if (!isName && !TypeGuards.isNumberToken(property)) return undefined
    path.push(property.content)
  }
  return path
}

function simply(parts: readonly (string | Path)[], mode: Mode) {
  return (scope: TemplateScope, budget: Budget): string => {
    let result = ''
    for (const part of parts) {
      if (typeof part === 'string') result += part
      else {
        budget.check()
        const known = Object.hasOwn(scope, part[0] ?? '')
        const value = known ? valueAt(scope, part) : undefined
        const text = print(value, budget)
        result += mode === 'html' && !(value instanceof SafeText) ? escapeHtml(text) : text
      }
    }
    budget.write(result.length)
    return result
  }
}

function fully(text: string, parsed: Parsed[], mode: Mode) {
  const engine = engines[mode]
  // These two write into what they are given.
  const counts = /\b(?:in|de)crement\b/.test(text)
  return (scope: TemplateScope, budget: Budget): string => {
    const limits = { memoryLimit: budget, renderLimit: budget, liquid: engine }
    const environment = counts ? Object.assign(Object.create(null), scope) : scope
    const context = new Context(environment, engine.options, { sync: true }, limits as unknown as ContextLimits)
    const emitter = new CountedEmitter(budget)
    toValueSync(engine.renderer.renderTemplates(parsed, context, emitter))
    return emitter.buffer
  }
}

type ContextLimits = NonNullable<ConstructorParameters<typeof Context>[3]>
