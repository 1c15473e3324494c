// Reading what others sent without trust: any member may be missing or of another type.

export interface Reading {
  /** The text at a path such as `errors.0.message`. */
  string(path: string): string | undefined
  number(path: string): number | undefined
  flag(path: string): boolean | undefined
  list(path: string): readonly unknown[]
  /** The members of a list, each to be read in turn. */
  items(path: string): readonly Reading[]
  /** A text or a whole number as text, digit for digit; nothing where it is empty. */
  id(path: string): string | undefined
  /** Whatever is there. */
  value(path: string): unknown
}

/** Of a value that was parsed already; numbers beyond 2^53 have lost digits by then. */
export function readingOf(value: unknown): Reading {
  const at = (path: string): unknown => (path === '' ? value : path.split('.').reduce(memberOf, value))
  const list = (path: string): readonly unknown[] => {
    const found = at(path)
    return Array.isArray(found) ? found : []
  }
  return {
    value: at,
    string: (path) => textIn(at(path)),
    number: (path) => numberIn(at(path)),
    flag: (path) => flagIn(at(path)),
    list,
    items: (path) => list(path).map(readingOf),
    id: (path) => idIn(at(path)),
  }
}

/** Of JSON; of anything else, of nothing. */
export function readingOfJson(text: string): Reading {
  return readingOf(parsedJson(text))
}

/** Of JSON in which every whole number of more than 15 digits is a text, so that none of them is lost. */
export function readingOfExactJson(text: string): Reading {
  return readingOf(parsedJson(text.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/gs, quoted)))
}

const quoted = (token: string): string => (token.startsWith('"') ? token : `"${token}"`)

export function parsedJson(text: string): unknown {
  // Most answers that matter are short or empty, and an exception costs more than a look.
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The text of the first XML element of this name, without what it holds of others. */
export function xmlText(xml: string, name: string): string | undefined {
  const found = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return found
    ?.replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&')
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
const flagIn = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined)

function idIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}
