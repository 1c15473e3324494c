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
  /** Where it is text and plain variables only. */
  readonly pieces?: Pieces
}

/** A template taken apart: the texts that stand around its variables, one more than there are of those. */
export interface Pieces {
  readonly fixed: readonly string[]
  /** What the variables come out as, as they stand in the outcome. Throws a RenderError that names the field. */
  values(scope: TemplateScope, budget: Budget): string[]
}

/** What `render` gives. */
export function joined(fixed: readonly string[], values: readonly string[]): string {
  let result = fixed[0] ?? ''
  for (let index = 0; index < values.length; index += 1) result += (values[index] ?? '') + (fixed[index + 1] ?? '')
  return result
}

/** Throws a RenderError that names the field. */
export function compile(field: string, text: string, mode: Mode): Template {
  if (!text.includes('{')) return constant(text)
  const parsed = inField(field, () => parse(text, mode))
  const parts = simpleParts(parsed)
  if (parts !== undefined) return simply(field, text, parts, mode)
  const render = fully(text, parsed, mode)
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
    pieces: {
      fixed: [text],
      values(_, budget) {
        budget.write(text.length)
        return []
      },
    },
  }
}

type Path = readonly (string | number)[]

interface Parts {
  /** One more than there are paths. */
  readonly fixed: readonly string[]
  readonly paths: readonly Path[]
}

/**
 * Text and plain variables only, as nearly every template is: undefined when there is more to it. Walking these ourselves
 * takes a tenth of what LiquidJS' generators take.
 */
function simpleParts(parsed: readonly Parsed[]): Parts | undefined {
  const fixed: string[] = ['']
  const paths: Path[] = []
  for (const template of parsed) {
    if (TypeGuards.isHTMLToken(template.token)) {
      fixed[paths.length] += template.token.getContent()
      continue
    }
    const path = pathIn(template)
    if (path === undefined) return undefined
    paths.push(path)
    fixed.push('')
  }
  return { fixed, paths }
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

function simply(field: string, text: string, { fixed, paths }: Parts, mode: Mode): Template {
  const fixedLength = fixed.reduce((sum, one) => sum + one.length, 0)
  const valuesIn = (scope: TemplateScope, budget: Budget): string[] => {
    const values: string[] = []
    let length = fixedLength
    for (const path of paths) {
      budget.check()
      const known = Object.hasOwn(scope, path[0] ?? '')
      const value = known ? valueAt(scope, path) : undefined
      const printed = print(value, budget)
      const shown = mode === 'html' && !(value instanceof SafeText) ? escapeHtml(printed) : printed
      values.push(shown)
      length += shown.length
    }
    budget.write(length)
    return values
  }
  const values = (scope: TemplateScope, budget: Budget): string[] => inField(field, () => valuesIn(scope, budget))
  return {
    sourceLength: text.length,
    render: (scope, budget) => joined(fixed, values(scope, budget)),
    pieces: { fixed, values },
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
