// Loops, compiled: `for` and `tablerow`.
import type { ForTag, Hash, TablerowTag } from 'liquidjs'
import { toValue } from 'liquidjs'
import type { Budget } from '../limits.ts'
import { numberOf } from '../values.ts'
import type { Compiler, Program } from './compiler.ts'
import type { Evaluate, Filters } from './expressions.ts'
import { compileToken } from './expressions.ts'
import type { Members } from './members.ts'
import { membersOf } from './members.ts'
import type { Run } from './run.ts'
import { emptyScope, ForLoop, TableRowLoop } from './run.ts'

interface Modifiers {
  readonly offset?: unknown
  readonly limit?: unknown
  readonly reversed?: unknown
}

type Arguments = Modifiers & Readonly<Partial<Record<string, unknown>>>

const counts = new Set(['offset', 'limit', 'cols'])

/** `limit: 3 reversed`: the arguments by name; true for a name without a value. */
function compileArguments({ hash }: Hash, filters: Filters): (run: Run) => Arguments {
  const named = Object.entries(hash).map(([name, token]): [string, Evaluate] => [
    name,
    token === undefined ? () => true : compileToken(token, filters),
  ])
  return (run) => Object.fromEntries(named.map(([name, evaluate]) => [name, argumentOf(name, evaluate(run), run)]))
}

/** A count is never a list: it would be converted to text to see whether it is a number. */
function argumentOf(name: string, given: unknown, run: Run): unknown {
  if (!counts.has(name)) return given
  const value: unknown = toValue(given)
  if (typeof value === 'string') run.memoryLimit.read(value.length)
  if (!Array.isArray(value)) return given
  const count = numberOf(value, run.memoryLimit)
  return Number.isNaN(count) ? noNumber : count
}

const noNumber = {}

const nothing: Arguments = {}

export function compileFor(tag: ForTag, compiler: Compiler): Program {
  const { variable } = tag
  const text = tag.collection.getText()
  const collection = compileToken(tag.collection, compiler.filters)
  const argumentsOf = compileArguments(tag.hash, compiler.filters)
  const body = compiler.block(tag.templates)
  const otherwise = compiler.block(tag.elseTemplates)
  const hasArguments = Object.keys(tag.hash.hash).length > 0
  const key = `${variable}-${text}`
  return (run) => {
    const { list: all, owner } = membersOf(collection(run), run.memoryLimit)
    if (all.length === 0) {
      otherwise(run)
      return
    }
    const given = hasArguments ? withContinue(run, key, argumentsOf) : nothing
    const list = hasArguments ? windowOf(all, given, run.memoryLimit) : all
    run.continuations.set(key, ((given.offset || 0) as number) + list.length)
    runLoop(run, { variable, list, owner, body, loop: new ForLoop(list.length, key) })
  }
}

/** If the arguments say `continue`, they mean where the last loop over the same list ended. */
function withContinue(run: Run, key: string, argumentsOf: (run: Run) => Arguments): Arguments {
  const scope = emptyScope()
  scope['continue'] = run.continuations.get(key) || {}
  run.scopes.push(scope)
  const given = argumentsOf(run)
  run.scopes.pop()
  return given
}

/** Each copy is charged: a short window into a long list is made of one that is as long. */
function windowOf(all: Members['list'], { offset, limit, reversed }: Modifiers, budget: Budget): Members['list'] {
  let list = all
  if (offset !== undefined) list = charged(list.slice(offset as number), budget)
  if (limit !== undefined) list = charged(list.slice(0, limit as number), budget)
  return reversed === undefined ? list : charged(list.toReversed(), budget)
}

function charged(list: Members['list'], budget: Budget): Members['list'] {
  budget.use(list.length)
  return list
}

interface Loop extends Members {
  readonly variable: string
  readonly body: Program
  readonly loop: ForLoop
}

function runLoop(run: Run, { variable, list, owner, body, loop }: Loop): void {
  const scope = emptyScope()
  scope['forloop'] = loop
  run.scopes.push(scope)
  for (const item of list) {
    scope[variable] = owner === undefined ? item : [item, owner[item as string]]
    run.isBroken = false
    run.isContinued = false
    body(run)
    if (run.isBroken) break
    loop.next()
  }
  run.isBroken = false
  run.isContinued = false
  run.scopes.pop()
}

export function compileTableRow(tag: TablerowTag, compiler: Compiler): Program {
  const { variable } = tag
  const text = tag.collection.getText()
  const collection = compileToken(tag.collection, compiler.filters)
  const argumentsOf = compileArguments(tag.args, compiler.filters)
  const body = compiler.block(tag.templates)
  return (run) => {
    const { list: all, owner } = membersOf(collection(run), run.memoryLimit)
    const given = argumentsOf(run)
    const offset = (given.offset || 0) as number
    const limit = (given.limit === undefined ? all.length : given.limit) as number
    const list = charged(all.slice(offset, offset + limit), run.memoryLimit)
    const cols = (given['cols'] || list.length) as number
    const loop = new TableRowLoop(list.length, cols, `${variable}-${text}`)
    const scope = emptyScope()
    scope['tablerowloop'] = loop
    run.scopes.push(scope)
    for (const item of list) {
      scope[variable] = owner === undefined ? item : [item, owner[item as string]]
      if (loop.col0() === 0) {
        if (loop.row() !== 1) run.write('</tr>')
        run.write(`<tr class="row${loop.row()}">`)
      }
      run.write(`<td class="col${loop.col()}">`)
      body(run)
      run.write('</td>')
      loop.next()
    }
    if (list.length > 0) run.write('</tr>')
    run.scopes.pop()
  }
}
