// The two Liquid engines: one for output in HTML, one for plain text. They parse, and hold the filters; parsed
// templates are compiled and run in `liquid/`. Neither reaches files, clocks or prototypes.
import type { FilterImplOptions } from 'liquidjs'
import { Liquid, Tag } from 'liquidjs'
import type { FilterHandler, FilterThis } from './filters.ts'
import { budgetOf, htmlFilters, ourFilters } from './filters.ts'
import { foreignFilter } from './foreign-filters.ts'
import { escapeHtml, paid, print, rangeEndOf, SafeText } from './values.ts'

export type Mode = 'html' | 'plain'

/** Holds a range's ends where counting up still moves: beyond 2⁵³ adding one changes nothing and a range never ends. */
export const rangeEndFilter = 'range_end'

function absentTag(name: string) {
  return class extends Tag {
    constructor(...args: ConstructorParameters<typeof Tag>) {
      super(...args)
      throw new Error(`the tag "${name}" is not available: a template cannot include others`)
    }

    render(): void {}
  }
}

/** They parse their argument as a template, bypassing every check. */
const absentFilters = ['where_exp', 'reject_exp', 'group_by_exp', 'has_exp', 'find_exp', 'find_index_exp']
const absentTags = ['include', 'render', 'layout', 'block']

/** A step, and a scan of each text it is given. Its output is charged too. */
function counted(handler: FilterHandler): FilterHandler {
  return function (value, ...args) {
    const budget = budgetOf(this)
    budget.check()
    if (typeof value === 'string') budget.read(value.length)
    for (const arg of args) if (typeof arg === 'string') budget.read(arg.length)
    return paid(handler.call(this, value, ...args), budget)
  }
}

const rangeEnd: FilterHandler = function (value) {
  return rangeEndOf(value, budgetOf(this))
}

/** LiquidJS would call it on more than it needs. */
export function register(engine: Liquid, name: string, filter: FilterHandler): void {
  engine.registerFilter(name, filter as unknown as FilterImplOptions)
}

export function createEngine(mode: Mode): Liquid {
  const engine = new Liquid({
    ownPropertyOnly: true,
    strictVariables: false,
    // Unknown filters are found by our own walk over the parsed template, which also sees those that are created later.
    strictFilters: false,
    relativeReference: false,
    templates: {},
    outputEscape: (mode === 'html' ? printHtml : printPlain) as (value: unknown) => string,
  })
  for (const name of absentFilters) engine.unregisterFilter(name)
  for (const [name, filter] of Object.entries(engine.filters)) {
    if (typeof filter === 'function')
      register(engine, name, counted(foreignFilter(name, filter as unknown as FilterHandler)))
  }
  const own = mode === 'html' ? { ...ourFilters, ...htmlFilters } : ourFilters
  for (const [name, filter] of Object.entries(own)) register(engine, name, counted(filter))
  register(engine, rangeEndFilter, rangeEnd)
  for (const name of absentTags) engine.registerTag(name, absentTag(name))
  return engine
}

function printHtml(this: FilterThis, value: unknown): string {
  if (value instanceof SafeText) return value.text
  return escapeHtml(print(value, budgetOf(this)))
}

function printPlain(this: FilterThis, value: unknown): string {
  return print(value, budgetOf(this))
}

export const engines: Readonly<Record<Mode, Liquid>> = { html: createEngine('html'), plain: createEngine('plain') }
