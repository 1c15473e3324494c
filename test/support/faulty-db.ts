// A database that fails where a test wants: before a statement, after its commit, or not at all but never answering.
import type { Db, Sql, Statement, Tx } from '../../src/db/sql.ts'
import { DatabaseUnavailable } from '../../src/db/sql.ts'

/** What happens to a statement. */
export type Fate =
  | undefined
  /** It is not run, and fails with this. */
  | { readonly fails: Error }
  /** It is run, and the answer is lost. */
  | 'answer lost'
  /** It is not run, and nothing is ever heard of it: as if the process had ended there. */
  | 'silent'

/** As the driver says it when a connection ends. */
export const connectionLost = (): Error => new DatabaseUnavailable(new Error('Connection terminated unexpectedly'))

/** As PostgreSQL says it. */
export const sqlError = (code: string): Error => Object.assign(new Error(`SQLSTATE ${code}`), { code })

class Silence extends Error {}

/** Statements of a transaction are asked about as well; an answer that is lost is then the answer to its commit. */
export function createFaultyDb(db: Db, fateOf: (statement: Statement) => Fate): Db {
  async function under<Result>(fate: Fate, work: () => Promise<Result>): Promise<Result> {
    if (fate === 'silent') throw new Silence()
    if (fate !== undefined && fate !== 'answer lost') throw fate.fails
    const result = await work()
    if (fate === 'answer lost') throw connectionLost()
    return result
  }
  const over = (place: Sql, note: (fate: Fate) => Fate = (fate) => fate): Sql => ({
    rows: (statement) => under(note(fateOf(statement)), () => place.rows(statement)),
    row: (statement) => under(note(fateOf(statement)), () => place.row(statement)),
    run: (statement) => under(note(fateOf(statement)), () => place.run(statement)),
  })
  const plain = over(db)
  return {
    rows: (statement) => heard(plain.rows(statement)),
    row: (statement) => heard(plain.row(statement)),
    run: (statement) => heard(plain.run(statement)),
    together: (work) => heard(db.together((place) => work(over(place)))),
    transaction: (work, limits) => {
      let isLost = false
      const note = (fate: Fate): Fate => {
        isLost ||= fate === 'answer lost'
        return fate === 'answer lost' ? undefined : fate
      }
      const committed = db.transaction(
        (tx) => work({ ...over(tx, note), inTransaction: true, afterCommit: tx.afterCommit } as Tx),
        limits,
      )
      return heard(committed.then((result) => (isLost ? Promise.reject(connectionLost()) : result)))
    },
  }
}

/** Whoever asked hears nothing of a silence; the connection is given back, as it is when a process ends. */
function heard<Result>(answer: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    answer.then(resolve, (error: unknown) => {
      if (!(error instanceof Silence)) reject(error)
    })
  })
}
