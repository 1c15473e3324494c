// Health: what the checks found, what waits, what was given up.
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button } from '../../ui/controls.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Answered, Empty, Section } from '../../ui/page.tsx'
import { duration, Time } from '../../ui/time.tsx'
import { buriedName } from '../activity/task-names.ts'
import { buriedBehind } from '../overview/links.ts'
import { runChecks } from './health-checks.ts'
import { SettingsFrame } from './settings-frame.tsx'

const refreshMs = 3_000
/** Of what was abandoned; the rest is one click away. */
const shownMax = 5
const lanes: Readonly<Record<string, string>> = { direct: 'People named directly', fan_out: 'Topics and broadcasts' }

export function HealthPage() {
  const mayChange = useMayChange()
  const queue = useAsk(['overview', 'queue'], () => answerOf(client.GET('/v1/counts/queue')), { everyMs: refreshMs })
  const buried = useAsk(['buried'], () =>
    answerOf(client.GET('/v1/buried', { params: { query: { limit: shownMax } } })),
  )
  const again = useChange(
    (id: string) => answerOf(client.POST('/v1/buried/{buriedId}/redrive', { params: { path: { buriedId: id } } })),
    { touches: ['activity', 'buried', 'overview'], says: 'It is tried again' },
  )
  return (
    <SettingsFrame title="Health" lead="Whether all is well, what waits, and what was abandoned.">
      <Checks />
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-2">
        <Section title="Queue">
          <Answered of={queue} rows={4}>
            {({ lanes: all }) => (
              <table className="w-full text-left">
                <thead className="text-xs whitespace-nowrap text-ink-3">
                  <tr className="border-b border-line">
                    <th className="h-9 pl-4 font-medium">Lane</th>
                    <th className="px-2 text-right font-medium">Due</th>
                    <th className="px-2 text-right font-medium max-sm:hidden">In progress</th>
                    <th className="px-2 text-right font-medium">Waiting</th>
                    <th className="pr-4 pl-2 text-right font-medium">Oldest</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((lane) => (
                    <tr key={`${lane.queue}${lane.lane}`} className="border-b border-line last:border-0">
                      <td className="h-9 py-1.5 pl-4">
                        {lanes[lane.lane] ?? lane.lane}{' '}
                        <span className="block text-xs text-ink-3">{lane.queue === 'jobs' ? 'steps' : 'tasks'}</span>
                      </td>
                      {(['due', 'inHand', 'waiting'] as const).map((state) => (
                        <td key={state} className={`px-2 text-right ${state === 'inHand' ? 'max-sm:hidden' : ''}`}>
                          {lane[state] === 0 ? (
                            '0'
                          ) : (
                            <EnvLink
                              to="/activity/queue"
                              search={{ state, queue: lane.queue, lane: lane.lane }}
                              className="hover:underline"
                            >
                              {lane[state].toLocaleString('en')}
                            </EnvLink>
                          )}
                        </td>
                      ))}
                      <td className="pr-4 pl-2 text-right whitespace-nowrap text-ink-2">
                        {lane.due === 0 ? '–' : duration(lane.oldestMs)}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Answered>
        </Section>
        <Section
          title="Abandoned"
          actions={
            (buried.data?.data.length ?? 0) > 0 && (
              <EnvLink {...buriedBehind} className="link font-medium">
                All {buried.data?.totalCount?.toLocaleString('en')} abandoned
              </EnvLink>
            )
          }
        >
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
                          {buriedName(one)}, <Time at={one.buriedAt} />
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
            {all.map(({ name, status, message, advice, to, search }) => (
              <li key={name} className="flex gap-x-3 px-4 py-2.5 max-sm:flex-wrap">
                <Icon name={looks[status].icon} className={`mt-0.5 ${looks[status].colour}`} />
                <span className="sr-only">{looks[status].word}</span>
                <span className="w-32 shrink-0 font-medium max-sm:w-auto">{name}</span>
                <span className="min-w-0 flex-1 text-ink-2 max-sm:basis-full max-sm:pl-7">
                  {message}{' '}
                  {advice !== undefined &&
                    (to === undefined ? (
                      advice
                    ) : (
                      <EnvLink to={to} {...(search === undefined ? {} : { search })} className="link underline">
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
