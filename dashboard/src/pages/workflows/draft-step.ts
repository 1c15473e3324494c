// A step while it is edited.

export type Json = Record<string, unknown>

export interface DraftStep {
  readonly key: string
  readonly _id?: string
  readonly name: string
  readonly active: boolean
  readonly template: Json & { readonly type: string }
  readonly metadata?: Json | undefined
  readonly filters: readonly Json[]
  /** Its other members: rules, ids, variants. */
  readonly rest: Json
}
