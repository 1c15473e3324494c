// Contains-filters: what they mean, and what an index of grams can do for them.
import type { Statement } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'

export interface Contains {
  /** Exactly as given: case-sensitive, and without wildcards. */
  readonly condition: Statement
  /** True wherever the condition is, and answered by an index. */
  readonly indexed: Statement
}

// As `search_grams` in the schema cuts them: runs of three at every place, runs of six at every third.
const shortRun = 3
const longRun = 6
const longRunStep = 3

/** `grams` is the indexed expression over `search_grams` of the column. Text under three characters must begin the value. */
export function contains(column: Statement, text: string, grams: Statement): Contains {
  const characters = [...text]
  if (characters.length < shortRun) {
    return { condition: sql`starts_with(${column}, ${text})`, indexed: sql`${grams} @> ${[`^${text}`]}` }
  }
  const condition = sql`strpos(${column}, ${text}) > 0`
  if (characters.length < longRun + longRunStep - 1) {
    return { condition, indexed: sql`${grams} @> ${runs(characters, shortRun, 0, 1)}` }
  }
  // The column's long runs begin at every third character; the position of the text in it is unknown. They may omit the
  // text's first and last characters, which its first and last short runs then cover.
  const short = runs(characters, shortRun, 0, 1)
  const ends = [short[0], short.at(-1)]
  const [first, second, third] = [0, 1, 2].map((offset) => [...runs(characters, longRun, offset, longRunStep), ...ends])
  return { condition, indexed: sql`(${grams} @> ${first} or ${grams} @> ${second} or ${grams} @> ${third})` }
}

function runs(characters: readonly string[], length: number, offset: number, step: number): string[] {
  const found: string[] = []
  for (let place = offset; place + length <= characters.length; place += step) {
    found.push(characters.slice(place, place + length).join(''))
  }
  return found
}
