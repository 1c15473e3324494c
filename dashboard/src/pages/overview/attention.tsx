// What needs attention: steps that failed and messages that were not sent, by cause, buried work, suppressed addresses.
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Icon, nameOfStep } from '../../ui/icons.tsx'
import { Empty, Section } from '../../ui/page.tsx'
import { failureWords } from '../activity/outcome.ts'
import { useProviderName } from '../integrations/provider-names.ts'
import type { To } from './links.ts'
import { buriedBehind, failedBehind, isWhole, suppressedBehind, unsentBehind } from './links.ts'
import type { SendingAgain } from './send-again.tsx'
import { Progress, SendAllAgain } from './send-again.tsx'

/** Failures first, the most frequent of them: more would hide what comes after them. */
const causesMax = 6

export function Attention({
  queue,
  causes,
  after,
  sending,
}: {
  queue: Schemas['QueueCounts'] | undefined
  /** Undefined where they could not be read. */
  causes: Schemas['FailureCauses'] | undefined
  after: string
  sending: SendingAgain
}) {
  const mayChange = useMayChange()
  const providerName = useProviderName()
  const suppressions = useAsk(['suppressions', 'count'], () =>
    answerOf(client.GET('/v1/suppressions', { params: { query: { limit: 1 } } })),
  )
  const buried = (queue?.buried.jobs ?? 0) + (queue?.buried.tasks ?? 0)
  const suppressed = suppressions.data?.totalCount ?? 0
  const shown = causes === undefined ? [] : causesOf(causes, after)
  const hasFailures = causes !== undefined && causes.steps.total > 0
  const { redrive } = sending
  const isCalm = buried === 0 && suppressed === 0 && shown.length === 0 && causes !== undefined && redrive === undefined
  return (
    <Section title="Needs attention">
      {isCalm ? (
        <Empty icon="check" title="All is well">
          No failures in this period, nothing is stuck, and no addresses are suppressed.
        </Empty>
      ) : (
        <ul className="divide-y divide-line">
          {causes === undefined && (
            <li className="flex gap-3 px-4 py-3">
              <Icon name="warning" className="mt-0.5 text-amber" />
              <span className="flex-1">The causes of failures could not be read</span>
              <AllFailures after={after} />
            </li>
          )}
          {shown.map(({ key, hasFailed, detail, channel, provider, count, behind }) => (
            <li key={key} className="flex gap-3 px-4 py-3">
              <Icon
                name={hasFailed ? 'cross' : 'warning'}
                className={`mt-0.5 ${hasFailed ? 'text-red' : 'text-amber'}`}
              />
              <div className="min-w-0 flex-1">
                <p>
                  <bdi>{detail}</bdi>
                </p>
                <p className="text-xs text-ink-3">
                  {nameOfStep(channel)}
                  {provider !== 'none' && ` at ${providerName(provider)}`}
                  {!hasFailed && provider === 'none' && ', skipped'}
                </p>
              </div>
              {isWhole(behind) ? (
                <EnvLink {...behind} className="link text-right font-medium">
                  {count}
                </EnvLink>
              ) : (
                <span className="text-right font-medium">{count}</span>
              )}
            </li>
          ))}
          {hasFailures && (
            <li className="px-4 py-3 text-right">
              <AllFailures after={after} />
            </li>
          )}
          {redrive !== undefined && <Progress redrive={redrive} />}
          {hasFailures && mayChange && redrive?.state !== 'running' && <SendAllAgain sending={sending} />}
          {buried > 0 && (
            <li className="flex gap-3 px-4 py-3">
              <Icon name="warning" className="mt-0.5 text-amber" />
              <span className="flex-1">Work that was abandoned after repeated internal errors</span>
              <EnvLink {...buriedBehind} className="link font-medium">
                {buried.toLocaleString('en')}
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

const AllFailures = ({ after }: { after: string }) => (
  <EnvLink {...failedBehind({ after })} className="link font-medium">
    All failures
  </EnvLink>
)

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
    ...{
      hasFailed: true,
      detail: failureWords(code, detail),
      channel,
      provider,
      of: count,
      count: shown(count, steps.isCapped),
    },
    behind: failedBehind({ channel, provider, code, after }),
  }))
  const unsent = messages.data.map((one) => ({
    key: `${one.channel} ${one.provider} ${one.errorId} unsent`,
    ...{
      hasFailed: false,
      detail: failureWords(one.errorId, one.detail),
      channel: one.channel,
      provider: one.provider,
      of: one.count,
    },
    count: shown(one.count, messages.isCapped),
    behind: unsentBehind(one, after),
  }))
  const byCount = (one: { of: number }, other: { of: number }) => other.of - one.of
  return [...failed.sort(byCount), ...unsent.sort(byCount)].slice(0, causesMax)
}
