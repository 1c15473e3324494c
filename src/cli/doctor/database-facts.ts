// What posthorn doctor finds out about the database.

export interface Applied {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

export interface DatabaseFacts {
  /** Without user and password. */
  readonly name: string
  readonly version: string
  readonly aheadMs: number
  /** How far the clock of the node that is furthest from the database's is ahead of it; undefined without nodes. */
  readonly nodeAheadMs: number | undefined
  /** Undefined if nothing was ever installed. */
  readonly applied: readonly Applied[] | undefined
}
