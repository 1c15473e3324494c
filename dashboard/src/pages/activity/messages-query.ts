// What the list of messages is filtered by, as it stands in the address, and as the service is asked for it.
type Channel = 'email' | 'in_app' | 'sms' | 'push' | 'chat'
type Status = 'sent' | 'error' | 'warning'

export interface MessagesSearch {
  readonly status?: Status
  readonly channel?: Channel
  /** One, or several with commas between them; none has one in its id. */
  readonly provider?: string
  readonly reason?: string
  readonly subscriber?: string
  readonly transactionId?: string
  /** Messages that were captured instead of sent: alone, or left out. */
  readonly captured?: 'only' | 'without'
  /** Messages that were deleted or taken back: among the others, or alone. */
  readonly removed?: 'with' | 'only'
  readonly after?: string
  readonly before?: string
}

export const messagesQuery = (search: MessagesSearch) => {
  const { status, channel, provider, reason, subscriber, transactionId, captured, removed, after, before } = search
  return {
    ...(status === undefined ? {} : { status: [status] }),
    ...(channel === undefined ? {} : { channel }),
    ...(provider === undefined ? {} : { providers: provider.split(',') }),
    ...(reason === undefined ? {} : { errorIds: [reason] }),
    ...(subscriber === undefined ? {} : { subscriberId: subscriber }),
    ...(transactionId === undefined ? {} : { transactionId: [transactionId] }),
    ...(captured === undefined ? {} : { captured: captured === 'only' }),
    ...(removed === undefined ? {} : { removed }),
    ...(after === undefined ? {} : { after }),
    ...(before === undefined ? {} : { before }),
  }
}

/** Where no index helps, the service looks so far back, unless a start is given. */
export function isOfLastDays(search: MessagesSearch): boolean {
  const { status, provider, reason, subscriber, transactionId, captured, removed, after } = search
  if (after || subscriber || transactionId) return false
  if (reason || (status && status !== 'sent')) return removed === 'only'
  return Boolean(provider || captured === 'without' || (captured && removed))
}

/** Asked for by one provider or by several, not by none: what such a warning is of was perhaps sent. */
const isOfProvider = (provider: string | undefined): boolean =>
  provider !== undefined && provider !== '' && !provider.split(',').includes('none')

/** As the choice of results has it: a status, for what was delivered whether it left, and for a warning whether a provider was asked. */
export const resultOf = ({ status, captured, provider }: MessagesSearch): string =>
  [status ?? '', captured ?? '', status === 'warning' && isOfProvider(provider) ? 'any' : '']
    .join('/')
    .replace(/\/+$/, '')

/** Another result, with the providers that were chosen where that is possible. */
export function withResult(search: MessagesSearch, value: string): Record<string, string | undefined> {
  const [status = '', captured = '', asked = ''] = value.split('/')
  const chosen = search.provider === 'any' ? '' : (search.provider ?? '')
  const provider = asked !== '' && !isOfProvider(chosen) ? asked : chosen
  return { ...search, status, captured, provider }
}

/** Without a filter; what was perhaps sent is then of any provider. */
export function without(search: MessagesSearch, name: string): Record<string, string | undefined> {
  const isPerhaps = resultOf(search) === 'warning//any'
  const isOneOfAll = name === 'provider' && isPerhaps && search.provider !== 'any'
  return { ...search, [name]: isOneOfAll ? 'any' : '' }
}
