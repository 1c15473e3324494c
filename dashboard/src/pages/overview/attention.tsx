// What needs attention: failures by what went wrong, buried work, integrations that are off, suppressed addresses.
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

export function Attention({
  queue,
  failures,
  after,
}: {
  queue: Schemas['QueueCounts'] | undefined
  failures: Schemas['CountedFailures'] | undefined
  after: string
}) {
  const providerName = useProviderName()
  const suppressions = useAsk(['suppressions', 'count'], () =>
    answerOf(client.GET('/v1/suppressions', { params: { query: { limit: 1 } } })),
  )
  const buried = (queue?.buried.jobs ?? 0) + (queue?.buried.tasks ?? 0)
  const suppressed = suppressions.data?.totalCount ?? 0
  const failed = failures?.data ?? []
  const isCalm = buried === 0 && suppressed === 0 && failed.length === 0
  return (
    <Section title="Needs attention">
      {isCalm ? (
        <Empty icon="check" title="All is well">
          No failures in this period, nothing is stuck, and no addresses are suppressed.
        </Empty>
      ) : (
        <ul className="divide-y divide-line">
          {failed.map((one) => (
            <li key={`${one.code}${one.channel}${one.provider}${one.reason}`} className="flex gap-3 px-4 py-3">
              <Icon
                name={hasFailed(one) ? 'cross' : 'warning'}
                className={`mt-0.5 ${hasFailed(one) ? 'text-red' : 'text-amber'}`}
              />
              <div className="min-w-0 flex-1">
                <p>{one.detail}</p>
                <p className="text-xs text-ink-3" title={one.reason}>
                  {nameOfStep(one.channel)}
                  {one.provider !== 'none' && ` by ${providerName(one.provider)}`}
                  {unreachable.has(one.code) && ', skipped'}
                </p>
              </div>
              <EnvLink {...listOf(one, after)} className="link text-right font-medium">
                {one.count.toLocaleString('en')}
              </EnvLink>
            </li>
          ))}
          {failed.length > 0 && <SendAllAgain />}
          {buried > 0 && (
            <li className="flex gap-3 px-4 py-3">
              <Icon name="warning" className="mt-0.5 text-amber" />
              <span className="flex-1">Work that was abandoned after repeated internal errors</span>
              <EnvLink to="/settings/health" className="link font-medium">
                {buried}
              </EnvLink>
            </li>
          )}
          {suppressed > 0 && (
            <li className="flex gap-3 px-4 py-3">
              <Icon name="ban" className="mt-0.5 text-ink-3" />
              <span className="flex-1">Suppressed addresses: nothing is sent to them</span>
              <EnvLink to="/settings/suppressions" className="link font-medium">
                {suppressed.toLocaleString('en')}
              </EnvLink>
            </li>
          )}
        </ul>
      )}
    </Section>
  )
}

type Failure = Schemas['CountedFailures']['data'][number]

/** There is no address to send to, or it is suppressed: the step is skipped, and the notification goes on. */
const unreachable: ReadonlySet<string> = new Set([
  'noEmail',
  'noPhone',
  'noChannel',
  'noPushChannel',
  'noWebhookUrl',
  'noDeviceTokens',
  'payloadAddressIgnored',
  'suppressed',
])

const hasFailed = ({ outcome, code }: Failure): boolean => outcome === 'failed' && !unreachable.has(code)

/** The failed steps that it counts; of what did not fail, the messages that were not sent, or perhaps were. */
function listOf(one: Failure, after: string): { to: string; search: Record<string, string> } {
  const { channel, provider, code, reason } = one
  const isCalled = provider !== 'none'
  if (!hasFailed(one)) {
    const isError = reason !== undefined && unreachable.has(code)
    // By a reason, what was removed cannot be asked for.
    const why = { ...(isCalled ? { provider } : {}), ...(isError ? { reason } : { removed: 'with' }) }
    return { to: '/activity/messages', search: { status: 'warning', channel, ...why, after } }
  }
  const why = { failedReason: code, ...(isCalled ? { failedProvider: provider } : {}) }
  return { to: '/activity', search: { failed: channel, ...why, after } }
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
