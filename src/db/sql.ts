// Sql: a place to run statements, and the tag that keeps values out of their text.

/** A statement and its values. Built only by the `sql` tag, so a value can never become text. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  /**
   * Set for hot statements only: the server caches their plan. Never for JSON or LIKE filters, whose plan depends on
   * the value.
   */
  readonly name?: string
}

/** What can be between `${` and `}`: another statement is spliced in, everything else becomes a parameter. */
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
    const { strings, parts } = this
    let text = strings[0] ?? ''
    for (let index = 0; index < parts.length; index += 1) {
      const part = parts[index]
      text += part instanceof Fragment ? part.write(values) : `$${placeOf(part, values)}`
      text += strings[index + 1] ?? ''
    }
    return text
  }

  /** The same values as `write` finds, in the same order, without the text. */
  collect(values: unknown[]): void {
    const { parts } = this
    for (let index = 0; index < parts.length; index += 1) {
      const part = parts[index]
      if (part instanceof Fragment) part.collect(values)
      else placeOf(part, values)
    }
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
  return conditions.length === 0 ? sql`true` : joined(conditions, ' and ')
}

/** Joins with commas. */
export const listed = (parts: readonly Statement[]): Statement => joined(parts, ', ')

function joined(parts: readonly Statement[], separator: string): Statement {
  return new Fragment(['', ...Array<string>(Math.max(0, parts.length - 1)).fill(separator), ''], parts)
}

/** A value between texts that are the same for every statement: for columns, whose names and types never change. */
export const valueBetween = (before: string, value: unknown, after: string): Statement =>
  new Fragment([before, after], [value])

/** What PostgreSQL keeps of a name. */
export const statementNameMax = 63

interface PreparedText {
  readonly text: string
  readonly valueCount: number
  /** How often the text was built and compared. */
  checks: number
}

/** By name. There are as many as there are kinds of batches, and the server keeps the plan of each as well. */
const preparedTexts = new Map<string, PreparedText>()
/** A statement that had the same text so often has it always: only its values are collected from then on. */
const textChecks = 50

/** Gives a hot statement a name, so that the server parses and plans it once per connection. */
export function prepared(name: string, statement: Statement): Statement {
  if (!(statement instanceof Fragment)) return { text: statement.text, values: statement.values, name }
  const values: unknown[] = []
  const known = preparedTexts.get(name)
  if (known === undefined || known.checks < textChecks) {
    const text = statement.write(values)
    rememberText(name, known, text, values.length)
    return { text, values, name }
  }
  statement.collect(values)
  if (values.length !== known.valueCount) throw otherText(name)
  return { text: known.text, values, name }
}

function rememberText(name: string, known: PreparedText | undefined, text: string, valueCount: number): void {
  if (name.length > statementNameMax) throw new Error(`The name of a statement is too long: ${name}`)
  if (known === undefined) preparedTexts.set(name, { text, valueCount, checks: 1 })
  else if (known.text === text) known.checks += 1
  else throw otherText(name)
}

const otherText = (name: string): Error => new Error(`Two statements with different texts share the name ${name}`)

/**
 * A value that the planner cannot see. A plan for a list of one looks cheaper than the general plan, so a prepared
 * statement would be planned again each time. Not for a limit over a large table: estimated as a tenth of it, it can
 * cost an index.
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

/** A transaction. The mark makes it impossible to pass a plain connection to a function that writes. */
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
