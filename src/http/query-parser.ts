// Query strings: repeated parameters (`a=1&a=2`), `a[]=1`, and single values.
import { parse } from 'node:querystring'
import { badRequest } from '../domain/problem.ts'

/** Far more parameters than any call has; what follows is ignored. */
const parametersMax = 200

/** Marks a query that is no UTF-8. It cannot be refused here: the router that asks would not survive a throw. */
const undecodable = Symbol('undecodable')

export function parseQuery(query: string): Record<string | symbol, unknown> {
  const result: Record<string | symbol, unknown> = Object.create(null)
  const decode = (text: string): string => {
    try {
      return decodeURIComponent(text)
    } catch {
      result[undecodable] = true
      return ''
    }
  }
  const options = { maxKeys: parametersMax, decodeURIComponent: decode }
  for (const [name, value] of Object.entries(parse(query, '&', '=', options))) {
    const plain = name.endsWith('[]') ? name.slice(0, -2) : name
    const before = result[plain]
    result[plain] = before === undefined ? value : [before, value].flat()
  }
  return result
}

export function refuseUndecodable(query: unknown): void {
  if (typeof query === 'object' && query !== null && undecodable in query) {
    throw badRequest('The query is not valid UTF-8 in percent-encoding')
  }
}
