// Query strings: repeated parameters (`a=1&a=2`), `a[]=1`, and single values.
import { parse } from 'node:querystring'

/** Far more parameters than any call has; what follows is ignored. */
const parametersMax = 200

export function parseQuery(query: string): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(parse(query, '&', '=', { maxKeys: parametersMax }))) {
    const plain = name.endsWith('[]') ? name.slice(0, -2) : name
    const before = result[plain]
    result[plain] = before === undefined ? value : [before, value].flat()
  }
  return result
}
