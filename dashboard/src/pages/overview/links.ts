// Where each number of the overview leads: to a list that has as many.
export interface To {
  readonly to: string
  readonly search: Readonly<Record<string, string>>
}

const messages = '/activity/messages'

/** What was delivered stays counted when it is deleted or taken back: the list has it as well. */
const delivered = { status: 'sent', removed: 'with' } as const

/** A link leaves out what is empty: without a part, the list would have more than its number. */
export const isWhole = ({ search }: To): boolean => Object.values(search).every((part) => part !== '')

export const eventsBehind = (after: string): To => ({ to: '/activity/events', search: { from: after } })
export const queueBehind: To = { to: '/activity/queue', search: {} }

/** Of a channel, or of a provider, or whether it was captured. */
export const deliveredBehind = (of: Readonly<Record<string, string>> = {}): To => ({
  to: messages,
  search: { ...delivered, ...of },
})

/** Steps that failed: of a channel, of a provider, for a reason. */
export const failedBehind = (of: Readonly<Record<string, string>> = {}): To => ({
  to: '/activity/failures',
  search: of,
})

/** As counts say it: also what was sent again since. */
export const everFailedBehind = (of: Readonly<Record<string, string>> = {}): To =>
  failedBehind({ redriven: 'with', ...of })

/** Messages that a provider was asked to send and did not confirm. */
export const perhapsSentBehind = (of: Readonly<Record<string, string>> = {}): To => ({
  to: messages,
  search: { status: 'warning', provider: 'any', removed: 'with', ...of },
})

/** Messages that were not sent, or perhaps were. */
export const unsentBehind = (
  { channel, provider, errorId }: { channel: string; provider: string; errorId: string },
  after: string,
): To => ({
  to: messages,
  search: {
    status: 'warning',
    removed: 'with',
    channel,
    provider,
    reason: errorId,
    after,
  },
})

export const suppressedBehind: To = { to: '/settings/suppressions', search: {} }
export const buriedBehind: To = { to: '/activity/queue', search: { state: 'buried' } }
