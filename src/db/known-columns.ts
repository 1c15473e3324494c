// Prepared statements whose columns a connection already knows: it does not ask for them again.
import pg from 'pg'

/** What the driver derives from a description of columns. */
interface Columns {
  fields: unknown
  _parsers: unknown
  _prebuiltEmptyResultObject: unknown
}

interface Wire {
  describe(): void
}

/** The members of the driver's class that its types leave out. */
interface DriverQuery {
  name: string
  _result: Columns
  _accumulateRows: boolean
  prepare(wire: Wire): void
  handleRowDescription(description: unknown): void
}

const DriverQuery = pg.Query as unknown as new (config: pg.QueryConfig) => DriverQuery

/**
 * Of one connection: the columns, by the name of the statement, and `silent`, the connection with a `describe` that does nothing. The
 * driver's `prepare` always asks for the columns; given the silent connection it sends all the rest, and not that.
 */
interface Known {
  readonly columns: Map<string, Columns>
  readonly silent: Wire
}

const knownOn = new WeakMap<Wire, Known>()

function knownOf(wire: Wire): Known {
  let known = knownOn.get(wire)
  if (known === undefined) {
    known = { columns: new Map(), silent: Object.create(wire, { describe: { value: () => {} } }) as Wire }
    knownOn.set(wire, known)
  }
  return known
}

/**
 * A description of thirty columns is as long as a row, and is made, sent and read with each execution. PostgreSQL rejects a
 * prepared statement whose columns have changed, so what was described once on a connection stays true.
 */
class KnownColumnsQuery extends DriverQuery {
  readonly query_timeout: number | undefined
  #known: Known | undefined

  constructor(config: pg.QueryConfig, timeoutMs: number | undefined) {
    super(config)
    this.query_timeout = timeoutMs
  }

  override prepare(wire: Wire): void {
    this.#known = knownOf(wire)
    const columns = this.#known.columns.get(this.name)
    if (columns === undefined) {
      super.prepare(wire)
      return
    }
    this._result.fields = columns.fields
    this._result._parsers = columns._parsers
    this._result._prebuiltEmptyResultObject = columns._prebuiltEmptyResultObject
    this._accumulateRows = true
    super.prepare(this.#known.silent)
  }

  override handleRowDescription(description: unknown): void {
    super.handleRowDescription(description)
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result
    this.#known?.columns.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject })
  }
}

/** Of a statement with a name. */
export function knownColumnsAnswer(
  on: pg.Pool | pg.PoolClient,
  config: pg.QueryConfig,
  timeoutMs: number | undefined,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const query = new KnownColumnsQuery(config, timeoutMs) as unknown as pg.QueryConfig
    on.query(query, (error: Error | null | undefined, result) => (error ? reject(error) : resolve(result)))
  })
}
