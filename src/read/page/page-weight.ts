// What a page may weigh: what callers store has up to a megabyte each, and a page is one answer, in memory and on its way.
import type { Sql, Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { Problem } from '../../domain/problem.ts'

/** Characters of payloads and other things of callers that are read for one page. In memory the worst of them take twelve times as much. */
export const readCharactersMax = 16 * 1024 * 1024
/** Characters of an answer. A payload may be in it several times: with each step of an activity, with each message. */
export const writtenCharactersMax = 64 * 1024 * 1024
/** So many are read without a look at how long they are: each has a megabyte at the most. */
export const unweighedMax = 16

/** Of several things; one alone is always shown. */
export function throwIfHeavy(count: number, characters: number, charactersMax: number): void {
  if (count <= 1 || characters <= charactersMax) return
  const words = `limit must be smaller: these ${count} items have ${characters} characters of data, more than ${charactersMax}`
  throw new Problem(422, 'Validation Error', { members: { errors: { limit: { messages: [words] } } } })
}

/** `characters`: a select of what each item of the page has, without the one behind it that shows whether there are more. Little is read for it, and nothing where there are few. */
export async function weighPage(db: Sql, limit: number, characters: Statement): Promise<void> {
  if (limit <= unweighedMax) return
  const weight = await db.row<{ count: number; characters: number }>(sql`
    select count(*) as count, coalesce(sum(w.characters), 0)::bigint as characters from (${characters}) as w`)
  throwIfHeavy(weight?.count ?? 0, weight?.characters ?? 0, readCharactersMax)
}
