// The steps of a notification in order: what each did, when, why, and the evidence.
import { Fragment } from 'react'
import type { Schemas } from '../../api.ts'
import { CopyText } from '../../ui/copy.tsx'
import { Icon, iconOfStep, nameOfStep } from '../../ui/icons.tsx'
import { operatorWord, readable } from '../../ui/sentences.ts'
import { Status, shownState } from '../../ui/status.tsx'
import { clockTime, duration, exactTime } from '../../ui/time.tsx'
import { useProviderName } from '../integrations/provider-names.ts'
import { stateOfJob } from './outcome.ts'

type Detail = Schemas['ActivityDetail']
type Job = Schemas['ActivityJobDetail']
type WhyStep = Schemas['WhyStep']

const rings = {
  green: 'border-green text-green',
  blue: 'border-blue text-blue',
  amber: 'border-amber text-amber',
  red: 'border-red text-red',
  violet: 'border-violet text-violet',
  grey: 'border-line-2 text-ink-3',
}

export function Timeline({ detail, why }: { detail: Detail; why: Schemas['Why'] | undefined }) {
  const startedAt = new Date(detail.createdAt).getTime()
  return (
    <ol className="flex flex-col">
      <Point icon="send" tone="grey" last={detail.jobs.length === 0}>
        <p>
          <span className="font-medium">Accepted</span>{' '}
          <time dateTime={detail.createdAt} title={exactTime(detail.createdAt)} className="text-ink-3">
            {clockTime(detail.createdAt)}
          </time>
        </p>
      </Point>
      {detail.jobs.map((job, index) => (
        <Fragment key={job._id}>
          <Gap ms={(endOf(job) ?? 0) - lastEndBefore(detail, index, startedAt)} />
          <Step
            job={job}
            why={why?.steps.find(({ stepId }) => stepId === job.step._id)}
            startedAt={startedAt}
            last={index === detail.jobs.length - 1}
          />
        </Fragment>
      ))}
    </ol>
  )
}

const endOf = (job: Job): number | undefined => {
  const last = job.executionDetails.at(-1)?.createdAt
  return last === undefined ? undefined : new Date(last).getTime()
}

const lastEndBefore = ({ jobs }: Detail, index: number, startedAt: number): number =>
  Math.max(startedAt, ...jobs.slice(0, index).map((job) => endOf(job) ?? 0))

const gapShownMs = 1_000

/** The time between two steps: ten times as long is a little further apart, so that an hour and a day both fit. */
function Gap({ ms }: { ms: number }) {
  if (ms < gapShownMs) return null
  const height = 20 + 4 * Math.round(3 * Math.log10(ms / gapShownMs))
  return (
    <li className="relative -mt-5 mb-1 flex items-center" style={{ height: height + 20 }}>
      <span className="absolute inset-y-0 left-[13px] border-l border-dashed border-line-2" />
      <span className="pl-10 text-xs text-ink-3">{duration(ms)} later</span>
    </li>
  )
}

function Point({
  icon,
  tone,
  last,
  children,
}: {
  icon: Parameters<typeof Icon>[0]['name']
  tone: keyof typeof rings
  last: boolean
  children: React.ReactNode
}) {
  return (
    <li className="relative flex gap-3 pb-5 last:pb-0">
      {!last && <span className="absolute top-7 bottom-0 left-[13px] w-px bg-line-2" />}
      <span
        className={`z-10 flex size-7 shrink-0 items-center justify-center rounded-full border bg-bg ${rings[tone]}`}
      >
        <Icon name={icon} size={14} />
      </span>
      <div className="min-w-0 flex-1 pt-1">{children}</div>
    </li>
  )
}

function Step({ job, why, startedAt, last }: { job: Job; why: WhyStep | undefined; startedAt: number; last: boolean }) {
  const providerName = useProviderName()
  const state = stateOfJob(job)
  const over = job.executionDetails.at(-1)?.createdAt
  // The provider of a step that asked none is the one that it would go out by.
  const asked = job.executionDetails.findLast(({ providerId }) => providerId !== undefined)?.providerId
  const retries = job.executionDetails.filter(({ isRetry }) => isRetry).length
  return (
    <Point icon={iconOfStep(job.type)} tone={shownState(state).tone} last={last}>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium">{why?.name || job.step.name || nameOfStep(job.type)}</span>
        <Status state={state} />
        {asked !== undefined && ['email', 'sms', 'push', 'chat'].includes(job.type) && (
          <span className="text-xs text-ink-3">{providerName(asked)}</span>
        )}
        {over !== undefined && (
          <span className="text-xs text-ink-3" title={exactTime(over)}>
            after {duration(new Date(over).getTime() - startedAt)}
          </span>
        )}
        {retries > 0 && <span className="text-xs text-amber">{retries === 1 ? '1 retry' : `${retries} retries`}</span>}
      </div>
      {why !== undefined && <p className="mt-1 text-ink-2">{readable(why.sentence)}</p>}
      {why?.nextAttemptAt !== undefined && (
        <p className="mt-1 text-xs text-amber">
          Next at {exactTime(why.nextAttemptAt)}, in {duration(new Date(why.nextAttemptAt).getTime() - Date.now())}
        </p>
      )}
      <Evidence job={job} why={why} />
    </Point>
  )
}

function Evidence({ job, why }: { job: Job; why: WhyStep | undefined }) {
  const providerName = useProviderName()
  const compared = (why?.reasons ?? []).flatMap(({ data }) => comparisonsOf(data))
  if (job.executionDetails.length === 0 && compared.length === 0) return null
  return (
    <details className="group mt-2" open={job.status === 'failed' || undefined}>
      <summary className="inline-flex cursor-pointer list-none items-center gap-1 rounded text-xs text-ink-2 hover:text-ink">
        <Icon name="right" size={10} className="transition-transform group-open:rotate-90" />
        Evidence
      </summary>
      <div className="mt-2 flex flex-col gap-3">
        {compared.length > 0 && (
          <table className="w-full text-left text-xs">
            <thead className="text-ink-3">
              <tr>
                <th className="pr-3 font-medium">Value</th>
                <th className="pr-3 font-medium">Was</th>
                <th className="pr-3 font-medium">Asked for</th>
                <th className="font-medium">Held</th>
              </tr>
            </thead>
            <tbody>
              {compared.map((one) => (
                <tr key={`${one.what}${one.was}${one.asked}`} className="border-t border-line">
                  <td className="py-1 pr-3 font-mono">{one.what}</td>
                  <td className="py-1 pr-3 font-mono">{one.was}</td>
                  <td className="py-1 pr-3 font-mono">{one.asked}</td>
                  <td className="py-1">{one.held ? 'yes' : 'no'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <ul className="flex flex-col divide-y divide-line rounded-md border border-line">
          {job.executionDetails.map((detail) => (
            <li key={detail._id} className="px-3 py-2 text-xs">
              <div className="flex flex-wrap items-baseline gap-x-2">
                <time dateTime={detail.createdAt} title={exactTime(detail.createdAt)} className="text-ink-3">
                  {clockTime(detail.createdAt)}
                </time>
                <span className={detail.status === 'Failed' ? 'text-red' : 'text-ink'}>{detail.detail}</span>
                {detail.providerId !== undefined && (
                  <span className="text-ink-3">{providerName(detail.providerId)}</span>
                )}
              </div>
              {detail.raw !== undefined && detail.raw !== '' && (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
                <pre tabIndex={0} className="prose-mono mt-1 max-h-48 overflow-auto rounded bg-bg-2 p-2">
                  {pretty(detail.raw)}
                </pre>
              )}
            </li>
          ))}
        </ul>
        <p className="text-xs text-ink-3">
          Step <CopyText text={job._id} />
        </p>
      </div>
    </details>
  )
}

interface Comparison {
  readonly what: string
  readonly was: string
  readonly asked: string
  readonly held: boolean
}

const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value))

/** What a condition compared, wherever the evidence holds it. */
function comparisonsOf(data: unknown): Comparison[] {
  if (Array.isArray(data)) return data.flatMap(comparisonsOf)
  if (typeof data !== 'object' || data === null) return []
  const one = data as Record<string, unknown>
  const field = one.field ?? one.filter
  if (typeof field === 'string' && ('expected' in one || 'actual' in one)) {
    const held = one.passed === true || one.held === true
    const what = [one.filter, one.field].filter((part) => typeof part === 'string').join(' ')
    return [
      {
        what,
        was: shown(one.actual),
        asked: `${operatorWord(String(one.operator ?? ''))} ${shown(one.expected)}`.trim(),
        held,
      },
    ]
  }
  return Object.values(one).flatMap(comparisonsOf)
}

function pretty(raw: string): string {
  try {
    return JSON.stringify(JSON.parse(raw), undefined, 2)
  } catch {
    return raw
  }
}
