// Whether a message may be given up: its provider said no, or was busy so often and for so long that the retries ran out.
import type { Ledger } from './ledger.ts'
import type { WrittenJob } from './written.ts'

/** Eight attempts over about 30 minutes in all, with jitter; waits that a provider asks for count as well. */
const attemptsMax = 8
const nearlyAllMs = 20 * 60_000

export function isGivenUp({ calls }: Ledger, job: WrittenJob): boolean {
  const own = calls.filter(({ channel, to, numbers }) => {
    return channel === job.type && to === job.to && numbers.includes(job.number)
  })
  if (own.some((call) => call.learned === 'refused')) return true
  const times = own.map((call) => call.startedAtMs)
  const spentMs = times.length === 0 ? 0 : Math.max(...times) - Math.min(...times)
  return own.at(-1)?.learned === 'not-sent' && (own.length >= attemptsMax || spentMs >= nearlyAllMs)
}
