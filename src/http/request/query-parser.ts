// Query strings: repeated parameters (`a=1&a=2`), `a[]=1`, groups (`a[0][]=1&a[1][]=2`), and single values.
import { parse } from 'node:querystring'
import { badRequest } from '../../domain/problem.ts'

/** More than any call has: a filter of notifications has up to 200 tags. What follows is ignored. */
const parametersMax = 300

/** `tags[0][]`: a member of the first group. */
const groupName = /^([^[\]]+)\[(\d{1,3})\]\[\]$/

/** By name, then by number: the values of each group. */
type Groups = Map<string, Map<string, unknown[]>>

function addToGroup(groups: Groups, name: string, number: string, value: unknown): void {
  const ofName = groups.get(name) ?? new Map<string, unknown[]>()
  groups.set(name, ofName)
  ofName.set(number, [ofName.get(number) ?? [], value].flat())
}

/** Marks a query that is not UTF-8. It cannot be rejected here: the calling router would not survive a throw. */
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
  const groups: Groups = new Map()
  const options = { maxKeys: parametersMax, decodeURIComponent: decode }
  for (const [name, value] of Object.entries(parse(query, '&', '=', options))) {
    const group = groupName.exec(name)
    if (group !== null) {
      addToGroup(groups, group[1] ?? '', group[2] ?? '', value)
      continue
    }
    // `a[]=1` is a list of one, and stays one where a text would do as well.
    const isList = name.endsWith('[]')
    const plain = isList ? name.slice(0, -2) : name
    const before = result[plain]
    result[plain] = before === undefined && !isList ? value : [before ?? [], value ?? ''].flat()
  }
  for (const [name, members] of groups) result[name] = [result[name] ?? [], [...members.values()]].flat()
  return result
}

export function refuseUndecodable(query: unknown): void {
  if (typeof query === 'object' && query !== null && undecodable in query) {
    throw badRequest('The query string is not valid percent-encoded UTF-8')
  }
}
