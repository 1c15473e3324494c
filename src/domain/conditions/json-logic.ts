// JSON logic: rules as JSON, such as {"==": [{"var": "payload.plan"}, "free"]}, and whether they hold.
import { pathLengthMax, valueAt } from '../path.ts'
import { numberOf, shown } from './condition-values.ts'
import type { Operator } from './json-logic-operators.ts'
import { isMissing, isTrue, LogicTooLarge, operators } from './json-logic-operators.ts'

type Data = unknown

/** What was compared with what, in the format that conditions have in details. */
export interface ComparedOperands {
  readonly filter: 'Skip'
  /** The path of the first operand, where it is one. */
  readonly field: string
  readonly expected: string
  readonly actual: string
  readonly operator: string
  readonly passed: boolean
}

export interface LogicOutcome {
  readonly holds: boolean
  /** The comparisons that were made, in order: only the first of them, if a rule walks a list. */
  readonly conditions: readonly ComparedOperands[]
}

/** Rules are checked when they are saved; what they walk at run time is the payload's, so the work is counted. */
const workMax = 200_000
const conditionsShownMax = 50

/** An empty rule says nothing, and so is never true. Throws LogicTooLarge if it would never end. */
export function evaluateLogic(rule: unknown, data: Data, now: Date, work = workMax): LogicOutcome {
  const conditions: ComparedOperands[] = []
  return { holds: isTrue(nodeValue(rule, data, { now, conditions, left: work })), conditions }
}

/**
 * Only whether it holds, for rules that are evaluated many times: nothing of what was compared is kept. What it costs is
 * taken from the budget, also if it throws.
 */
export function logicHolds(rule: unknown, data: Data, now: Date, budget: { left: number }): boolean {
  const run: Run = { now, conditions: undefined, left: budget.left }
  try {
    return isTrue(nodeValue(rule, data, run))
  } finally {
    budget.left = Math.max(0, run.left)
  }
}

interface Run {
  readonly now: Date
  /** Undefined if no one asks for them. */
  readonly conditions: ComparedOperands[] | undefined
  left: number
}

/** An operation is an object with one member, which is called like its operator. */
export function operationIn(node: unknown): { name: string; operands: readonly unknown[] } | undefined {
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return undefined
  const [entry, second] = Object.entries(node)
  if (entry === undefined || second !== undefined) return undefined
  const [name, given] = entry
  return { name, operands: Array.isArray(given) ? given : [given] }
}

function nodeValue(node: unknown, data: Data, run: Run): unknown {
  spend(run, 1)
  if (Array.isArray(node)) return node.map((member) => nodeValue(member, data, run))
  const operation = operationIn(node)
  if (operation === undefined) return isEmptyObject(node) ? undefined : node
  const { name, operands } = operation
  const form = forms.get(name)
  if (form !== undefined) return form.evaluate(operands, data, run)
  const operator = operators.get(name)
  // Rules with others are refused when they are saved.
  if (operator === undefined) return undefined
  const values = operands.map((operand) => nodeValue(operand, data, run))
  return applied(name, operator, operands, values, run)
}

const isEmptyObject = (node: unknown): boolean =>
  typeof node === 'object' && node !== null && Object.keys(node).length === 0

function applied(
  name: string,
  operator: Operator,
  operands: readonly unknown[],
  values: readonly unknown[],
  run: Run,
): unknown {
  for (const [place, value] of values.entries()) {
    const times = operator.looksThrough ? passesOf(value, values[1 - place], run.left) : 1
    spend(run, weightOf(value, run.left) * times)
  }
  const result = operator.apply(values, run.now)
  if (operator.compares && run.conditions !== undefined && run.conditions.length < conditionsShownMax) {
    const [actual, ...expected] = values
    run.conditions.push({
      filter: 'Skip',
      field: pathIn(operands[0]) ?? '',
      expected: shown(expected.length > 1 ? expected : expected[0]),
      actual: shown(actual),
      operator: name,
      passed: result === true,
    })
  }
  return result
}

function pathIn(node: unknown): string | undefined {
  const operation = operationIn(node)
  return operation?.name === 'var' ? pathOf(operation.operands[0]) : undefined
}

function spend(run: Run, work: number): void {
  run.left -= work
  if (run.left < 0) throw new LogicTooLarge()
}

const charactersAUnit = 64
/** No payload is so deep; a rule can be, by wrapping its value once per item of a list. */
const depthMax = 200

/** The size of a value; counted no further than matters. */
function weightOf(value: unknown, most: number, depth = 0): number {
  if (typeof value === 'string') return value.length / charactersAUnit
  if (typeof value !== 'object' || value === null) return 0
  if (depth === depthMax) throw new LogicTooLarge()
  let weight = 0
  if (Array.isArray(value)) {
    for (const member of value as readonly unknown[]) {
      weight += 1 + weightOf(member, most - weight, depth + 1)
      if (weight > most) break
    }
    return weight
  }
  for (const [name, member] of Object.entries(value)) {
    weight += 1 + name.length / charactersAUnit + weightOf(member, most - weight, depth + 1)
    if (weight > most) break
  }
  return weight
}

/** Looking for a text in a text takes the product of both lengths at its worst: so much more than reading them. */
const searchesAUnit = 4

/** How often one operand is scanned for the other: once per item, and a text for every part of a long text. */
function passesOf(value: unknown, other: unknown, most: number): number {
  const members: readonly unknown[] = Array.isArray(other) ? other : [other]
  if (typeof value !== 'string') return Math.max(1, members.length)
  let passes = 0
  for (const member of members) {
    passes += Math.max(1, weightOf(member, most - passes) * searchesAUnit)
    if (passes > most) break
  }
  return Math.max(1, passes)
}

interface Form {
  readonly least: number
  readonly most: number
  evaluate(operands: readonly unknown[], data: Data, run: Run): unknown
}

const branchesMax = 100

/** Operators that decide themselves which of their operands are evaluated, and with what. */
export const forms: ReadonlyMap<string, Form> = new Map<string, Form>([
  ['var', { least: 0, most: 2, evaluate: variable }],
  [
    'missing',
    { least: 0, most: branchesMax, evaluate: (names, data, run) => missing(valuesOf(names, data, run), data, run) },
  ],
  ['missing_some', { least: 2, most: 2, evaluate: missingSome }],
  ['and', { least: 1, most: branchesMax, evaluate: (nodes, data, run) => firstThat(false, nodes, data, run) }],
  ['or', { least: 1, most: branchesMax, evaluate: (nodes, data, run) => firstThat(true, nodes, data, run) }],
  ['if', { least: 2, most: branchesMax, evaluate: branch }],
  ['?:', { least: 3, most: 3, evaluate: branch }],
  ['map', { least: 2, most: 2, evaluate: (nodes, data, run) => each(nodes, data, run).map(({ value }) => value) }],
  [
    'filter',
    {
      least: 2,
      most: 2,
      evaluate: (nodes, data, run) =>
        each(nodes, data, run)
          .filter(({ value }) => isTrue(value))
          .map(({ member }) => member),
    },
  ],
  ['reduce', { least: 3, most: 3, evaluate: reduced }],
  ['all', { least: 2, most: 2, evaluate: all }],
  ['some', { least: 2, most: 2, evaluate: (nodes, data, run) => each(nodes, data, run).some(holdsThere) }],
  ['none', { least: 2, most: 2, evaluate: (nodes, data, run) => !each(nodes, data, run).some(holdsThere) }],
])

const holdsThere = ({ value }: { value: unknown }): boolean => isTrue(value)

const valuesOf = (nodes: readonly unknown[], data: Data, run: Run): unknown[] =>
  nodes.map((node) => nodeValue(node, data, run))

/** Paths may be computed: any other result is not a path, and nothing is found there. */
function pathOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.length <= pathLengthMax ? value : undefined
}

function found(data: Data, name: unknown, run: Run): unknown {
  const path = pathOf(name)
  if (path === undefined) return undefined
  spend(run, path.length / charactersAUnit)
  return valueAt(data, path)
}

/** No path, or an empty one, is everything that can be seen. */
function variable(operands: readonly unknown[], data: Data, run: Run): unknown {
  const [path, otherwise] = valuesOf(operands, data, run)
  const value = isMissing(path) || path === '' ? data : found(data, path, run)
  return isMissing(value) ? (otherwise ?? value) : value
}

function missing(names: readonly unknown[], data: Data, run: Run): unknown[] {
  for (const name of names) spend(run, Array.isArray(name) ? name.length : 1)
  const listed = names.flatMap((name): readonly unknown[] => (Array.isArray(name) ? name : [name]))
  return listed.filter((name) => {
    const value = found(data, name, run)
    return isMissing(value) || value === ''
  })
}

/** Nothing if at least this many of the names exist; otherwise those that do not. */
function missingSome(operands: readonly unknown[], data: Data, run: Run): unknown[] {
  const [least, names] = valuesOf(operands, data, run)
  const listed: readonly unknown[] = Array.isArray(names) ? names : [names]
  const gone = missing(listed, data, run)
  spend(run, weightOf(least, run.left))
  const wanted = numberOf(least)
  return wanted !== undefined && listed.length - gone.length >= wanted ? [] : gone
}

/** The first value that is so, or the last one: the rest is not evaluated. */
function firstThat(wanted: boolean, nodes: readonly unknown[], data: Data, run: Run): unknown {
  let value: unknown
  for (const node of nodes) {
    value = nodeValue(node, data, run)
    if (isTrue(value) === wanted) return value
  }
  return value
}

/** Condition and value in turns; a last one alone is the value of all other cases. */
function branch(nodes: readonly unknown[], data: Data, run: Run): unknown {
  for (let place = 0; place + 1 < nodes.length; place += 2) {
    if (isTrue(nodeValue(nodes[place], data, run))) return nodeValue(nodes[place + 1], data, run)
  }
  return nodes.length % 2 === 1 ? nodeValue(nodes.at(-1), data, run) : undefined
}

/** The items of a list, each with the result of the rule for that item alone. */
function each([list, rule]: readonly unknown[], data: Data, run: Run): { member: unknown; value: unknown }[] {
  const members = nodeValue(list, data, run)
  if (!Array.isArray(members)) return []
  return members.map((member: unknown) => ({ member, value: nodeValue(rule, member, run) }))
}

function all(nodes: readonly unknown[], data: Data, run: Run): boolean {
  const found = each(nodes, data, run)
  return found.length > 0 && found.every(holdsThere)
}

function reduced([list, rule, start]: readonly unknown[], data: Data, run: Run): unknown {
  const members = nodeValue(list, data, run)
  let accumulator = nodeValue(start, data, run)
  if (!Array.isArray(members)) return accumulator
  for (const current of members as readonly unknown[]) accumulator = nodeValue(rule, { current, accumulator }, run)
  // A rule that names the accumulator twice doubles it with every member, for the price of one.
  spend(run, weightOf(accumulator, run.left))
  return accumulator
}
