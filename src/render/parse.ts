// Parsing a template: what LiquidJS accepts, then a walk over it that rejects what could not be bounded when it runs.
import type { FilteredValueToken, Template, Token, ValueToken } from 'liquidjs'
import { Expression, LiquidError, Tokenizer, TypeGuards, toValueSync, Value } from 'liquidjs'
import { nearest } from '../domain/nearest.ts'
import type { Mode } from './engine.ts'
import { engines, rangeEndFilter } from './engine.ts'
import { codeLengthMax, codesMax, LimitExceeded, nestingMax, templateLengthMax } from './limits.ts'
import { compileProgram } from './liquid/program.ts'
import { cut } from './plain-text.ts'
import { registerTranslate } from './translate.ts'

/** What is wrong with a template, with its place where there is one. */
export class TemplateMistake extends Error {}

export function parse(text: string, mode: Mode): Template[] {
  if (text.length > templateLengthMax) {
    throw new TemplateMistake(`is ${text.length} characters long; at most ${templateLengthMax} are allowed`)
  }
  demandFewCodes(text)
  try {
    const templates = engines[mode].parse(text)
    for (const template of templates) visit(template, mode, 1)
    return templates
  } catch (error) {
    throw mistakeOf(error)
  }
}

// Here, and not where the engines are made: the texts of translations are templates themselves.
for (const mode of ['html', 'plain'] as const) {
  registerTranslate(engines[mode], mode, (text) => compileProgram(parse(text, mode), mode))
}

/** Before anything is parsed: LiquidJS is slow with many tags, and with long ones. */
function demandFewCodes(text: string): void {
  const last = { '}}': text.lastIndexOf('}}'), '%}': text.lastIndexOf('%}') }
  let count = 0
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) {
    const close = text[at + 1] === '{' ? '}}' : text[at + 1] === '%' ? '%}' : undefined
    if (close === undefined) continue
    const end = at < last[close] ? text.indexOf(close, at) : at
    if (end - at > codeLengthMax) {
      throw new TemplateMistake(`has an output or tag that is longer than ${codeLengthMax} characters`)
    }
    // Each line of a liquid tag is a tag.
    count += text[at + 1] === '%' ? linesOf(text.slice(at, end)) : 1
    if (count > codesMax) throw new TemplateMistake(`has more than ${codesMax} outputs and tags`)
  }
}

const linesOf = (tag: string): number => (/^\{%-?\s*liquid\s/.test(tag) ? tag.split('\n').length : 1)

/** Words for whoever wrote the template; LiquidJS' own errors contain their position. */
export function mistakeOf(error: unknown): TemplateMistake {
  if (error instanceof TemplateMistake) return error
  const inner = LiquidError.is(error) ? (error.originalError ?? error) : error
  if (inner instanceof TemplateMistake) return inner
  const words = wordsOf(inner)
  return new TemplateMistake(LiquidError.is(error) ? `${placeOf(error.token)}: ${words}` : words)
}

function wordsOf(error: unknown): string {
  // The stack is full, or a string longer than the engine can hold.
  if (error instanceof RangeError) return 'the template, or a value in it, is nested too deeply or too long'
  if (!(error instanceof Error)) return 'the template cannot be parsed'
  if (error instanceof LimitExceeded) return error.message
  // Some of LiquidJS' messages hold the whole tag.
  return cut(error.message.replace(/(?:, line:\d+, col:\d+)+$/, ''), wordsLengthMax)
}

const wordsLengthMax = 300

function placeOf(token: Token): string {
  const [line = 1, column = 1] = token.getPosition()
  return `line ${line}, column ${column}`
}

function visit(template: Template, mode: Mode, depth: number): void {
  if (depth > nestingMax) {
    throw new TemplateMistake(`${placeOf(template.token)}: blocks are nested more than ${nestingMax} levels deep`)
  }
  for (const argument of template.arguments?.() ?? []) {
    if (argument instanceof Value) {
      for (const token of argument.initial.postfix) visitToken(token, template, mode)
      for (const filter of argument.filters) visitFilter(filter, template, mode)
    } else visitToken(argument, template, mode)
  }
  if (template.children === undefined) return
  for (const child of toValueSync(template.children(false, true)) as Template[]) visit(child, mode, depth + 1)
}

interface NamedFilter {
  readonly name: string
  readonly args: readonly unknown[]
}

function visitFilter({ name, args }: NamedFilter, template: Template, mode: Mode): void {
  const { filters } = engines[mode]
  // The output filter is put there by LiquidJS, under a name that templates cannot use.
  if (!name.includes(' ') && (filters[name] === undefined || name === rangeEndFilter)) {
    const meant = nearest(
      name,
      Object.keys(filters).filter((known) => known !== rangeEndFilter),
    )
    throw new TemplateMistake(`${placeOf(template.token)}: unknown filter "${name}"; did you mean "${meant}"?`)
  }
  for (const arg of args) visitToken((Array.isArray(arg) ? arg[1] : arg) as Token | undefined, template, mode)
}

function visitToken(token: Token | undefined, template: Template, mode: Mode): void {
  if (token === undefined) return
  if (TypeGuards.isRangeToken(token)) {
    visitToken(token.lhs, template, mode)
    visitToken(token.rhs, template, mode)
    token.lhs = bounded(token.lhs)
    token.rhs = bounded(token.rhs)
  } else if (TypeGuards.isPropertyAccessToken(token)) {
    visitToken(token.variable, template, mode)
    for (const property of token.props) visitToken(property, template, mode)
  } else if (TypeGuards.isFilteredValueToken(token)) {
    for (const inner of token.initial.postfix) visitToken(inner, template, mode)
    for (const filter of token.filters) visitFilter(filter, template, mode)
  }
}

function bounded(end: ValueToken): ValueToken {
  const token: FilteredValueToken = new Tokenizer(`0 | ${rangeEndFilter}`).readFilteredValue()
  token.initial = new Expression([end])
  return token as unknown as ValueToken
}
