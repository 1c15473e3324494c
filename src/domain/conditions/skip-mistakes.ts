// What is wrong with the rule that skips a step, reported when it is saved: each error by its path below `skip`.
import { nearest } from '../nearest.ts'
import { pathLengthMax } from '../path.ts'
import { forms, operationIn } from './json-logic.ts'
import { agoOperators, agoUnits, isAgo, operators } from './json-logic-operators.ts'

export interface SkipMistake {
  readonly path: string
  readonly message: string
}

/** No one writes deeper or larger rules. */
const depthMax = 20
const nodesMax = 500
const textLengthMax = 4096

/** An empty rule is fine; an unknown operator is an error, never ignored. */
export function skipMistakes(skip: unknown, path = 'skip'): SkipMistake[] {
  if (typeof skip !== 'object' || skip === null || Array.isArray(skip)) {
    return [{ path, message: 'must be a rule such as {"==": [{"var": "payload.plan"}, "free"]}' }]
  }
  if (Object.keys(skip).length === 0) return []
  const check: Check = { mistakes: [], nodes: 0 }
  checkNode(skip, path, 1, check)
  if (check.nodes > nodesMax) return [{ path, message: `must be smaller: a rule may have at most ${nodesMax} parts` }]
  return check.mistakes
}

interface Check {
  readonly mistakes: SkipMistake[]
  nodes: number
}

function checkNode(node: unknown, path: string, depth: number, check: Check): void {
  check.nodes += 1
  if (check.nodes > nodesMax) return
  if (depth > depthMax) {
    check.mistakes.push({ path, message: `must not be nested more than ${depthMax} levels deep` })
    return
  }
  if (typeof node === 'string' && node.length > textLengthMax) {
    check.mistakes.push({ path, message: `must have at most ${textLengthMax} characters` })
  }
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const [place, member] of node.entries()) checkNode(member, `${path}.${place}`, depth + 1, check)
    return
  }
  const operation = operationIn(node)
  if (operation === undefined) {
    check.mistakes.push({ path, message: 'must have one field, whose name is an operator' })
    return
  }
  checkOperation(operation, node as Readonly<Record<string, unknown>>, path, depth, check)
}

function checkOperation(
  { name, operands }: NonNullable<ReturnType<typeof operationIn>>,
  node: Readonly<Record<string, unknown>>,
  path: string,
  depth: number,
  check: Check,
): void {
  const operator = forms.get(name) ?? operators.get(name)
  if (operator === undefined) {
    const known = nearest(name, [...forms.keys(), ...operators.keys()])
    check.mistakes.push({
      path: `${path}.${shortened(name)}`,
      message: `is an unknown operator; did you mean ${known}?`,
    })
    return
  }
  const at = `${path}.${name}`
  const countMistake = countMistakeOf(operands.length, operator)
  if (countMistake !== undefined) check.mistakes.push({ path: at, message: countMistake })
  const isList = Array.isArray(node[name])
  for (const [place, operand] of operands.entries()) {
    const operandPath = isList ? `${at}.${place}` : at
    if (agoOperators.has(name) && place === 1) checkAgo(operand, operandPath, check)
    else if (name === 'var' && place === 0) checkVariable(operand, operandPath, depth, check)
    else checkNode(operand, operandPath, depth + 1, check)
  }
}

/** A name is whatever the caller sent. */
const nameLengthMax = 64

const shortened = (name: string): string =>
  (name.length > nameLengthMax ? `${name.slice(0, nameLengthMax - 1)}…` : name).toWellFormed()

function countMistakeOf(count: number, { least, most }: { least: number; most: number }): string | undefined {
  if (count >= least && count <= most) return undefined
  const wanted = least === most ? `${least}` : `${least} to ${most}`
  return `has ${count} operands; it takes ${wanted}`
}

function checkAgo(operand: unknown, path: string, check: Check): void {
  if (isAgo(operand)) return
  check.mistakes.push({
    path,
    message: `must be a duration such as {"amount": 5, "unit": "days"}; units are ${agoUnits.join(', ')}`,
  })
}

function checkVariable(operand: unknown, path: string, depth: number, check: Check): void {
  if (typeof operand === 'object' && operand !== null) {
    checkNode(operand, path, depth + 1, check)
    return
  }
  const isPath = typeof operand === 'string' && operand.length <= pathLengthMax
  if (isPath || typeof operand === 'number' || operand === null) return
  check.mistakes.push({ path, message: 'must be a path such as payload.plan' })
}
