// What the list of failed steps is filtered by, as it stands in the address, and as the service is asked for it.
type StepType = 'email' | 'sms' | 'push' | 'chat' | 'in_app' | 'digest' | 'delay' | 'throttle' | 'custom'

export interface FailuresSearch {
  readonly channel?: StepType
  readonly provider?: string
  /** What went wrong, as a code. */
  readonly code?: string
  /** Failures of steps that were sent again since: among the others, or alone. */
  readonly redriven?: 'with' | 'only'
  readonly after?: string
  readonly before?: string
}

/** What stands in the address; what no list has is left out. */
export const failuresIn = ({ redriven, ...search }: FailuresSearch): FailuresSearch =>
  redriven === 'with' || redriven === 'only' ? { ...search, redriven } : search

export const failuresQuery = ({ channel, provider, code, redriven, after, before }: FailuresSearch) => ({
  ...(channel === undefined ? {} : { channel: [channel] }),
  ...(provider === undefined ? {} : { provider: [provider] }),
  ...(code === undefined ? {} : { code: [code] }),
  ...(redriven === undefined ? {} : { redriven }),
  ...(after === undefined ? {} : { after }),
  ...(before === undefined ? {} : { before }),
})
