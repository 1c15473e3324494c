// The parts of conditions, as workflows hold them.
export interface Part {
  readonly on: string
  readonly field?: string
  readonly operator?: string
  readonly value?: string | number | boolean
  readonly webhookUrl?: string
  readonly timeOperator?: string
  readonly step?: string
  readonly stepType?: string
}

/** An earlier step that a condition can ask about. */
export interface EarlierStep {
  readonly id: string
  readonly name: string
}
