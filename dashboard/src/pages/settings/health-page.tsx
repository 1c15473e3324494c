// Health: what the checks found, what waits, what was given up, how long data is kept.
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, Toggle } from '../../ui/controls.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Answered, Empty, Section } from '../../ui/page.tsx'
import { duration, exactTime, Time } from '../../ui/time.tsx'
import { runChecks } from './health-checks.ts'
import { SettingsFrame } from './settings-frame.tsx'

const refreshMs = 3_000
const lanes: Readonly<Record<string, string>> = { direct: 'People named directly', fan_out: 'Topics and broadcasts' }

export function HealthPage() {
  const mayChange = useMayChange()
  const queue = useAsk(['overview', 'queue'], () => answerOf(client.GET('/v1/counts/queue')), { everyMs: refreshMs })
  const buried = useAsk(['buried'], () => answerOf(client.GET('/v1/buried', { params: { query: { limit: 50 } } })))
  const retention = useAsk(['retention'], () => answerOf(client.GET('/v1/retention')))
  const environment = useAsk(['environment'], () => answerOf(client.GET('/v1/environments/me')))
  const again = useChange(
    (id: string) => answerOf(client.POST('/v1/buried/{buriedId}/redrive', { params: { path: { buriedId: id } } })),
    { touches: ['buried', 'overview'], says: 'It is tried again' },
  )
  const capture = useChange(
    (on: boolean) => answerOf(client.PATCH('/v1/environments/me', { body: { configurations: { capture: on } } })),
    {
      touches: ['environment'],
      says: (_data, on) => (on ? 'Everything is captured from now on' : 'Messages are sent again'),
    },
  )
  return (
    <SettingsFrame
      title="Health"
      lead="Whether all is well, what waits, what was abandoned, and how long data is kept."
    >
      <Checks />
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-2">
        <Section title="Queue">
          <Answered of={queue} rows={4}>
            {({ lanes: all }) => (
              <table className="w-full text-left">
                <thead className="text-xs text-ink-3">
                  <tr className="border-b border-line">
                    <th className="h-9 pl-4 font-medium">Lane</th>
                    <th className="text-right font-medium">Due</th>
                    <th className="text-right font-medium max-sm:hidden">In progress</th>
                    <th className="text-right font-medium">Waiting</th>
                    <th className="pr-4 text-right font-medium">Oldest</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((lane) => (
                    <tr key={`${lane.queue}${lane.lane}`} className="border-b border-line last:border-0">
                      <td className="h-9 pl-4">
                        {lanes[lane.lane] ?? lane.lane}{' '}
                        <span className="text-ink-3">{lane.queue === 'jobs' ? 'steps' : 'tasks'}</span>
                      </td>
                      <td className="text-right">{lane.due.toLocaleString('en')}</td>
                      <td className="text-right max-sm:hidden">{lane.inHand.toLocaleString('en')}</td>
                      <td className="text-right">{lane.waiting.toLocaleString('en')}</td>
                      <td className="pr-4 text-right text-ink-2">{lane.due === 0 ? '–' : duration(lane.oldestMs)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Answered>
        </Section>
        <Section title="Abandoned">
          <Answered of={buried} rows={3}>
            {({ data }) =>
              data.length === 0 ? (
                <Empty icon="check" title="Nothing was abandoned">
                  Work that keeps failing because of internal errors is listed here.
                </Empty>
              ) : (
                <ul className="divide-y divide-line">
                  {data.map((one) => (
                    <li key={one._id} className="flex items-center gap-3 px-4 py-2.5">
                      <span className="min-w-0 flex-1">
                        {one.reason}
                        <span className="block text-xs text-ink-3">
                          {one.kind === 'job' ? 'A step' : one.task}, <Time at={one.buriedAt} />
                        </span>
                      </span>
                      {mayChange && (
                        <Button icon="again" busy={again.isPending} onClick={() => again.mutate(one._id)}>
                          Try again
                        </Button>
                      )}
                    </li>
                  ))}
                </ul>
              )
            }
          </Answered>
        </Section>
        <Section title="Sending">
          <div className="p-4">
            <Answered of={environment} rows={2}>
              {({ configurations }) => (
                <Toggle
                  label="Capture everything"
                  hint="Whatever would go out by e-mail, SMS, push or chat is kept in the outbox instead."
                  checked={configurations.capture}
                  disabled={!mayChange || capture.isPending}
                  onChange={(on) => capture.mutate(on)}
                />
              )}
            </Answered>
          </div>
        </Section>
        <Section title="Retention">
          <Answered of={retention} rows={3}>
            {(one) => (
              <dl className="grid grid-cols-[140px_minmax(0,1fr)] gap-y-2 p-4">
                <dt className="text-ink-3">Kept for</dt>
                <dd>{one.retentionDays === null ? 'ever' : `${one.retentionDays} days`}</dd>
                <dt className="text-ink-3">Oldest event</dt>
                <dd>{one.oldestEventAt === null ? 'none yet' : exactTime(one.oldestEventAt)}</dd>
                <dt className="text-ink-3">Next to go</dt>
                <dd>{one.nextDrop === null ? 'nothing' : `${one.nextDrop.month}, ${exactTime(one.nextDrop.at)}`}</dd>
              </dl>
            )}
          </Answered>
        </Section>
      </div>
    </SettingsFrame>
  )
}

const looks = {
  ok: { icon: 'check', colour: 'text-green', word: 'Well' },
  warning: { icon: 'warning', colour: 'text-amber', word: 'Look at it' },
  failed: { icon: 'cross', colour: 'text-red', word: 'Broken' },
} as const

function Checks() {
  const checks = useAsk(['health-checks'], runChecks)
  return (
    <Section
      title="Checks"
      actions={
        <Button icon="again" busy={checks.isFetching} onClick={() => void checks.refetch()}>
          Check again
        </Button>
      }
    >
      <Answered of={checks}>
        {(all) => (
          <ul aria-label="Checks" className="divide-y divide-line">
            {all.map(({ name, status, message, advice, to }) => (
              <li key={name} className="flex gap-3 px-4 py-2.5">
                <Icon name={looks[status].icon} className={`mt-0.5 ${looks[status].colour}`} />
                <span className="sr-only">{looks[status].word}</span>
                <span className="w-32 shrink-0 font-medium max-sm:w-24">{name}</span>
                <span className="min-w-0 flex-1 text-ink-2">
                  {message}{' '}
                  {advice !== undefined &&
                    (to === undefined ? (
                      advice
                    ) : (
                      <EnvLink to={to} className="link">
                        {advice}
                      </EnvLink>
                    ))}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Answered>
      <p className="border-t border-line px-4 py-2.5 text-xs text-ink-3">
        On the machine itself, <code className="font-mono">npx posthorn doctor</code> also checks the settings, the
        database, the keys and the clocks.
      </p>
    </Section>
  )
}
