// The variables that templates declare: the defaults for what a payload lacks, and what it must contain.
import { payloadValueAt } from '../domain/path.ts'
import type { TemplateVariable, WorkflowDefinition } from '../domain/workflows/workflow.ts'

/** Only for what can run: an inactive step or variant requires nothing of a payload. */
export function declaredVariables({ steps }: WorkflowDefinition): TemplateVariable[] {
  return steps
    .filter((step) => step.active)
    .flatMap((step) => [step, ...step.variants.filter((variant) => variant.active)])
    .flatMap(({ template }) => template.variables ?? [])
}

/** A payload in which nothing given is changed; of two defaults for one place the first counts. */
export function withDefaults(
  payload: Readonly<Record<string, unknown>>,
  variables: readonly TemplateVariable[],
): Readonly<Record<string, unknown>> {
  let whole = payload
  for (const { name, defaultValue } of variables) {
    if (defaultValue === undefined || payloadValueAt(whole, name) !== undefined) continue
    const names = pathOf(name).split('.')
    if (!names.some(isOfPrototype)) whole = filled(whole, names, defaultValue)
  }
  return whole
}

export function variableMistakes(
  payload: Readonly<Record<string, unknown>>,
  variables: readonly TemplateVariable[],
): string[] {
  return variables
    .filter((variable) => variable.required === true)
    .flatMap(({ name, type }) => {
      const value = payloadValueAt(payload, name)
      if (value === undefined || value === null) {
        return [`payload is missing ${pathOf(name)}${type === undefined ? '' : ` (${type})`}`]
      }
      return type === undefined || types[type].fits(value)
        ? []
        : [`payload.${pathOf(name)} must be ${types[type].words}`]
    })
}

const types = {
  String: {
    words: 'a string or a number',
    fits: (value: unknown) => typeof value === 'string' || typeof value === 'number',
  },
  Array: { words: 'an array', fits: Array.isArray },
  Boolean: { words: 'true or false', fits: (value: unknown) => typeof value === 'boolean' },
}

/** `payload.order.id` and `order.id` are the same, as in templates. */
const pathOf = (name: string): string => (name.startsWith('payload.') ? name.slice('payload.'.length) : name)

const isOfPrototype = (name: string): boolean => name === '__proto__' || name === 'constructor' || name === 'prototype'

/** Copies what it traverses. A given value that is not an object is left as it is. */
function filled<Value>(value: Value, [name, ...rest]: readonly string[], defaultValue: unknown): Value {
  if (name === undefined) return (value === undefined ? defaultValue : value) as Value
  const members: unknown = value === undefined ? {} : value
  if (typeof members !== 'object' || members === null || Array.isArray(members)) return value
  const member = Object.hasOwn(members, name) ? (members as Record<string, unknown>)[name] : undefined
  return { ...members, [name]: filled(member, rest, defaultValue) } as Value
}
