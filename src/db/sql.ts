// Sql: a place to run statements, and the tag that keeps values out of their text.
import { hash } from 'node:crypto'

/** A statement and its values. Built only by the `sql` tag, so a value can never become text. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  /**
   * Set for hot statements only: the server caches their plan. Never for JSON or LIKE filters, whose plan depends on
   * the value.
   */
  readonly name?: string
  /** It may share a connection with others like it. */
  readonly isShortRead?: true
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

  /** The values as `write` finds them, and the steps that decide the text. */
  trace(steps: Step[], values: unknown[]): void {
    steps.push(this.strings)
    for (const part of this.parts) {
      if (part instanceof Fragment) part.trace(steps, values)
      else steps.push(placeOf(part, values))
    }
  }

  /** Collects the values for as long as the steps are those of a known text; returns how far that was, -1 if not all the way. */
  follow(steps: readonly Step[], from: number, values: unknown[]): number {
    const { strings, parts } = this
    if (!isSameTemplate(steps[from], strings)) return -1
    let at = from + 1
    for (let index = 0; index < parts.length; index += 1) {
      const part = parts[index]
      if (part instanceof Fragment) {
        at = part.follow(steps, at, values)
        if (at === -1) return -1
      } else if (steps[at] === placeOf(part, values)) at += 1
      else return -1
    }
    return at
  }
}

/** What decides a text: the templates, from the outside in, and between them the numbers of the parameters. */
type Step = readonly string[] | number

/** A template is the same array each time it is used; lists of statements are joined by a new one. */
function isSameTemplate(step: Step | undefined, strings: readonly string[]): boolean {
  if (step === strings) return true
  if (!Array.isArray(step) || step.length !== strings.length) return false
  for (let index = 0; index < strings.length; index += 1) if (step[index] !== strings[index]) return false
  return true
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

/** Values between texts that never change: for columns, whose names and types are the same for every statement. */
export const valuesBetween = (texts: readonly string[], values: readonly unknown[]): Statement =>
  new Fragment(texts, values)

/** What PostgreSQL keeps of a name. */
export const statementNameMax = 63

interface PreparedText {
  readonly name: string
  readonly text: string
  readonly steps: readonly Step[]
}

/** By name. There are as many as there are kinds of batches, and the server keeps the plan of each as well. */
const preparedTexts = new Map<string, PreparedText[]>()
/** A name with more texts than this is that of no hot statement: further ones are planned each time. */
const textsPerNameMax = 16

/**
 * Gives a hot statement a name, so that the server parses and plans it once per connection. The text is built once:
 * after that it is recognised, and only the values are collected. Should two statements share a name, the second gets
 * one of its own: each is always sent with its own text.
 */
export function prepared(name: string, statement: Statement): Statement {
  if (name.length > statementNameMax) throw new Error(`The name of a statement is too long: ${name}`)
  if (!(statement instanceof Fragment)) throw new Error(`The statement ${name} was prepared before`)
  const known = preparedTexts.get(name) ?? []
  for (const one of known) {
    const values: unknown[] = []
    if (statement.follow(one.steps, 0, values) === one.steps.length) return sendable(one, values)
  }
  const values: unknown[] = []
  const steps: Step[] = []
  statement.trace(steps, values)
  const text = statement.write([])
  if (known.length >= textsPerNameMax) return { text, values }
  const made = { name: known.length === 0 ? name : distinctName(name, text), text, steps }
  preparedTexts.set(name, [...known, made])
  return sendable(made, values)
}

/** The same for a statement that only reads, and no more than a page: asked for by itself, it shares a connection. */
export const shortRead = (name: string, statement: Statement): Statement => ({
  ...prepared(name, statement),
  isShortRead: true,
})

const sendable = ({ name, text }: PreparedText, values: readonly unknown[]): Statement => ({ text, values, name })

const distinctName = (name: string, text: string): string =>
  `${name.slice(0, statementNameMax - 21)} ${hash('sha1', text).slice(0, 20)}`

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
  /** For what others may do once they can see it; also where the answer to the commit is lost. It must not throw. */
  afterCommit(work: () => void): void
}

/** A statement by itself is committed when it has answered. */
export function whenCommitted(db: Sql | Tx, work: () => void): void {
  if ('afterCommit' in db) db.afterCommit(work)
  else work()
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
