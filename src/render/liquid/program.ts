// A template compiled to closures, one per output, tag and text between them. Never to generated code: authors are tenants.
import type { Template as Parsed } from 'liquidjs'
import { LiquidError, Output, RenderError, TypeGuards } from 'liquidjs'
import type { Mode } from '../engine.ts'
import { engines } from '../engine.ts'
import type { TextPlan } from '../text/text-plan.ts'
import type { Compiler, Program } from './compiler.ts'
import { compilePrinted } from './expressions.ts'
import { showing, writing } from './showing.ts'
import { compileTag } from './tags.ts'

export function compileProgram(templates: readonly Parsed[], mode: Mode, plan?: TextPlan): Program {
  const compiler: Compiler = {
    mode,
    filters: engines[mode].filters,
    plan,
    block: (inner) => compileBlock(inner, compiler),
    blockApart: (inner) => compileProgram(inner, mode),
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
  if (TypeGuards.isHTMLToken(template.token)) return writing(template, template.token.getContent(), compiler)
  if (!(template instanceof Output)) return compileTag(template, compiler)
  const { evaluate, prints } = compilePrinted(template.value, compiler.filters)
  const show = showing(template, prints ? compiler.mode : 'plain', compiler)
  return (run) => show(run, evaluate(run))
}
