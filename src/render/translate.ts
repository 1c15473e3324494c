// The filter `t`: a text by its key, in the language of the recipient, with its variables filled in.

import type { Liquid } from 'liquidjs'
import { BoundedMap } from '../domain/bounded-map.ts'
import type { Translations } from '../domain/workflows/translation.ts'
import { ownTexts, textsOwner, translations } from '../domain/workflows/translation.ts'
import type { Mode } from './engine.ts'
import { register } from './engine.ts'
import type { FilterHandler, FilterThis } from './filters.ts'
import { budgetOf } from './filters.ts'
import type { Program } from './liquid/compiler.ts'
import type { Run } from './liquid/run.ts'
import { memberOf, print, SafeText } from './values.ts'

type Compile = (text: string) => Program

/** Texts that contain others: a name in a sentence in a frame. */
const textsWithinTextsMax = 5

/** `{name}` means the same as `{{ name }}`, which translators often get wrong. */
const bracedName = /(?<!\{)\{([A-Za-z_][\w.]{0,99})\}(?!\})/g

export const withOutputs = (text: string): string => text.replace(bracedName, '{{ $1 }}')

/** Compiled texts are cached until they are evicted: an environment has some hundred with variables. */
const cachedMax = 5_000
const cachedLengthMax = 500_000

export function registerTranslate(engine: Liquid, mode: Mode, compile: Compile): void {
  const compiled = createTemplateCache((text) => compile(withOutputs(text)))
  const translate: FilterHandler = function (value, ...args) {
    const budget = budgetOf(this)
    budget.check()
    const key = print(value, budget)
    const text = textOf(this, key)
    // The key may come from anywhere: it is escaped like any value.
    if (text === undefined) return key
    // The text itself is its author's, as in a template; inserted values are escaped.
    const rendered = text.includes('{') ? filledIn(this.context as Run, compiled(text), namedIn(args)) : text
    budget.use(rendered.length)
    return mode === 'html' ? new SafeText(rendered) : rendered
  }
  register(engine, 't', translate)
}

/** The workflow's or the layout's own text, else one for all. */
function textOf(filter: FilterThis, key: string): string | undefined {
  const scope = filter.context.environments as {
    [translations]?: Translations
    [textsOwner]?: string
    workflow?: { identifier: string }
  }
  const texts = scope[translations]
  if (texts === undefined) return undefined
  const budget = budgetOf(filter)
  const subscriber: unknown = memberOf(scope, 'subscriber', budget)
  const locale = memberOf(subscriber, 'locale', budget)
  const owner = scope[textsOwner] ?? (scope.workflow && ownTexts('workflow', scope.workflow.identifier))
  const own = owner === undefined ? undefined : texts.text(`${owner}.${key}`, locale, budget.noteLocale)
  return own ?? texts.text(key, locale, budget.noteLocale)
}

/** LiquidJS passes `name: value` as a pair. */
function namedIn(args: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(args.filter((arg): arg is [string, unknown] => Array.isArray(arg) && arg.length === 2))
}

function filledIn(run: Run, text: Program, values: Record<string, unknown>): string {
  if (run.translating >= textsWithinTextsMax) {
    throw new Error(`texts of translations include each other more than ${textsWithinTextsMax} levels deep`)
  }
  run.translating += 1
  run.scopes.push(values)
  try {
    return run.captured(text)
  } finally {
    run.scopes.pop()
    run.translating -= 1
    // A text can end itself, but not the loop around it.
    run.isBroken = false
    run.isContinued = false
  }
}

function createTemplateCache(make: Compile): Compile {
  const cached = new BoundedMap<string, { readonly program: Program; readonly length: number }>(cachedMax, {
    max: cachedLengthMax,
    of: ({ length }) => length,
  })
  return (text) => {
    const known = cached.get(text)
    if (known !== undefined) return known.program
    const program = make(text)
    cached.set(text, { program, length: text.length })
    return program
  }
}
