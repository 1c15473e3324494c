// A template, compiled once and rendered many times.
import type { TemplateScope } from '../domain/workflows/rendering.ts'
import { RenderError } from '../domain/workflows/rendering.ts'
import type { Mode } from './engine.ts'
import type { Budget } from './limits.ts'
import { compileProgram } from './liquid/program.ts'
import { Run } from './liquid/run.ts'
import { mistakeOf, parse } from './parse.ts'
import { storable } from './plain-text.ts'

export interface Template {
  /** The length of its source text or an equivalent: the cost of caching it. */
  readonly sourceLength: number
  /** Throws a RenderError that names the field. */
  render(scope: TemplateScope, budget: Budget): string
}

/** Throws a RenderError that names the field. */
export function compile(field: string, text: string, mode: Mode): Template {
  if (!text.includes('{')) return constant(text)
  const program = inField(field, () => compileProgram(parse(text, mode), mode))
  return {
    sourceLength: text.length,
    render: (scope, budget) =>
      inField(field, () => {
        const run = new Run(scope, budget)
        program(run)
        return storable(run.out)
      }),
  }
}

/** Runs what may fail or reach a limit, and names the field. */
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
