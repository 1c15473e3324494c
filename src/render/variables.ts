// The variables that templates name, found without running them.
import type { VariableSegments } from 'liquidjs'
import { analyzeSync } from 'liquidjs'
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { parse, TemplateMistake } from './parse.ts'
import { scopeRoots } from './template-defaults.ts'
import { textsOf } from './texts.ts'

/**
 * Payload fields by their dotted names, both `payload.order.id` and `order.id`; and fields of the subscriber. What a
 * template assigns or loops with is its own. A text that cannot be parsed has none.
 */
export function variablesOf(
  templates: readonly StepTemplate[],
  filterValues: readonly string[],
): { variables: string[]; subscriberVariables: string[] } {
  const variables = new Set<string>()
  const subscriberVariables = new Set<string>()
  const texts = [...templates.flatMap((template) => textsOf(template).map(({ text }) => text)), ...filterValues]
  for (const [root, ...rest] of texts.flatMap(pathsIn)) {
    if (root === undefined) continue
    if (root === 'subscriber') add(subscriberVariables, rest)
    else if (root === 'payload') add(variables, rest)
    else if (!scopeRoots.has(root)) add(variables, [root, ...rest])
  }
  return { variables: [...variables].sort(), subscriberVariables: [...subscriberVariables].sort() }
}

function add(names: Set<string>, path: readonly string[]): void {
  if (path.length > 0) names.add(path.join('.'))
}

function pathsIn(text: string): string[][] {
  if (!text.includes('{')) return []
  try {
    const { globals } = analyzeSync(parse(text, 'plain'), { partials: false })
    return Object.values(globals).flatMap((found) => found.map(({ segments }) => namedPart(segments)))
  } catch (error) {
    if (error instanceof TemplateMistake) return []
    throw error
  }
}

/** Up to the first index: `items[0].name` says that there are `items`. */
function namedPart(segments: VariableSegments): string[] {
  const names: string[] = []
  for (const segment of segments) {
    if (typeof segment !== 'string') break
    names.push(segment)
  }
  return names
}
