// Reading what others sent without trust: any member may be missing or of another type.

export interface Reading {
  /** The text at a path such as `errors.0.message`. */
  string(path: string): string | undefined
  number(path: string): number | undefined
  flag(path: string): boolean | undefined
  list(path: string): readonly unknown[]
  /** The items of a list, each with its own reader. */
  items(path: string): readonly Reading[]
  /** A text or a whole number as text, digit for digit; nothing if it is empty. */
  id(path: string): string | undefined
  /** Whatever is there. */
  value(path: string): unknown
}

/** From a parsed value; numbers above 2^53 have already lost digits. */
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

/** From JSON; empty for anything else. */
export function readingOfJson(text: string): Reading {
  return readingOf(parsedJson(text))
}

/** From JSON, with every whole number of more than 15 digits as a string, so that no digit is lost. */
export function readingOfExactJson(text: string): Reading {
  try {
    return readingOf(parsedJson(/\d{16}/.test(text) ? withLongNumbersAsTexts(text) : text))
  } catch {
    // A number of millions of digits.
    return readingOf(undefined)
  }
}

/** Scans the text once, whatever it contains: it may be megabytes of crafted input. */
function withLongNumbersAsTexts(text: string): string {
  // A number is matched as a whole: with backtracking, long ones would be read again and again.
  const starts = /"|-?\d+(?:\.\d*)?(?:[eE][+-]?\d*)?/g
  const pieces: string[] = []
  let written = 0
  for (let found = starts.exec(text); found !== null; found = starts.exec(text)) {
    const [token] = found
    if (token === '"') starts.lastIndex = endOfText(text, found.index + 1)
    else if (/^-?\d{16,}$/.test(token)) {
      pieces.push(text.slice(written, found.index), `"${token}"`)
      written = found.index + token.length
    }
  }
  return pieces.join('') + text.slice(written)
}

/** The position after the closing quotation mark, which is the first that is not escaped. */
function endOfText(json: string, start: number): number {
  for (let quote = json.indexOf('"', start); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (quote - backslashes > start && json[quote - backslashes - 1] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return quote + 1
  }
  return json.length
}

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
