// What a person prefers: channels for everything, and for each workflow.
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useMayChange } from '../../session.tsx'
import { Toggle } from '../../ui/controls.tsx'
import { nameOfStep } from '../../ui/icons.tsx'
import { Answered, Empty, Notice, Section } from '../../ui/page.tsx'
import { exactTime } from '../../ui/time.tsx'
import { ScheduleForm } from './schedule.tsx'

interface Change {
  readonly workflowId?: string
  readonly channels?: Record<string, boolean>
  readonly schedule?: object
}

export function Preferences({ subscriberId, timezone }: { subscriberId: string; timezone: string | undefined }) {
  const mayChange = useMayChange('subscribers:write')
  const path = { subscriberId }
  const preferences = useAsk(['preferences', subscriberId], () =>
    answerOf(client.GET('/v2/subscribers/{subscriberId}/preferences', { params: { path } })),
  )
  const save = useChange(
    (body: Change) => answerOf(client.PATCH('/v2/subscribers/{subscriberId}/preferences', { params: { path }, body })),
    { touches: ['preferences'], says: 'The preference is saved' },
  )
  const toggles = (
    channels: Record<string, boolean | undefined>,
    workflowId: string | undefined,
    disabled: boolean,
  ) => (
    <div className="flex flex-wrap gap-x-6 gap-y-3">
      {Object.entries(channels).map(([channel, on]) => (
        <Toggle
          key={channel}
          label={nameOfStep(channel)}
          checked={on === true}
          disabled={disabled || !mayChange || save.isPending}
          onChange={(next) =>
            save.mutate({ ...(workflowId === undefined ? {} : { workflowId }), channels: { [channel]: next } })
          }
        />
      ))}
    </div>
  )
  return (
    <Answered of={preferences}>
      {({ global, workflows }) => (
        <div className="flex flex-col gap-5">
          <Section title="All workflows">
            <div className="flex flex-col gap-3 p-4">
              {global.doNotDisturbUntil !== undefined && (
                <Notice tone="info">Does not want to be disturbed until {exactTime(global.doNotDisturbUntil)}.</Notice>
              )}
              {toggles(global.channels, undefined, false)}
            </div>
          </Section>
          <ScheduleForm
            key={subscriberId}
            schedule={global.schedule}
            timezone={timezone}
            disabled={!mayChange}
            busy={save.isPending}
            onSave={(schedule, onSaved) => save.mutate({ schedule }, { onSuccess: onSaved })}
          />
          <Section title="By workflow">
            {workflows.length === 0 ? (
              <Empty icon="workflow" title="There is no workflow yet" />
            ) : (
              <ul className="divide-y divide-line">
                {workflows.map((one) => (
                  <li
                    key={one.workflow.identifier}
                    className="flex flex-col gap-2 px-4 py-3 lg:flex-row lg:items-center"
                  >
                    <span className="min-w-0 flex-1 font-medium">
                      {one.workflow.name}
                      {one.workflow.critical && (
                        <span className="block text-xs font-normal text-ink-3">
                          Critical: it is sent whatever people prefer.
                        </span>
                      )}
                    </span>
                    {toggles(one.channels, one.workflow.identifier, one.workflow.critical)}
                  </li>
                ))}
              </ul>
            )}
          </Section>
        </div>
      )}
    </Answered>
  )
}
