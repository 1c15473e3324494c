// Values of templates, compiled: parsed expressions become closures, so that nothing is interpreted twice.
import type { Filter, Token, Value } from 'liquidjs'
import { TypeGuards, toValue, toValueSync, UndefinedVariableError } from 'liquidjs'
import type { FilterHandler } from '../filters.ts'
import { rangeEndOf } from '../values.ts'
import { memberAt } from './members.ts'
import { isTrue, operators } from './operators.ts'
import type { Run } from './run.ts'

export type Evaluate = (run: Run) => unknown

/** The filters of an engine, for those within other values: LiquidJS finds these when it renders. */
export type Filters = Readonly<Record<string, unknown>>

const nothing: Evaluate = () => undefined

interface ParsedFilter {
  readonly handler: FilterHandler
  readonly args: readonly unknown[]
}

export function compileValue({ initial, filters }: Pick<Value, 'initial' | 'filters'>, known: Filters): Evaluate {
  return filtered(compileExpression(initial.postfix, known), filters, known)
}

/** Without the last of the filters where that prints: `prints` says whether there was one. */
export function compilePrinted(value: Value, known: Filters): { evaluate: Evaluate; prints: boolean } {
  const last = value.filters.at(-1)
  // LiquidJS puts the output filter there, under a name that templates cannot use.
  const prints = last?.name.includes(' ') === true
  const filters = prints ? value.filters.slice(0, -1) : value.filters
  return { evaluate: compileValue({ initial: value.initial, filters }, known), prints }
}

function filtered(initial: Evaluate, filters: readonly Filter[], known: Filters): Evaluate {
  let evaluate = initial
  for (const filter of filters) evaluate = compileFilter(evaluate, filter as unknown as ParsedFilter, known)
  return evaluate
}

function compileFilter(input: Evaluate, { handler, args }: ParsedFilter, known: Filters): Evaluate {
  const given = args.map((arg) => compileArgument(arg, known))
  const [first, second] = given
  if (first === undefined) return (run) => settled(handler.call(run.self, input(run)))
  if (given.length === 1) return (run) => settled(handler.call(run.self, input(run), first(run)))
  if (given.length === 2 && second !== undefined) {
    return (run) => settled(handler.call(run.self, input(run), first(run), second(run)))
  }
  return (run) => settled(handler.call(run.self, input(run), ...given.map((arg) => arg(run))))
}

/** `name: value` is passed as a pair. */
function compileArgument(arg: unknown, known: Filters): Evaluate {
  if (!Array.isArray(arg)) return compileToken(arg as Token, known)
  const [name, token] = arg as [string, Token]
  const evaluate = compileToken(token, known)
  return (run) => [name, evaluate(run)]
}

/** Some filters of LiquidJS are generators. */
function settled(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'next' in result ? toValueSync(result as never) : result
}

function compileExpression(postfix: readonly Token[], known: Filters): Evaluate {
  const operands: Evaluate[] = []
  for (const token of postfix) {
    if (!TypeGuards.isOperatorToken(token)) {
      operands.push(compileToken(token, known))
      continue
    }
    const right = operands.pop() ?? nothing
    if (token.operator === 'not') {
      operands.push((run) => !isTrue(right(run)))
      continue
    }
    const left = operands.pop() ?? nothing
    const operator = operators[token.operator]
    if (operator === undefined) throw new Error(`unknown operator "${token.operator}"`)
    operands.push((run) => operator(left(run), right(run), run.memoryLimit))
  }
  return operands[0] ?? nothing
}

export function compileToken(token: Token | undefined, known: Filters): Evaluate {
  if (token === undefined) return nothing
  if ('content' in token) return constant(token.content)
  if (TypeGuards.isPropertyAccessToken(token)) return compilePath(token, known)
  if (TypeGuards.isRangeToken(token)) {
    return compileRange(compileToken(token.lhs, known), compileToken(token.rhs, known))
  }
  if (!TypeGuards.isFilteredValueToken(token)) return nothing
  const filters = token.filters.map(({ name, args }) => ({ handler: handlerOf(known[name]), args }))
  return filtered(compileExpression(token.initial.postfix, known), filters as unknown as Filter[], known)
}

const constant =
  (value: unknown): Evaluate =>
  () =>
    value

function handlerOf(filter: unknown): FilterHandler {
  if (typeof filter === 'function') return filter as FilterHandler
  const handler = (filter as { handler?: FilterHandler } | undefined)?.handler
  return handler ?? ((value) => value)
}

function compileRange(low: Evaluate, high: Evaluate): Evaluate {
  return (run) => {
    // Again, for a range that the walk over the parsed template did not see.
    const from = rangeEndOf(low(run), run.memoryLimit)
    const to = rangeEndOf(high(run), run.memoryLimit)
    run.memoryLimit.use(to - from + 1)
    const range: number[] = []
    for (let value = from; value < to + 1; value += 1) range.push(value)
    return range
  }
}

type PathToken = Token & { readonly variable?: Token | undefined; readonly props: readonly Token[] }

function compilePath(token: PathToken, known: Filters): Evaluate {
  const { variable, props } = token
  if (variable === undefined && props.every((prop) => 'content' in prop)) {
    const read = compileFixedPath(props.map((prop) => toValue((prop as { content?: unknown }).content) as string))
    return (run) => {
      try {
        return read(run)
      } catch (error) {
        throw new UndefinedVariableError(error as Error, token)
      }
    }
  }
  const parts = props.map((prop) => compileToken(prop, known))
  const root = variable && compileToken(variable, known)
  return (run) => {
    const path = parts.map((part) => nameOf(part(run)) as string)
    try {
      return root === undefined ? valueIn(run, path) : membersAt(root(run), path, run)
    } catch (error) {
      throw new UndefinedVariableError(error as Error, token)
    }
  }
}

/** A list of several or an object is not a name, and converting one to text takes time. */
function nameOf(given: unknown): unknown {
  let name: unknown = toValue(given)
  while (Array.isArray(name)) {
    if (name.length > 1) return undefined
    name = toValue(name[0]) ?? ''
  }
  return typeof name === 'object' && name !== null ? undefined : name
}

const valueIn = (run: Run, [name = '', ...rest]: readonly string[]): unknown => membersAt(rootAt(run, name), rest, run)

function membersAt(owner: unknown, path: readonly string[], run: Run): unknown {
  let found = owner
  for (const name of path) found = memberAt(found, name, run.memoryLimit)
  return found
}

/** A variable by its name alone. One that is missing has no size either. */
function rootAt(run: Run, name: string): unknown {
  const scope = run.scopeOf(name)
  return name in scope ? memberAt(scope, name, run.memoryLimit) : undefined
}

function compileFixedPath(names: readonly string[]): Evaluate {
  const [root = '', ...rest] = names
  const [second] = rest
  if (second === undefined) return (run) => rootAt(run, root)
  if (rest.length === 1) return (run) => memberAt(rootAt(run, root), second, run.memoryLimit)
  return (run) => membersAt(rootAt(run, root), rest, run)
}
