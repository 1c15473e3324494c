// Where two things differ that should be the same, in words for the message of a test.
import { isDeepStrictEqual } from 'node:util'
import type { Json } from './app.ts'

/** Undefined where it is no object as JSON. */
function parsedText(text: unknown): Json {
  if (typeof text !== 'string' || !text.startsWith('{')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The first member in which two things differ, as deep as can be said. */
export function difference(one: Json, other: Json, path = ''): string {
  if (isDeepStrictEqual(one, other)) return ''
  const [parsedOne, parsedOther] = [parsedText(one), parsedText(other)]
  // Texts that differ in the order of members alone are different too.
  if (parsedOne !== undefined && parsedOther !== undefined && !isDeepStrictEqual(parsedOne, parsedOther))
    return difference(parsedOne, parsedOther, `${path}»`)
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return `${path}\n  in turn: ${JSON.stringify(one)}\n  at once: ${JSON.stringify(other)}`
  if (Array.isArray(one) && Array.isArray(other)) {
    const [onlyOne, onlyOther] = [one.filter((item) => !holds(other, item)), other.filter((item) => !holds(one, item))]
    if (onlyOne.length !== onlyOther.length || onlyOne.length === 0)
      return `${path}\n  in turn: ${JSON.stringify(onlyOne)}\n  at once: ${JSON.stringify(onlyOther)}`
    return difference(onlyOne[0], mostAlike(onlyOne[0], onlyOther), `${path}[]`)
  }
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  const name = names.find((member) => !isDeepStrictEqual(one[member], other[member])) ?? names[0] ?? ''
  return difference(one[name], other[name], `${path}.${name}`)
}

/** By how much of them is the same from the start and from the end. */
function mostAlike(item: Json, others: readonly Json[]): Json {
  const text = JSON.stringify(item)
  const likeness = (other: Json): number => {
    const otherText = JSON.stringify(other)
    let [start, end] = [0, 0]
    while (start < text.length && text[start] === otherText[start]) start += 1
    while (end < text.length && text.at(-end - 1) === otherText.at(-end - 1)) end += 1
    return start + end
  }
  return others.reduce((best, other) => (likeness(other) > likeness(best) ? other : best))
}

const holds = (items: readonly Json[], item: Json): boolean => items.some((one) => isDeepStrictEqual(one, item))
