// The tags of Liquid, compiled. Each does what LiquidJS' own does, in the same order.
import type { Template as Parsed, Token } from 'liquidjs'
import {
  AssignTag,
  BreakTag,
  CaptureTag,
  CaseTag,
  CommentTag,
  ContinueTag,
  CycleTag,
  DecrementTag,
  EchoTag,
  ForTag,
  IfTag,
  IncrementTag,
  InlineCommentTag,
  LiquidTag,
  RawTag,
  TablerowTag,
  toValue,
  UnlessTag,
  Value,
} from 'liquidjs'
import { engines } from '../engine.ts'
import { SafeText } from '../values.ts'
import type { Compiler, Program } from './compiler.ts'
import type { Evaluate } from './expressions.ts'
import { compileToken, compileValue } from './expressions.ts'
import { compileFor, compileTableRow } from './loops.ts'
import { isTrue, operators } from './operators.ts'
import { showing, writing } from './showing.ts'

export function compileTag(tag: Parsed, compiler: Compiler): Program {
  if (tag instanceof IfTag) return compileBranches(tag.branches, tag.elseTemplates, compiler)
  if (tag instanceof UnlessTag) return compileUnless(tag, compiler)
  if (tag instanceof ForTag) return compileFor(tag, compiler)
  if (tag instanceof TablerowTag) return compileTableRow(tag, compiler)
  if (tag instanceof CaseTag) return compileCase(tag, compiler)
  if (tag instanceof AssignTag) return compileAssign(tag, compiler)
  if (tag instanceof CaptureTag) return compileCapture(tag, compiler)
  if (tag instanceof EchoTag) return compileEcho(tag, compiler)
  if (tag instanceof CycleTag) return compileCycle(tag, compiler)
  if (tag instanceof LiquidTag) return compiler.block(tag.templates)
  if (tag instanceof RawTag) return writing(tag, tag.render(), compiler)
  return compileSmall(tag, compiler)
}

function compileSmall(tag: Parsed, compiler: Compiler): Program {
  if (tag instanceof CommentTag || tag instanceof InlineCommentTag) return () => {}
  if (tag instanceof BreakTag) {
    return (run) => {
      run.isBroken = true
    }
  }
  if (tag instanceof ContinueTag) {
    return (run) => {
      run.isContinued = true
    }
  }
  if (tag instanceof IncrementTag || tag instanceof DecrementTag) {
    const { variable } = tag as unknown as { variable: string }
    const step = tag instanceof IncrementTag ? 1 : -1
    const show = showing(tag, 'plain', compiler)
    return (run) => show(run, String(run.count(variable, step)))
  }
  throw new Error(`the tag "${(tag as { name?: string }).name}" is not available`)
}

interface Branch {
  readonly value: Value
  readonly templates: Parsed[]
}

function compileBranches(
  branches: readonly Branch[],
  otherwise: readonly Parsed[] | undefined,
  compiler: Compiler,
): Program {
  const compiled = branches.map(({ value, templates }) => ({
    test: compileValue(value, compiler.filters),
    block: compiler.block(templates),
  }))
  const rest = compiler.block(otherwise ?? [])
  return (run) => {
    for (const { test, block } of compiled) {
      if (isTrue(test(run))) {
        block(run)
        return
      }
    }
    rest(run)
  }
}

function compileUnless(tag: UnlessTag, compiler: Compiler): Program {
  const [first, ...others] = tag.branches
  if (first === undefined) return compiler.block(tag.elseTemplates)
  const test = compileValue(first.value, compiler.filters)
  const block = compiler.block(first.templates)
  const rest = compileBranches(others, tag.elseTemplates, compiler)
  return (run) => (isTrue(test(run)) ? rest(run) : block(run))
}

/** Every branch that fits is rendered, not only the first: as in LiquidJS. */
function compileCase(tag: CaseTag, compiler: Compiler): Program {
  const value = compileValue(tag.value, compiler.filters)
  const branches = tag.branches.map(({ values, templates }) => ({
    values: values.map((token) => compileToken(token, compiler.filters)),
    block: compiler.block(templates),
  }))
  const otherwise = compiler.block(tag.elseTemplates)
  const equals = operators['=='] as NonNullable<(typeof operators)[string]>
  return (run) => {
    const target: unknown = toValue(value(run))
    let isHit = false
    for (const { values, block } of branches) {
      if (!values.some((candidate) => equals(target, candidate(run), run.memoryLimit))) continue
      block(run)
      isHit = true
    }
    if (!isHit) otherwise(run)
  }
}

function compileAssign(tag: AssignTag, compiler: Compiler): Program {
  const { key, value } = tag as unknown as { key: string; value: Value }
  const evaluate = compileValue(value, compiler.filters)
  return (run) => run.assign(key, evaluate(run))
}

/** What was captured is escaped already where output is; printing it again must not escape it twice. */
function compileCapture({ variable, templates }: CaptureTag, compiler: Compiler): Program {
  const block = compiler.blockApart(templates)
  return (run) => run.assign(variable, new SafeText(run.captured(block)))
}

function compileEcho(tag: EchoTag, compiler: Compiler): Program {
  const { value } = tag as unknown as { value?: Value }
  if (value === undefined) return () => {}
  return compileShown(tag, value, compiler)
}

function compileShown(tag: Parsed, value: Value, compiler: Compiler): Program {
  const evaluate = compileValue(value, compiler.filters)
  const show = showing(tag, value.filters.at(-1)?.raw === true ? 'plain' : compiler.mode, compiler)
  return (run) => show(run, toValue(evaluate(run)))
}

function compileCycle(tag: CycleTag, compiler: Compiler): Program {
  type FilteredToken = ConstructorParameters<typeof Value>[0] & Token
  const { candidates, group } = tag as unknown as { candidates: FilteredToken[]; group?: Token }
  const name = candidates.map((candidate) => candidate.getText()).join(',')
  const groupOf: Evaluate = compileToken(group, compiler.filters)
  const shown = candidates.map((candidate) => compileShown(tag, new Value(candidate, engines[compiler.mode]), compiler))
  return (run) => {
    const turns = run.cyclesOf(name)
    const given: unknown = toValue(groupOf(run))
    const group = typeof given === 'object' && given !== null && !Array.isArray(given) ? 'object' : run.print(given)
    const index = turns.get(group) ?? 0
    turns.set(group, (index + 1) % shown.length)
    shown[index]?.(run)
  }
}
