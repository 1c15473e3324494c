// What happened over time: messages by result, by channel or by provider, and how long they took.
import { lazy, Suspense, useState } from 'react'
import type { Schemas } from '../../api.ts'
import { useGo } from '../../env-link.tsx'
import type { Behind, Series } from '../../ui/chart.tsx'
import { Choice } from '../../ui/controls.tsx'
import { nameOfStep } from '../../ui/icons.tsx'
import { Empty, Loading, Section } from '../../ui/page.tsx'
import { duration } from '../../ui/time.tsx'
import { useProviderName } from '../integrations/provider-names.ts'
import { deliveredBehind, everFailedBehind, perhapsSentBehind } from './links.ts'

const Chart = lazy(() => import('../../ui/chart.tsx').then((module) => ({ default: module.Chart })))

type Counts = Schemas['Counts']
type By = 'result' | 'channel' | 'provider' | 'time'

const results: Readonly<Record<string, readonly [colour: string, name: string, behind: Behind]>> = {
  sent: ['green', 'Sent', deliveredBehind({ captured: 'without' })],
  captured: ['violet', 'Captured', deliveredBehind({ captured: 'only' })],
  unsure: ['amber', 'Perhaps sent', perhapsSentBehind()],
  failed: ['red', 'Failed', everFailedBehind()],
}
/** For what has no meaning of its own in a colour; more than these are added up. */
const colours = ['accent', 'green', 'amber', 'violet', 'grey']

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, one) => sum + one, 0)
const added = (all: Counts, found: Counts['series']): number[] =>
  all.starts.map((_, at) => sumOf(found.map((one) => one.counts[at] ?? 0)))

const byResult = (messages: Counts, failedSteps: Counts): Series[] =>
  Object.entries(results).flatMap(([outcome, [colour, name, behind]]) => {
    const all = outcome === 'failed' ? failedSteps : messages
    const found = all.series.filter((one) => one.outcome === outcome)
    return found.length === 0 ? [] : [{ name, colour, behind, counts: added(all, found) }]
  })

/** The largest ones, and all others together. */
function byGroup(
  sent: Counts,
  idOf: (one: Counts['series'][number]) => string | undefined,
  nameOf: (id: string) => string,
  filter: 'channel' | 'provider',
): Series[] {
  const counted = sent.series.filter(({ outcome }) => outcome === 'sent' || outcome === 'captured')
  const totals = new Map<string, number>()
  for (const one of counted) totals.set(idOf(one) ?? '', (totals.get(idOf(one) ?? '') ?? 0) + one.total)
  const ids = [...totals].sort(([, one], [, other]) => other - one).map(([id]) => id)
  const isOne = ids.length <= colours.length
  const named = isOne ? ids : ids.slice(0, colours.length - 1)
  const of = (wanted: readonly string[]) =>
    added(
      sent,
      counted.filter((one) => wanted.includes(idOf(one) ?? '')),
    )
  const series = named.map((id, place) => ({
    name: id === 'none' ? 'No provider' : nameOf(id),
    colour: colours[place] ?? 'grey',
    behind: deliveredBehind({ [filter]: id }),
    counts: of([id]),
  }))
  if (isOne) return series
  const others = ids.slice(named.length)
  const behind = deliveredBehind({ [filter]: others.join(',') })
  return [...series, { name: 'Others', colour: 'grey', behind, counts: of(others) }]
}

const byTime = (times: Schemas['DeliveryTimes'] | undefined): Series[] =>
  (times?.data ?? []).slice(0, colours.length).map((line, place) => ({
    name: nameOfStep(line.channel ?? ''),
    colour: colours[place] ?? 'grey',
    behind: deliveredBehind({ channel: line.channel ?? '' }),
    counts: (line.steps ?? []).map(({ p95Ms }) => p95Ms),
  }))

export function OverTime({
  messages,
  failedSteps,
  sent,
  times,
}: {
  messages: Counts
  failedSteps: Counts
  sent: Counts
  times: Schemas['DeliveryTimes'] | undefined
}) {
  const go = useGo()
  const providerName = useProviderName()
  const [by, setBy] = useState<By>('result')
  const isTime = by === 'time'
  const starts = isTime ? (times?.starts ?? []) : messages.starts
  const series =
    by === 'result'
      ? byResult(messages, failedSteps)
      : by === 'channel'
        ? byGroup(sent, ({ channel }) => channel, nameOfStep, 'channel')
        : by === 'provider'
          ? byGroup(sent, ({ provider }) => provider, providerName, 'provider')
          : byTime(times)
  return (
    <Section
      title={isTime ? 'Time to deliver' : 'Messages'}
      actions={
        <Choice
          label="What to show over time"
          value={by}
          onChange={setBy}
          options={[
            ['result', 'Results'],
            ['channel', 'Channels'],
            ['provider', 'Providers'],
            ['time', 'Time to deliver'],
          ]}
        />
      }
    >
      <div className="p-4">
        {series.length === 0 ? (
          <Empty icon="overview" title={isTime ? 'Nothing was delivered in this period' : 'No messages in this period'}>
            {isTime ? 'Captured messages reach no one, so they have no time.' : 'They appear within seconds.'}
          </Empty>
        ) : (
          <Suspense fallback={<Loading rows={5} />}>
            <Chart
              key={by}
              label={isTime ? 'Time to deliver' : 'Messages over time'}
              kind={isTime ? 'lines' : 'bars'}
              unit={isTime ? '95 % delivered within' : `per ${messages.step}`}
              starts={starts}
              series={series}
              {...(isTime ? { format: duration } : {})}
              // No list has messages and failed steps at once.
              {...(by === 'result' ? {} : { behindAll: deliveredBehind() })}
              onPoint={({ from, to, behind = { to: '/activity/messages' } }) =>
                go(behind.to, { ...behind.search, after: from, before: new Date(Date.parse(to) - 1).toISOString() })
              }
            />
          </Suspense>
        )}
      </div>
    </Section>
  )
}
