// The variables that templates name, found without running them.
import type { StepTemplate } from '../domain/workflows/workflow.ts'
import { examine } from './examine.ts'
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
  const texts = templates.flatMap((template) => textsOf(template).map(({ text, mode }) => examine(text, mode)))
  const values = filterValues.map((text) => examine(text, 'plain'))
  for (const [root, ...rest] of [...texts, ...values].flatMap(({ paths }) => paths)) {
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
