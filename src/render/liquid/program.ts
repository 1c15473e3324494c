// A template compiled to closures, one per output, tag and text between them. Never to generated code: authors are tenants.
import type { Template as Parsed } from 'liquidjs'
import { LiquidError, Output, RenderError, TypeGuards } from 'liquidjs'
import type { Mode } from '../engine.ts'
import { engines } from '../engine.ts'
import { escapeHtml, SafeText } from '../values.ts'
import type { Filters } from './expressions.ts'
import { compilePrinted } from './expressions.ts'
import type { Run } from './run.ts'
import { compileTag } from './tags.ts'

/** Writes what it stands for. */
export type Program = (run: Run) => void

/** What compiling needs to know besides what was parsed. */
export interface Compiler {
  readonly mode: Mode
  readonly filters: Filters
  readonly block: (templates: readonly Parsed[]) => Program
  /** Writes a value as the mode wants it. */
  readonly show: (run: Run, value: unknown) => void
}

export function compileProgram(templates: readonly Parsed[], mode: Mode): Program {
  const compiler: Compiler = {
    mode,
    filters: engines[mode].filters,
    block: (inner) => compileBlock(inner, compiler),
    show: mode === 'html' ? showHtml : showPlain,
  }
  return compiler.block(templates)
}

function compileBlock(templates: readonly Parsed[], compiler: Compiler): Program {
  const nodes = templates.map((template) => compileNode(template, compiler))
  return (run) => {
    const budget = run.memoryLimit
    budget.check()
    let index = 0
    try {
      for (const node of nodes) {
        budget.check()
        node(run)
        if (run.isBroken || run.isContinued) break
        index += 1
      }
    } catch (error) {
      throw LiquidError.is(error) ? error : new RenderError(error as Error, templates[index] as Parsed)
    }
  }
}

function compileNode(template: Parsed, compiler: Compiler): Program {
  if (TypeGuards.isHTMLToken(template.token)) {
    const text = template.token.getContent()
    return (run) => run.write(text)
  }
  if (!(template instanceof Output)) return compileTag(template, compiler)
  const { evaluate, prints } = compilePrinted(template.value, compiler.filters)
  const show = prints ? compiler.show : showPlain
  return (run) => show(run, evaluate(run))
}

function showHtml(run: Run, value: unknown): void {
  run.write(value instanceof SafeText ? value.text : escapeHtml(run.print(value)))
}

function showPlain(run: Run, value: unknown): void {
  run.write(run.print(value))
}
