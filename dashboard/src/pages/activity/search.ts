// What the activity is filtered by, as it stands in the address.
export interface ActivitySearch {
  readonly subscriber?: string
  readonly workflow?: string
  readonly channel?: string
  readonly transactionId?: string
  readonly topic?: string
  readonly email?: string
  readonly severity?: string
  /** As `type:id`, several with commas between. */
  readonly context?: string
  /** The type of a failed step, or `any`. */
  readonly failed?: string
  /** Called for a failed step. */
  readonly failedProvider?: string
  /** What was reported of a failed step, as a code. */
  readonly failedReason?: string
  readonly after?: string
  readonly before?: string
  readonly [name: string]: string | undefined
}
