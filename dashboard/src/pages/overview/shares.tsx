// How the channels and the providers did: delivered, failed, and how fast.
import { EnvLink } from '../../env-link.tsx'
import { duration } from '../../ui/time.tsx'
import type { To } from './links.ts'
import { isWhole } from './links.ts'

interface Counted {
  readonly outcome?: string
  readonly total: number
}

interface Timed {
  readonly p50Ms: number
  readonly p95Ms: number
}

export function Shares<Count extends Counted, Time extends Timed>({
  head,
  series,
  times,
  idOf,
  nameOf,
  linkOf,
  deliveredLinkOf,
  failedLinkOf,
  failedAre = 'exact',
}: {
  head: string
  series: readonly Count[]
  times: readonly Time[]
  idOf: (one: Count | Time) => string | undefined
  nameOf: (id: string) => string
  linkOf: (id: string) => { to: string; search?: Record<string, string> }
  deliveredLinkOf: (id: string) => To
  failedLinkOf: (id: string) => To
  /** Whether all failures were looked at, only some, or none. */
  failedAre?: 'exact' | 'atLeast' | 'unknown'
}) {
  const ids = [...new Set(series.flatMap((one) => idOf(one) ?? []))]
  const sum = (id: string, outcomes: readonly string[]) =>
    series
      .filter((one) => idOf(one) === id && outcomes.includes(one.outcome ?? ''))
      .reduce((all, one) => all + one.total, 0)
  return (
    <table className="w-full text-left whitespace-nowrap">
      <thead className="text-xs text-ink-3">
        <tr className="border-b border-line">
          <th className="h-9 pl-4 font-medium">{head}</th>
          <th className="px-2 text-right font-medium">Delivered</th>
          <th className="pr-4 pl-2 text-right font-medium sm:pr-2">Failed</th>
          <th className="px-2 text-right font-medium max-sm:hidden">Half within</th>
          <th className="pr-4 pl-2 text-right font-medium max-sm:hidden">95 % within</th>
        </tr>
      </thead>
      <tbody>
        {ids.map((id) => {
          const time = times.find((one) => idOf(one) === id)
          const failed = sum(id, ['failed'])
          return (
            <tr key={id} className="border-b border-line last:border-0">
              <td className="h-9 w-full max-w-0 truncate pl-4">
                <EnvLink {...linkOf(id)} className="hover:underline">
                  {nameOf(id)}
                </EnvLink>
              </td>
              <td className="px-2 text-right">
                <Count of={sum(id, ['sent', 'captured'])} to={deliveredLinkOf(id)} />
              </td>
              <td className={`pr-4 pl-2 text-right sm:pr-2 ${failed > 0 ? 'text-red' : 'text-ink-3'}`}>
                {failedAre === 'unknown' ? (
                  '–'
                ) : (
                  <Count of={failed} to={failedLinkOf(id)} isMore={failedAre === 'atLeast'} />
                )}
              </td>
              <td className="px-2 text-right text-ink-2 max-sm:hidden">
                {time === undefined ? '–' : duration(time.p50Ms)}
              </td>
              <td className="pr-4 pl-2 text-right text-ink-2 max-sm:hidden">
                {time === undefined ? '–' : duration(time.p95Ms)}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** A number leads to what it counts; none of something leads nowhere. */
function Count({ of: count, to, isMore = false }: { of: number; to: To; isMore?: boolean }) {
  const shown = `${count.toLocaleString('en')}${isMore ? '+' : ''}`
  if (count === 0 || !isWhole(to)) return shown
  return (
    <EnvLink {...to} className="hover:underline">
      {shown}
    </EnvLink>
  )
}
