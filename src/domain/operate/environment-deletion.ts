// The deletion of an environment: how far it has come.

export interface EnvironmentDeletion {
  readonly environmentId: string
  /** What the environment was called. */
  readonly name: string
  readonly status: 'running' | 'completed'
  /** The table that is being emptied, or `done`. */
  readonly phase: string
  /** By table: how many rows were removed so far. */
  readonly removed: Readonly<Record<string, number>>
  readonly requestedBy: string
  readonly requestedAt: string
  readonly completedAt: string | null
}
