// Contains-filters: what they mean, and what an index can do for them.
import type { Statement } from '../db/sql.ts'
import { sql } from '../db/sql.ts'

export interface Contains {
  /** Exactly what is asked: case-sensitive, and the text means itself. */
  readonly condition: Statement
  /** True wherever the condition is, and answered by an index. */
  readonly indexed: Statement
}

/** A trigram index needs three characters to find anything; shorter text is looked for at the beginning. */
const containsLengthMin = 3
/** As `search_grams` in the schema has them: runs of six characters, every third one. */
const gramLength = 6
const gramStep = 3

/** `grams` is the column that `search_grams` filled, where the table has one. */
export function contains(column: Statement, text: string, grams?: Statement): Contains {
  const characters = [...text]
  const literal = text.replaceAll(/[\\%_]/g, '\\$&')
  if (characters.length < containsLengthMin) {
    return { condition: sql`starts_with(${column}, ${text})`, indexed: sql`${column} like ${`${literal}%`}` }
  }
  const condition = sql`strpos(${column}, ${text}) > 0`
  if (grams === undefined || characters.length < gramLength + gramStep - 1) {
    return { condition, indexed: sql`${column} like ${`%${literal}%`}` }
  }
  const [first, second, third] = [0, 1, 2].map((offset) => gramsAt(characters, offset))
  return { condition, indexed: sql`(${grams} @> ${first} or ${grams} @> ${second} or ${grams} @> ${third})` }
}

/** The runs the column would hold if the text began `offset` characters before one of its places. */
function gramsAt(characters: readonly string[], offset: number): string[] {
  const grams: string[] = []
  for (let place = offset; place + gramLength <= characters.length; place += gramStep) {
    grams.push(characters.slice(place, place + gramLength).join(''))
  }
  return grams
}
