// Overview: how much, how fast, what failed, and what needs attention; every number leads to what it counts.
import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import { buttonClass, Choice } from '../../ui/controls.tsx'
import { Icon, nameOfStep } from '../../ui/icons.tsx'
import { Answered, Empty, Page, Section } from '../../ui/page.tsx'
import { duration } from '../../ui/time.tsx'
import { useProviderName } from '../integrations/provider-names.ts'
import { Attention } from './attention.tsx'
import {
  deliveredBehind,
  eventsBehind,
  everFailedBehind,
  failedBehind,
  perhapsSentBehind,
  queueBehind,
} from './links.ts'
import { OverTime } from './over-time.tsx'
import { useSendingAgain } from './send-again.tsx'
import { Shares } from './shares.tsx'

const ranges = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000, '30d': 30 * 86_400_000 } as const
type Range = keyof typeof ranges
const refreshMs = 10_000
/** As counts choose it for such a range, so that both have the same steps. */
const steps: Readonly<Record<Range, 'minute' | 'hour' | 'day'>> = {
  '1h': 'minute',
  '24h': 'hour',
  '7d': 'hour',
  '30d': 'day',
}

export function OverviewPage() {
  const search = useSearch({ strict: false }) as { range?: string }
  const range: Range = search.range !== undefined && search.range in ranges ? (search.range as Range) : '24h'
  const go = useGo()
  const providerName = useProviderName()
  const from = () => new Date(Date.now() - ranges[range]).toISOString()
  const counts = useAsk(
    ['overview', 'counts', range],
    async () => {
      const ask = (query: object) =>
        answerOf(client.GET('/v1/counts', { params: { query: { from: from(), ...query } } }))
      const [events, messages, sent, steps] = await Promise.all([
        ask({ measure: 'events' }),
        ask({ measure: 'messages', groupBy: ['outcome'] }),
        ask({ measure: 'messages', groupBy: ['channel', 'provider', 'outcome'] }),
        // Failed is what the activity calls failed: a message that no address was found for is a step that was skipped.
        ask({ measure: 'steps', groupBy: ['channel', 'outcome'], outcome: ['failed'] }),
      ])
      // From where the counts begin, which are widened to whole steps: a list from there on has what they count.
      const query = { after: events.from }
      // They are looked at one by one, which may take too long: the counts are shown without them.
      const causes = await answerOf(client.GET('/v1/failures/causes', { params: { query } })).catch(() => undefined)
      return { events, messages, sent, failedSteps: steps, causes }
    },
    { everyMs: refreshMs, keeps: true },
  )
  const times = useAsk(
    ['overview', 'times', range],
    async () => {
      const ask = (query: object) =>
        answerOf(client.GET('/v1/counts/delivery-times', { params: { query: { from: from(), ...query } } }))
      const [channels, providers] = await Promise.all([
        ask({ groupBy: ['channel'], step: steps[range] }),
        ask({ groupBy: ['provider'] }),
      ])
      return { overTime: channels, channels: channels.data, providers: providers.data }
    },
    { everyMs: refreshMs, keeps: true },
  )
  const sending = useSendingAgain()
  const queue = useAsk(['overview', 'queue'], () => answerOf(client.GET('/v1/counts/queue')), { everyMs: refreshMs })
  return (
    <Page
      title="Overview"
      lead="What was sent, how fast, and what needs attention."
      actions={
        <Choice
          label="Time"
          value={range}
          onChange={(next) => go('', { range: next }, { replace: true })}
          options={[
            ['1h', 'Hour'],
            ['24h', '24 hours'],
            ['7d', '7 days'],
            ['30d', '30 days'],
          ]}
        />
      }
    >
      <Answered of={counts} rows={8}>
        {({ events, messages, sent, failedSteps, causes }) => {
          const of = (outcome: string) => messages.series.find((one) => one.outcome === outcome)?.total ?? 0
          const deliveredCount = of('sent') + of('captured')
          // What is listed, until there are more than a list counts.
          const isListed = causes !== undefined && !causes.steps.isCapped
          const failed = isListed ? causes.steps.total : failedSteps.total
          const behindFailed = isListed ? failedBehind : everFailedBehind
          const went = sent.series.filter(({ outcome }) => outcome !== 'failed')
          const unsure = of('unsure')
          const share = deliveredCount + failed === 0 ? undefined : deliveredCount / (deliveredCount + failed)
          const slowest = times.data?.channels.reduce((most, one) => Math.max(most, one.p95Ms), 0) ?? 0
          const due = queue.data?.lanes.reduce((sum, lane) => sum + lane.due, 0) ?? 0
          const oldest = queue.data?.lanes.reduce((most, lane) => Math.max(most, lane.oldestMs), 0) ?? 0
          const after = events.from
          if (events.total === 0 && messages.total === 0) {
            return (
              <>
                <div className="card">
                  <Empty
                    icon="overview"
                    title="No events in this period"
                    action={
                      <EnvLink to="/start" className={buttonClass('primary')}>
                        Send a notification
                      </EnvLink>
                    }
                  >
                    Counts appear within seconds of the first event.
                  </Empty>
                </div>
                <Attention queue={queue.data} causes={causes} after={after} sending={sending} />
              </>
            )
          }
          return (
            <>
              <div className="grid grid-cols-2 gap-3 xl:grid-cols-4">
                <Figure
                  {...eventsBehind(after)}
                  name="Events"
                  value={events.total.toLocaleString('en')}
                  hint="triggered"
                />
                <Figure
                  {...deliveredBehind({ after })}
                  name="Delivered"
                  value={deliveredCount.toLocaleString('en')}
                  hint={
                    share === undefined ? 'nothing yet' : `${(share * 100).toFixed(share === 1 ? 0 : 1)} % of messages`
                  }
                />
                <Figure
                  {...behindFailed({ after })}
                  name="Failed"
                  value={failed.toLocaleString('en')}
                  hint="steps"
                  more={
                    unsure > 0 && (
                      <EnvLink
                        {...perhapsSentBehind({ after })}
                        className="inline-flex min-h-6 items-center hover:underline"
                      >
                        {unsure.toLocaleString('en')} more perhaps sent
                      </EnvLink>
                    )
                  }
                  tone={failed === 0 ? '' : 'text-red'}
                />
                <Figure
                  {...queueBehind}
                  name="Waiting to go out"
                  value={due.toLocaleString('en')}
                  hint={due === 0 ? 'the queue is empty' : `the oldest for ${duration(oldest)}`}
                  tone={oldest > 60_000 ? 'text-amber' : ''}
                />
              </div>
              <div className="grid grid-cols-1 items-start gap-5 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
                <div className="flex min-w-0 flex-col gap-5">
                  <OverTime messages={messages} failedSteps={failedSteps} sent={sent} times={times.data?.overTime} />
                  <Section title="By channel">
                    <Shares
                      head="Channel"
                      series={[...went, ...(isListed ? failedSeries(causes) : failedSteps.series)]}
                      times={times.data?.channels ?? []}
                      idOf={({ channel }) => channel}
                      nameOf={nameOfStep}
                      linkOf={(channel) => ({ to: '/activity', search: { channel, after } })}
                      deliveredLinkOf={(channel) => deliveredBehind({ channel, after })}
                      failedLinkOf={(channel) => behindFailed({ channel, after })}
                    />
                  </Section>
                  <Section title="By provider">
                    <Shares
                      head="Provider"
                      // Steps are not counted by provider: only their causes say which it was.
                      series={[...went, ...(causes === undefined ? [] : failedSeries(causes))].filter(
                        ({ provider }) => provider !== undefined && provider !== 'none',
                      )}
                      failedAre={causes === undefined ? 'unknown' : isListed ? 'exact' : 'atLeast'}
                      times={times.data?.providers ?? []}
                      idOf={({ provider }) => provider}
                      nameOf={providerName}
                      linkOf={() => ({ to: '/integrations' })}
                      deliveredLinkOf={(provider) => deliveredBehind({ provider, after })}
                      failedLinkOf={(provider) => failedBehind({ provider, after })}
                    />
                  </Section>
                </div>
                <Attention queue={queue.data} causes={causes} after={after} sending={sending} />
              </div>
              <p className="text-xs text-ink-3">
                95 of 100 messages of the slowest channel were delivered within {duration(slowest)}, waits that
                workflows ask for included.
              </p>
            </>
          )
        }}
      </Answered>
    </Page>
  )
}

type Counted = Pick<Schemas['CountSeries'], 'channel' | 'provider' | 'outcome' | 'total'>

const failedSeries = ({ steps }: Schemas['FailureCauses']): Counted[] =>
  steps.data.map(({ channel, provider, count }) => ({ channel, provider, outcome: 'failed', total: count }))

function Figure({
  to,
  search,
  name,
  value,
  hint,
  more = false,
  tone = '',
}: {
  to: string
  search?: Readonly<Record<string, string>>
  name: string
  value: string
  hint: string
  /** Another number, with a link of its own. */
  more?: ReactNode
  tone?: string
}) {
  // The link covers all of it; another number has one of its own, and a link cannot be within another.
  return (
    <div className="card group relative flex flex-col gap-1 p-4 hover:border-line-2">
      <EnvLink
        to={to}
        {...(search === undefined ? {} : { search })}
        className="flex flex-col gap-1 outline-none after:absolute after:inset-0 after:rounded-md focus-visible:after:outline-2 focus-visible:after:outline-(--accent)"
      >
        <span className="flex items-center justify-between text-ink-2">
          {name}
          <Icon name="right" size={12} className="opacity-0 group-hover:opacity-100" />
        </span>
        <span className={`text-xl font-semibold tracking-tight ${tone}`}>{value}</span>
        <span className="text-xs text-ink-3">{hint}</span>
      </EnvLink>
      {more !== false && <span className="relative text-xs text-ink-3">{more}</span>}
    </div>
  )
}
