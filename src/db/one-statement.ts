// Several writes as one statement: one trip to the database, and a transaction by itself.
import { hash } from 'node:crypto'
import type { Statement } from './sql.ts'
import { prepared, sql, statementNameMax } from './sql.ts'

/** A write among others. */
export interface Part {
  /** What the others call it. */
  readonly as: Statement
  /** Of its text: two parts with the same name have the same text. */
  readonly name: string
  readonly statement: Statement
}

/**
 * All parts see what was there before any of them, and each other only by what they return. Prepared: the text depends on
 * the parts alone.
 */
export function oneStatement(parts: readonly Part[], answer: Statement = sql`select`): Statement {
  const [first, ...others] = parts.map(({ as, statement }) => sql`${as} as (${statement})`)
  if (first === undefined) throw new Error('A statement must have at least one part')
  const all = others.reduce((before, part) => sql`${before}, ${part}`, first)
  return prepared(nameOf(parts.map((part) => part.name).join(' ')), sql`with ${all} ${answer}`)
}

/** PostgreSQL cuts longer names, and two that differ at their end would be one. */
function nameOf(whole: string): string {
  if (whole.length <= statementNameMax) return whole
  return `${whole.slice(0, statementNameMax - 21)} ${hash('sha1', whole).slice(0, 20)}`
}
