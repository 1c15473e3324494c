// Several writes as one statement: one trip to the database, and a transaction by itself.
import { hash } from 'node:crypto'
import type { Statement } from './sql.ts'
import { listed, prepared, sql, statementNameMax } from './sql.ts'

/** A write among others. */
export interface Part {
  /** What the others call it. */
  readonly as: Statement
  /** Of its text: two parts with the same name have the same text. */
  readonly name: string
  readonly statement: Statement
}

/**
 * All parts see what existed before any of them, and each other only through what they return. Prepared: the text
 * depends only on the parts.
 */
export function oneStatement(parts: readonly Part[], answer: Statement = sql`select`): Statement {
  if (parts.length === 0) throw new Error('A statement must have at least one part')
  const all = listed(parts.map(({ as, statement }) => sql`${as} as (${statement})`))
  return prepared(nameOf(parts.map((part) => part.name).join(' ')), sql`with ${all} ${answer}`)
}

/** By the names of the parts, joined: as many as there are kinds of batches. */
const shortNames = new Map<string, string>()

/** PostgreSQL cuts longer names, and two that differ at their end would be one. */
function nameOf(whole: string): string {
  if (whole.length <= statementNameMax) return whole
  const known = shortNames.get(whole)
  if (known !== undefined) return known
  const name = `${whole.slice(0, statementNameMax - 21)} ${hash('sha1', whole).slice(0, 20)}`
  shortNames.set(whole, name)
  return name
}
