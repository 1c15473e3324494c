// Sql: a place to run statements, and the tag that keeps values out of their text.

/** A statement and its values. Built only by the `sql` tag, so a value can never become text. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  /** Set for hot statements only: the server keeps their plan. Never for JSON or LIKE filters, whose plan depends on the value. */
  readonly name?: string
}

/** What can stand between `${` and `}`: another statement is spliced in, everything else becomes a parameter. */
class Fragment implements Statement {
  readonly strings: readonly string[]
  readonly parts: readonly unknown[]

  constructor(strings: readonly string[], parts: readonly unknown[]) {
    this.strings = strings
    this.parts = parts
  }

  get text(): string {
    const values: unknown[] = []
    return this.write(values)
  }

  get values(): readonly unknown[] {
    const values: unknown[] = []
    this.write(values)
    return values
  }

  write(values: unknown[]): string {
    let text = this.strings[0] ?? ''
    for (const [index, part] of this.parts.entries()) {
      if (part instanceof Fragment) text += part.write(values)
      else text += `$${placeOf(part, values)}`
      text += this.strings[index + 1] ?? ''
    }
    return text
  }
}

/** A list that stands in a statement twice travels once. */
function placeOf(part: unknown, values: unknown[]): number {
  const known = Array.isArray(part) ? values.indexOf(part) : -1
  return known === -1 ? values.push(part) : known + 1
}

export function sql(strings: TemplateStringsArray, ...parts: unknown[]): Statement {
  return new Fragment(strings, parts)
}

/** Joins conditions with `and`; none is `true`. */
export function allOf(conditions: readonly Statement[]): Statement {
  if (conditions.length === 0) return sql`true`
  return conditions.reduce((all, condition) => sql`${all} and ${condition}`)
}

/** What PostgreSQL keeps of a name. */
export const statementNameMax = 63

/** Gives a hot statement a name, so that the server parses and plans it once a connection. */
export function prepared(name: string, statement: Statement): Statement {
  if (name.length > statementNameMax) throw new Error(`The name of a statement is too long: ${name}`)
  const values: unknown[] = []
  const text = statement instanceof Fragment ? statement.write(values) : statement.text
  return { text, values, name }
}

/**
 * A value that the planner cannot look at. A plan for a list of one looks cheaper than the general one, and so a prepared
 * statement would be planned anew each time. Not for a limit over a large table: taken for a tenth of it, it can cost an index.
 */
export const unseen = (value: Statement): Statement => sql`(select ${value})`

/** A JSON value as one parameter; `null` and `undefined` become SQL null. */
export function json(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value)
}

export interface Sql {
  rows<Row extends object>(statement: Statement): Promise<Row[]>
  /** The first row, if there is one. */
  row<Row extends object>(statement: Statement): Promise<Row | undefined>
  /** How many rows were touched. */
  run(statement: Statement): Promise<number>
}

/** A transaction. The mark makes it impossible to hand a plain connection to a function that writes. */
export interface Tx extends Sql {
  readonly inTransaction: true
}

/** How long a transaction's statements may take, and wait for locks. */
export interface TransactionLimits {
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
}

export interface Db extends Sql {
  /**
   * Commits when `work` resolves, rolls back when it throws; a deadlock or serialisation failure is tried again. `limits`
   * replace those of the pool, for work that no request waits for.
   */
  transaction<Result>(work: (tx: Tx) => Promise<Result>, limits?: TransactionLimits): Promise<Result>
  /** Reads on one connection: statements that do not wait for each other travel together. No snapshot is shared. */
  together<Result>(work: (db: Sql) => Promise<Result>): Promise<Result>
}

/** The database cannot be reached, or did not answer in time: the caller may try again. */
export class DatabaseUnavailable extends Error {
  /** True when it can be reached, and only this statement waited too long: for a lock, or for its end. */
  readonly busy: boolean

  constructor(cause: unknown) {
    super('The database is not available', { cause })
    this.name = 'DatabaseUnavailable'
    const code = (cause as { code?: unknown } | null)?.code
    this.busy = code === '55P03' || code === '57014'
  }
}
