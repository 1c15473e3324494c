// The filter `t`: a text by its key, in the language of whoever is told, with its variables filled in.
import type { Liquid, Template } from 'liquidjs'
import { toValueSync } from 'liquidjs'
import type { Translations } from '../domain/translation.ts'
import { translations } from '../domain/translation.ts'
import type { Mode } from './engine.ts'
import { CountedEmitter } from './engine.ts'
import type { FilterHandler, FilterThis } from './filters.ts'
import { budgetOf } from './filters.ts'
import { memberOf, print, SafeText } from './values.ts'

type Parse = (text: string, mode: Mode) => Template[]

/** Texts that hold others: a name in a sentence in a frame. */
const textsWithinTextsMax = 5

/** `{name}` says the same as `{{ name }}`, which translators often get wrong. */
const bracedName = /(?<!\{)\{([A-Za-z_][\w.]{0,99})\}(?!\})/g

export const withOutputs = (text: string): string => text.replace(bracedName, '{{ $1 }}')

/** Parsed texts are kept as long as nothing pushes them out: an environment has some hundred with variables. */
const keptMax = 5_000
const keptLengthMax = 5_000_000

export function registerTranslate(engine: Liquid, mode: Mode, parse: Parse): void {
  const parsed = createKept((text) => parse(withOutputs(text), mode))
  const translate: FilterHandler = function (value, ...args) {
    const budget = budgetOf(this)
    budget.check()
    const key = print(value, budget)
    const text = textOf(this, key)
    // The key may be anybody's: it is printed as any value is.
    if (text === undefined) return key
    // What stands in a text is its author's, as in a template; what is filled in is escaped there.
    const rendered = text.includes('{') ? filledIn(this, engine, parsed(text), namedIn(args)) : text
    budget.use(rendered.length)
    return mode === 'html' ? new SafeText(rendered) : rendered
  }
  engine.registerFilter('t', translate)
}

function textOf(filter: FilterThis, key: string): string | undefined {
  const scope = filter.context.environments as { [translations]?: Translations }
  const subscriber: unknown = memberOf(scope, 'subscriber')
  return scope[translations]?.text(key, memberOf(subscriber, 'locale'))
}

/** LiquidJS hands `name: value` over as a pair. */
function namedIn(args: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(args.filter((arg): arg is [string, unknown] => Array.isArray(arg) && arg.length === 2))
}

const depths = new WeakMap<object, number>()

function filledIn(
  { context }: FilterThis,
  engine: Liquid,
  templates: Template[],
  values: Record<string, unknown>,
): string {
  const depth = (depths.get(context) ?? 0) + 1
  if (depth > textsWithinTextsMax) {
    throw new Error(`texts of translations hold each other more than ${textsWithinTextsMax} deep`)
  }
  const emitter = new CountedEmitter(budgetOf({ context }))
  depths.set(context, depth)
  context.push(values)
  try {
    toValueSync(engine.renderer.renderTemplates(templates, context, emitter))
  } finally {
    context.pop()
    depths.set(context, depth - 1)
  }
  return emitter.buffer
}

function createKept(make: (text: string) => Template[]): (text: string) => Template[] {
  const kept = new Map<string, Template[]>()
  let length = 0
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const made = make(text)
    if (kept.size >= keptMax || length >= keptLengthMax) {
      kept.clear()
      length = 0
    }
    kept.set(text, made)
    length += text.length
    return made
  }
}
