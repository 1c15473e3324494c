// Whether an answer is what a document shows of it: the same members of the same types. Values differ from run to run.

/** What is missing or other, by its path; a shown text with an ellipsis stands for anything. */
export function differences(shown: unknown, actual: unknown, path = ''): string[] {
  if (typeof shown === 'string' && shown.includes('…')) return []
  if (kindOf(shown) !== kindOf(actual)) {
    return [`${path || 'the answer'} is ${kindOf(actual)}, shown as ${kindOf(shown)}`]
  }
  if (Array.isArray(shown) && Array.isArray(actual)) {
    if (shown.length > 0 && actual.length === 0) return [`${path || 'the answer'} is empty`]
    // A list may be shown in part; its members are compared with those at the same place.
    return shown.slice(0, actual.length).flatMap((one, index) => differences(one, actual[index], `${path}[${index}]`))
  }
  if (typeof shown !== 'object' || shown === null) return []
  const held = actual as Readonly<Record<string, unknown>>
  return Object.entries(shown).flatMap(([name, value]) => {
    if (name.includes('…')) return []
    const at = path === '' ? name : `${path}.${name}`
    return Object.hasOwn(held, name) ? differences(value, held[name], at) : [`${at} is missing`]
  })
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

/** A block may make several calls, one answer after the other: what a page shows is the last. */
export function lastJson(output: string): unknown {
  let start = 0
  let depth = 0
  let inText = false
  for (let at = 0; at < output.length; at += 1) {
    const character = output[at]
    if (inText) {
      if (character === '\\') at += 1
      else if (character === '"') inText = false
    } else if (character === '"') inText = true
    else if (character === '{' || character === '[') {
      if (depth === 0) start = at
      depth += 1
    } else if (character === '}' || character === ']') depth -= 1
  }
  return JSON.parse(output.slice(start))
}
