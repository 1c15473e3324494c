// What needs attention: steps that failed and messages that were not sent, by cause, buried work, suppressed addresses.
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button } from '../../ui/controls.tsx'
import { Icon, nameOfStep } from '../../ui/icons.tsx'
import { Empty, Section } from '../../ui/page.tsx'
import { useProviderName } from '../integrations/provider-names.ts'
import type { To } from './links.ts'
import { buriedBehind, failedBehind, suppressedBehind, unsentBehind } from './links.ts'

/** The most frequent ones: more would hide what comes after them. */
const causesMax = 6

export function Attention({
  queue,
  causes,
  after,
}: {
  queue: Schemas['QueueCounts'] | undefined
  causes: Schemas['FailureCauses'] | undefined
  after: string
}) {
  const providerName = useProviderName()
  const suppressions = useAsk(['suppressions', 'count'], () =>
    answerOf(client.GET('/v1/suppressions', { params: { query: { limit: 1 } } })),
  )
  const buried = (queue?.buried.jobs ?? 0) + (queue?.buried.tasks ?? 0)
  const suppressed = suppressions.data?.totalCount ?? 0
  const failed = causes === undefined ? [] : causesOf(causes, after)
  const isCalm = buried === 0 && suppressed === 0 && failed.length === 0
  return (
    <Section title="Needs attention">
      {isCalm ? (
        <Empty icon="check" title="All is well">
          No failures in this period, nothing is stuck, and no addresses are suppressed.
        </Empty>
      ) : (
        <ul className="divide-y divide-line">
          {failed.map(({ key, hasFailed, detail, channel, provider, count, behind }) => (
            <li key={key} className="flex gap-3 px-4 py-3">
              <Icon
                name={hasFailed ? 'cross' : 'warning'}
                className={`mt-0.5 ${hasFailed ? 'text-red' : 'text-amber'}`}
              />
              <div className="min-w-0 flex-1">
                <p>{detail}</p>
                <p className="text-xs text-ink-3">
                  {nameOfStep(channel)}
                  {provider !== 'none' && ` by ${providerName(provider)}`}
                  {!hasFailed && provider === 'none' && ', skipped'}
                </p>
              </div>
              <EnvLink {...behind} className="link text-right font-medium">
                {count}
              </EnvLink>
            </li>
          ))}
          {failed.some(({ hasFailed }) => hasFailed) && <SendAllAgain />}
          {buried > 0 && (
            <li className="flex gap-3 px-4 py-3">
              <Icon name="warning" className="mt-0.5 text-amber" />
              <span className="flex-1">Work that was abandoned after repeated internal errors</span>
              <EnvLink {...buriedBehind} className="link font-medium">
                {buried}
              </EnvLink>
            </li>
          )}
          {suppressed > 0 && (
            <li className="flex gap-3 px-4 py-3">
              <Icon name="ban" className="mt-0.5 text-ink-3" />
              <span className="flex-1">Suppressed addresses: nothing is sent to them</span>
              <EnvLink {...suppressedBehind} className="link font-medium">
                {suppressed.toLocaleString('en')}
              </EnvLink>
            </li>
          )}
        </ul>
      )}
    </Section>
  )
}

interface Cause {
  readonly key: string
  /** Otherwise it was skipped, or perhaps sent, and the notification went on. */
  readonly hasFailed: boolean
  readonly detail: string
  readonly channel: string
  readonly provider: string
  /** As it is shown. */
  readonly count: string
  readonly behind: To
}

/** Steps that failed, and messages that were not sent or perhaps were; each with the list that has as many. */
function causesOf({ steps, messages }: Schemas['FailureCauses'], after: string): Cause[] {
  const shown = (count: number, isCapped: boolean) => `${count.toLocaleString('en')}${isCapped ? '+' : ''}`
  const failed = steps.data.map(({ channel, provider, code, detail, count }) => ({
    key: `${channel} ${provider} ${code}`,
    ...{ hasFailed: true, detail, channel, provider, of: count, count: shown(count, steps.isCapped) },
    behind: failedBehind({ channel, provider, code, after }),
  }))
  const unsent = messages.data.map((one) => ({
    key: `${one.channel} ${one.provider} ${one.errorId} unsent`,
    ...{ hasFailed: false, detail: one.detail, channel: one.channel, provider: one.provider, of: one.count },
    count: shown(one.count, messages.isCapped),
    behind: unsentBehind(one, after),
  }))
  return [...failed, ...unsent].sort((one, other) => other.of - one.of).slice(0, causesMax)
}

const dayMs = 86_400_000

/** After the cause is fixed: everything that failed in the last day, tried again at a measured pace. */
function SendAllAgain() {
  const mayChange = useMayChange()
  const start = useChange(
    () =>
      answerOf(
        client.POST('/v1/redrives', {
          body: { filter: { from: new Date(Date.now() - dayMs).toISOString() } } as never,
        }),
      ),
    { touches: ['overview', 'activity'], says: 'Failed notifications of the last 24 hours are being resent' },
  )
  const started = start.data !== undefined && '_id' in start.data ? start.data._id : undefined
  if (!mayChange) return null
  if (started !== undefined) return <Progress redriveId={started} />
  return (
    <li className="flex flex-wrap items-center gap-3 px-4 py-3">
      <span className="min-w-0 flex-1 text-xs text-ink-2">
        After fixing the cause, resend everything that failed in the last 24 hours.
      </span>
      <Button icon="again" busy={start.isPending} onClick={() => start.mutate(undefined)}>
        Send again
      </Button>
    </li>
  )
}

const progressMs = 1_500

/** How far the sending has come, until it is done. */
function Progress({ redriveId }: { redriveId: string }) {
  const redrive = useQuery({
    queryKey: ['redrive', redriveId],
    queryFn: () => answerOf(client.GET('/v1/redrives/{redriveId}', { params: { path: { redriveId } } })),
    refetchInterval: ({ state }) => (state.data === undefined || state.data.state === 'running' ? progressMs : false),
  })
  const { state = 'running', matched = 0, redriven = 0, lookedAt = 0 } = redrive.data ?? {}
  return (
    <li aria-live="polite" className="flex flex-col gap-2 px-4 py-3">
      <p>
        {state === 'running' ? 'Sending again' : state === 'completed' ? 'Sent again' : 'Stopped'}:{' '}
        {redriven.toLocaleString('en')} of {matched.toLocaleString('en')} that failed
      </p>
      <progress aria-label="Sent again" className="w-full" value={redriven} max={Math.max(1, matched)} />
      <p className="text-xs text-ink-3">{lookedAt.toLocaleString('en')} notifications looked at.</p>
    </li>
  )
}
