// Whether a message may be given up: its provider said no, or was busy so often and for so long that the retries ran out.
import type { Ledger, ProviderCall } from './ledger.ts'
import type { WrittenJob } from './written.ts'

/** Eight attempts over about 30 minutes in all, with jitter; waits that a provider asks for count as well. */
const attemptsMax = 8
const nearlyAllMs = 20 * 60_000

export function isGivenUp(ledger: Ledger, job: WrittenJob): boolean {
  const own = callsFor(ledger, job)
  if (own.some((call) => call.learned === 'refused')) return true
  return own.at(-1)?.learned === 'not-sent' && haveRetriesRunOut(ledger, job)
}

/** Whatever the last of them came to. */
export function haveRetriesRunOut(ledger: Ledger, job: WrittenJob): boolean {
  const times = callsFor(ledger, job).map((call) => call.startedAtMs)
  const spentMs = times.length === 0 ? 0 : Math.max(...times) - Math.min(...times)
  return times.length >= attemptsMax || spentMs >= nearlyAllMs
}

const callsFor = ({ calls }: Ledger, job: WrittenJob): readonly ProviderCall[] =>
  calls.filter(({ channel, to, numbers }) => {
    return channel === job.type && to === job.to && numbers.includes(job.number)
  })
