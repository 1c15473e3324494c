// The texts of a locale as files of translators hold them: in groups, where `{ "order": { "shipped": "…" } }` is `order.shipped`.

export type Texts = Readonly<Record<string, string>>

/** By their whole keys. A list or an empty value is refused: left out, its text would be deleted without a word. */
export const flat = (texts: object): Record<string, string> => Object.fromEntries(entriesOf(texts, ''))

const entriesOf = (texts: object, path: string): [string, string][] =>
  Object.entries(texts).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    const key = path === '' ? name : `${path}.${name}`
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return entriesOf(value, key)
    if (value == null || typeof value === 'object')
      throw new Error(`“${key}” is ${value == null ? 'null' : 'a list'}, not a text`)
    return [[key, String(value)]]
  })

/** Says what is wrong with the file where it holds anything else. */
export function textsOfFile(name: string, content: string): Texts {
  const parsed = parsedOf(content)
  const isGroup = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  try {
    const found = isGroup ? flat(parsed) : {}
    if (Object.keys(found).length > 0) return found
  } catch (fault) {
    throw new Error(`${name} is not imported: ${(fault as Error).message}.`)
  }
  throw new Error(`${name} holds no texts: a JSON object is needed, such as {"hello": "Hello"}.`)
}

function parsedOf(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}
