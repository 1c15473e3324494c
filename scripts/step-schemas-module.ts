// The schemas of steps as a module of the dashboard: the part of the OpenAPI document that its forms are made of.

type Json = Record<string, unknown>

const root = 'NotificationStepInput'
/** Variants are forms of their own, made of the same schemas: their name is enough. */
const namedOnly = new Set(['StepVariantInput'])
/** For readers of the document. */
const leftOut = new Set(['examples'])

export function stepSchemasModule(document: Json): string {
  const { schemas } = document['components'] as { schemas: Record<string, Json> }
  const whole = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(whole)
    if (typeof part !== 'object' || part === null) return part
    const { $ref } = part as { $ref?: string }
    if (typeof $ref === 'string') {
      const title = $ref.split('/').at(-1) ?? ''
      return namedOnly.has(title) ? { title } : whole(schemas[title])
    }
    return Object.fromEntries(
      Object.entries(part)
        .filter(([name]) => !leftOut.has(name))
        .map(([name, value]) => [name, whole(value)]),
    )
  }
  return `// Made of docs/openapi.json by \`npm run docs\`: what a step may hold, which its forms are made of.
import type { Schema } from './schema.ts'

export const stepSchema: Schema = ${JSON.stringify(whole(schemas[root]), null, 2)}
`
}
