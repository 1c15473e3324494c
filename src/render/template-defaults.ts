// Declared defaults: the values of a template's variables if the payload does not contain them.
import type { TemplateScope } from '../domain/workflows/rendering.ts'
import type { StepTemplate } from '../domain/workflows/workflow.ts'

/** Names that are never members of the payload. */
export const scopeRoots: ReadonlySet<string> = new Set([
  'payload',
  'subscriber',
  'actor',
  'tenant',
  'context',
  'step',
  'steps',
  'workflow',
  'env',
])

type Fields = Readonly<Record<string, unknown>>

export function withDefaults(template: StepTemplate, scope: TemplateScope): TemplateScope {
  let changed: TemplateScope | undefined
  for (const { name, defaultValue } of template.variables ?? []) {
    if (defaultValue === undefined || defaultValue === null) continue
    const path = name.replace(/^payload\./, '').split('.')
    const root = path[0] ?? ''
    if (root === '' || scopeRoots.has(root)) continue
    const current: TemplateScope = changed ?? scope
    const payload = filled(current.payload, path, defaultValue)
    if (payload !== current.payload) changed = { ...current, [root]: payload[root], payload }
  }
  return changed ?? scope
}

/** The same object if there is a value already, or something else in the way. */
function filled(fields: Fields, [name = '', ...rest]: readonly string[], value: unknown): Fields {
  const present = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (rest.length === 0) return present === undefined || present === null ? { ...fields, [name]: value } : fields
  if (present !== undefined && (typeof present !== 'object' || present === null || Array.isArray(present)))
    return fields
  const inner = filled((present ?? {}) as Fields, rest, value)
  return inner === present ? fields : { ...fields, [name]: inner }
}
