// Why a person was notified by a workflow, or was not.
import { answerOf, client } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { buttonClass } from '../../ui/controls.tsx'
import { Icon, iconOfStep } from '../../ui/icons.tsx'
import { Answered, Empty } from '../../ui/page.tsx'
import { readable } from '../../ui/sentences.ts'
import { Status } from '../../ui/status.tsx'
import { exactTime } from '../../ui/time.tsx'
import { identifierOf, useWorkflows, WorkflowPicker } from '../workflows/workflow-picker.tsx'

export function WhySubscriber({
  subscriberId,
  workflow,
  onWorkflow,
}: {
  subscriberId: string
  workflow: string | undefined
  onWorkflow: (workflow: string) => void
}) {
  const newest = useWorkflows('')
  const first = newest.data?.data[0]
  const chosen = workflow ?? (first === undefined ? undefined : identifierOf(first))
  const why = useAsk(
    ['why', subscriberId, chosen],
    () =>
      answerOf(
        client.GET('/v1/subscribers/{subscriberId}/why', {
          params: { path: { subscriberId }, query: { workflow: chosen ?? '' } },
        }),
      ),
    { enabled: chosen !== undefined },
  )
  if (newest.data !== undefined && chosen === undefined) {
    return (
      <div className="card">
        <Empty icon="workflow" title="There is no workflow yet" />
      </div>
    )
  }
  return (
    <div className="card flex flex-col gap-4 p-4">
      <div className="max-w-sm">
        <p aria-hidden className="mb-1 font-medium">
          Workflow
        </p>
        <WorkflowPicker
          label="Workflow"
          value={chosen}
          onPick={(one) => one !== undefined && onWorkflow(identifierOf(one))}
        />
      </div>
      <Answered of={why} rows={4}>
        {(one) => (
          <div className="flex flex-col gap-4">
            <p className="text-base font-medium">{readable(one.summary)}</p>
            {one.at !== undefined && <p className="text-xs text-ink-3">{exactTime(one.at)}</p>}
            {one.reasons?.map((reason) => (
              <p key={reason.code} className="flex gap-2 text-ink-2">
                <Icon name="info" className="mt-0.5" /> {readable(reason.sentence)}
              </p>
            ))}
            <ul className="flex flex-col gap-3">
              {one.steps.map((step) => (
                <li key={step.stepId} className="flex gap-3">
                  <Icon name={iconOfStep(step.type)} className="mt-0.5 text-ink-2" />
                  <div className="min-w-0">
                    <p className="flex flex-wrap items-center gap-2 font-medium">
                      {step.name} <Status state={step.status} />
                    </p>
                    <p className="text-ink-2">{readable(step.sentence)}</p>
                  </div>
                </li>
              ))}
            </ul>
            {one.notificationId !== undefined && (
              <div>
                <EnvLink to={`/activity/${one.notificationId}`} className={buttonClass('plain')}>
                  Open the notification
                </EnvLink>
              </div>
            )}
          </div>
        )}
      </Answered>
    </div>
  )
}
