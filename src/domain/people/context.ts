// A context: what events are about in the caller's own terms, as type and id, with data for templates.

export interface Context {
  readonly type: string
  readonly id: string
  readonly data: Readonly<Record<string, unknown>>
  readonly createdAt: string
  readonly updatedAt: string
}
