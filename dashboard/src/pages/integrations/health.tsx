// How an account's provider does over time: what it accepted and what failed, hour by hour or day by day.
import { useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import type { Behind, Series } from '../../ui/chart.tsx'
import { Choice } from '../../ui/controls.tsx'
import { Answered, Empty, Loading, Section } from '../../ui/page.tsx'
import { everFailedBehind } from '../overview/links.ts'

const Chart = lazy(() => import('../../ui/chart.tsx').then((module) => ({ default: module.Chart })))

const dayMs = 86_400_000
const ranges = { '24h': dayMs, '7d': 7 * dayMs, '30d': 30 * dayMs } as const
type Range = keyof typeof ranges
const refreshMs = 30_000
const outcomes = [
  ['sent', 'Accepted', 'green'],
  ['captured', 'Captured', 'violet'],
  ['unsure', 'Perhaps accepted', 'amber'],
  ['failed', 'Failed', 'red'],
] as const

export type ProviderCounts = Schemas['Counts']
type Of = Pick<Schemas['Integration'], 'providerId' | 'channel'>

/** Messages of every provider by result, with one call for all accounts. */
export const useProviderCounts = (range: Range = '24h') =>
  useAsk(
    ['integrations', 'health', range],
    () =>
      answerOf(
        client.GET('/v1/counts', {
          params: {
            query: {
              measure: 'messages',
              groupBy: ['channel', 'provider', 'outcome'],
              from: new Date(Date.now() - ranges[range]).toISOString(),
              step: range === '30d' ? 'day' : 'hour',
            },
          },
        }),
      ),
    { everyMs: refreshMs, keeps: true },
  )

const messagesOf = ({ providerId, channel }: Of, more: Record<string, string> = {}): Behind => ({
  to: '/activity/messages',
  search: { provider: providerId, channel, ...more },
})

/**
 * As counts say it, also what was sent again since. The list has steps: where one has a message for each device or entry, it has
 * fewer of them.
 */
const failuresOf = ({ providerId, channel }: Of): Behind | undefined =>
  channel === 'email' || channel === 'sms' ? everFailedBehind({ channel, provider: providerId }) : undefined

/** The list that has what a number counts: what was sent stays counted when it is deleted or taken back. */
function behindOf(outcome: (typeof outcomes)[number][0], of: Of): Behind | undefined {
  if (outcome === 'failed') return failuresOf(of)
  if (outcome === 'unsure') return messagesOf(of, { status: 'warning', removed: 'with' })
  return messagesOf(of, { status: 'sent', removed: 'with', captured: outcome === 'captured' ? 'only' : 'without' })
}

/** Those of one provider on its channel, by result; what never happened is left out, except what was accepted. */
export function seriesOf(counts: ProviderCounts, { providerId, channel }: Of): Series[] {
  return outcomes.flatMap(([outcome, name, colour]) => {
    const found = counts.series.find(
      (one) => one.provider === providerId && one.channel === channel && one.outcome === outcome,
    )
    if (found === undefined && outcome !== 'sent') return []
    const behind = behindOf(outcome, { providerId, channel })
    return [
      {
        name,
        colour,
        ...(behind === undefined ? {} : { behind }),
        counts: found?.counts ?? counts.starts.map(() => 0),
      },
    ]
  })
}

const sum = (numbers: readonly (number | null)[]): number => numbers.reduce<number>((all, one) => all + (one ?? 0), 0)

export function shareOf(series: readonly Series[]): { total: number; failed: number } {
  const total = sum(series.map(({ counts }) => sum(counts)))
  const failed = sum(series.flatMap(({ name, counts }) => (name === 'Failed' ? [sum(counts)] : [])))
  return { total, failed }
}

export function Health({
  integration,
  providerName,
  accounts,
}: {
  integration: Of & Pick<Schemas['Integration'], '_id'>
  providerName: string
  accounts: number
}) {
  const search = useSearch({ strict: false }) as { range?: string }
  const go = useGo()
  const range: Range = search.range !== undefined && search.range in ranges ? (search.range as Range) : '24h'
  const setRange = (next: Range) =>
    go(`/integrations/${integration._id}`, { range: next }, { replace: true, stays: true })
  const counts = useProviderCounts(range)
  return (
    <Section
      title="Health"
      actions={
        <Choice
          label="Period"
          value={range}
          onChange={setRange}
          options={[
            ['24h', '24 hours'],
            ['7d', '7 days'],
            ['30d', '30 days'],
          ]}
        />
      }
    >
      <Answered of={counts}>
        {(found) => {
          const series = seriesOf(found, integration)
          const { total, failed } = shareOf(series)
          if (total === 0)
            return (
              <Empty icon="activity" title="Nothing was sent in this period">
                Each message and what {providerName} answered is counted here.
              </Empty>
            )
          return (
            <div className="flex flex-col gap-4 p-4">
              <p className="text-ink-2">
                <strong className="text-base font-semibold text-ink">
                  {failed === 0 ? 'None' : failed.toLocaleString('en')}
                </strong>{' '}
                of {total.toLocaleString('en')} {total === 1 ? 'message' : 'messages'} failed
                {accounts > 1 && `, over all ${accounts} accounts at ${providerName}`}.{' '}
                {failed > 0 && (
                  <EnvLink
                    to="/activity/failures"
                    search={{
                      channel: integration.channel,
                      provider: integration.providerId,
                      after: found.from,
                    }}
                    className="link"
                  >
                    Failures that were not sent again since
                  </EnvLink>
                )}
              </p>
              <Suspense fallback={<Loading rows={4} />}>
                <Chart
                  label={`Messages by ${providerName}`}
                  starts={found.starts}
                  series={series}
                  unit={range === '30d' ? 'day' : 'hour'}
                  onPoint={({ from, to, behind = messagesOf(integration) }) =>
                    go(behind.to, { ...behind.search, after: from, before: new Date(Date.parse(to) - 1).toISOString() })
                  }
                />
              </Suspense>
            </div>
          )
        }}
      </Answered>
    </Section>
  )
}
