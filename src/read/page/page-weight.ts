// What a page may weigh: payloads have up to half a megabyte each, and a page is one answer, in memory and on its way.
import { Problem } from '../../domain/problem.ts'

/** Characters of payloads that are read for one page. In memory the worst of them take twelve times as much. */
export const readCharactersMax = 16 * 1024 * 1024
/** Characters of an answer. A payload may be in it several times: with each step of an activity, with each message. */
export const writtenCharactersMax = 64 * 1024 * 1024

/** Of several things; one alone is always shown. */
export function throwIfHeavy(count: number, characters: number, charactersMax: number): void {
  if (count <= 1 || characters <= charactersMax) return
  const words = `limit must be smaller: these ${count} items have ${characters} characters of payloads and workflows, more than ${charactersMax}`
  throw new Problem(422, 'Validation Error', { members: { errors: { limit: { messages: [words] } } } })
}
