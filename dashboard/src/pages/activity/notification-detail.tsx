// A notification: the verdict in one sentence, its steps as a timeline with their evidence, the message as the person saw it.
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, Choice, IconButton } from '../../ui/controls.tsx'
import { Code, CopyText, Json } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Answered, useTitle } from '../../ui/page.tsx'
import { readable } from '../../ui/sentences.ts'
import { Status } from '../../ui/status.tsx'
import { exactTime, Time } from '../../ui/time.tsx'
import { curlOf } from './curl.ts'
import { outcomeOf, personOf } from './outcome.ts'
import { SentMessages } from './sent-messages.tsx'
import { Timeline } from './timeline.tsx'

type Detail = Schemas['ActivityDetail']
const refreshMs = 2_000
const open = new Set(['queued', 'running', 'delayed', 'pending', 'retrying'])

interface Shown {
  /** As it stands in the address. */
  readonly tab: string | undefined
  onTab: (tab: Tab) => void
  onClose: () => void
}

export function NotificationDetail({ id, ...shown }: Shown & { id: string }) {
  const { onClose } = shown
  const path = { notificationId: id }
  const detail = useAsk(['notification', id], () =>
    answerOf(client.GET('/v1/notifications/{notificationId}', { params: { path } })),
  )
  const isOpen = detail.data === undefined || detail.data.jobs.some(({ status }) => open.has(status))
  const refresh = isOpen ? { everyMs: refreshMs } : {}
  const why = useAsk(
    ['notification', id, 'why', String(isOpen)],
    () => answerOf(client.GET('/v1/notifications/{notificationId}/why', { params: { path } })),
    { keeps: true, ...refresh },
  )
  return (
    <article className="card min-w-0" aria-label="Notification">
      <Answered of={detail} rows={8}>
        {(one) => <Whole detail={one} why={why.data} whyError={why.error} {...shown} />}
      </Answered>
      {detail.data === undefined && detail.error !== null && (
        <div className="flex justify-center pb-6">
          <Button onClick={onClose}>Back to the list</Button>
        </div>
      )}
    </article>
  )
}

const tabs = ['steps', 'message', 'data'] as const
type Tab = (typeof tabs)[number]

function Whole({
  detail,
  why,
  whyError,
  tab: asked,
  onTab,
  onClose,
}: Shown & {
  detail: Detail
  why: Schemas['Why'] | undefined
  whyError: Error | null
}) {
  useTitle(`${detail.template.name} to ${personOf(detail)}`)
  const tab: Tab = tabs.find((one) => one === asked) ?? 'steps'
  const messages = detail.jobs.flatMap((job) => job.messages.map((message) => ({ message, job })))
  return (
    <>
      <header className="flex items-start gap-2 border-b border-line p-4">
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-center gap-2">
            <Status state={outcomeOf(detail.jobs)} />
            {detail.isTest && <Status state="captured" />}
            <span className="text-xs text-ink-3">
              <Time at={detail.createdAt} /> · <CopyText text={detail._id} />
            </span>
          </div>
          <h2 className="mt-1.5 text-base font-semibold">
            <EnvLink
              to={`/workflows/${detail._templateId}`}
              className="underline decoration-line-2 underline-offset-4 hover:decoration-ink-2"
            >
              {detail.template.name}
            </EnvLink>{' '}
            <span className="font-normal text-ink-3">to</span>{' '}
            {detail.subscriber === undefined ? (
              personOf(detail)
            ) : (
              <EnvLink
                to={`/subscribers/${encodeURIComponent(detail.subscriber.subscriberId)}`}
                className="underline decoration-line-2 underline-offset-4 hover:decoration-ink-2"
              >
                {personOf(detail)}
              </EnvLink>
            )}
          </h2>
          <p className="mt-1 text-ink-2" data-testid="verdict">
            {why !== undefined ? readable(why.summary) : whyError === null ? 'Loading …' : whyError.message}
          </p>
        </div>
        <IconButton name="cross" label="Close the notification" onClick={onClose} />
      </header>
      <div className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2">
        <Choice
          label="What to show"
          value={tab}
          onChange={onTab}
          options={[
            ['steps', 'What happened'],
            ['message', messages.length === 1 ? 'The message' : `Messages (${messages.length})`],
            ['data', 'Data'],
          ]}
        />
        <Actions detail={detail} />
      </div>
      <div className="p-4">
        {tab === 'steps' && <Timeline detail={detail} why={why} />}
        {tab === 'message' && <SentMessages messages={messages} />}
        {tab === 'data' && (
          <div className="flex flex-col gap-4">
            <dl className="grid grid-cols-[120px_minmax(0,1fr)] gap-y-1.5">
              <dt className="text-ink-3">Accepted</dt>
              <dd>{exactTime(detail.createdAt)}</dd>
              <dt className="text-ink-3">Transaction</dt>
              <dd>
                <CopyText text={detail.transactionId} />
              </dd>
              {detail.topics.length > 0 && (
                <>
                  <dt className="text-ink-3">By topic</dt>
                  <dd>{detail.topics.map(({ topicKey }) => topicKey).join(', ')}</dd>
                </>
              )}
            </dl>
            <Labelled title="Payload">
              <Json label="payload" value={detail.payload} />
            </Labelled>
            <Labelled title="Trigger it again, as curl">
              <Code label="curl command" text={curlOf(detail)} />
            </Labelled>
            <Labelled title="The whole notification">
              <Json label="notification" value={detail} />
            </Labelled>
          </div>
        )}
      </div>
    </>
  )
}

const Labelled = ({ title, children }: { title: string; children: React.ReactNode }) => (
  <div className="flex flex-col gap-1.5">
    <h3 className="text-xs font-medium text-ink-3">{title}</h3>
    {children}
  </div>
)

type Action = 'redrive' | 'cancel' | 'retract'
const actions: Record<Action, { text: string; title: string; says: string; does: string }> = {
  redrive: {
    text: 'Send again',
    title: 'Send again',
    says: 'The failed steps run again',
    does: 'Failed steps run again with the same version of the workflow. Completed steps do not run again, so no message is sent twice.',
  },
  cancel: {
    text: 'Cancel',
    title: 'Cancel waiting steps',
    says: 'The waiting steps are cancelled',
    does: 'Steps that are waiting or have not started are cancelled. Messages that were sent are not affected.',
  },
  retract: {
    text: 'Take back',
    title: 'Take back',
    says: 'The notification was taken back',
    does: 'Waiting steps are cancelled, and in-app messages are removed from the feed. E-mails, SMS and push messages that were sent cannot be taken back.',
  },
}

function Actions({ detail }: { detail: Detail }) {
  const [asked, setAsked] = useState<Action>()
  const mayChange = useMayChange()
  const params = { params: { path: { notificationId: detail._id } } }
  const act = useChange(
    (action: Action): Promise<unknown> =>
      action === 'redrive'
        ? answerOf(client.POST('/v1/notifications/{notificationId}/redrive', params))
        : action === 'cancel'
          ? answerOf(client.POST('/v1/notifications/{notificationId}/cancel', params))
          : answerOf(client.POST('/v1/notifications/{notificationId}/retract', params)),
    {
      touches: ['notification', 'activity'],
      says: (_data, action) => actions[action].says,
      onDone: () => setAsked(undefined),
    },
  )
  const has = (...states: string[]) => detail.jobs.some(({ status }) => states.includes(status))
  const possible: Action[] = [
    ...(has('failed') ? (['redrive'] as const) : []),
    ...(has('queued', 'delayed', 'running') ? (['cancel'] as const) : []),
    ...(detail.jobs.some(({ messages }) => messages.some(({ channel }) => channel === 'in_app'))
      ? (['retract'] as const)
      : []),
  ]
  if (!mayChange) return null
  return (
    <div className="flex flex-wrap gap-2">
      {possible.map((action) => (
        <Button
          key={action}
          look={action === 'redrive' ? 'primary' : 'plain'}
          icon={action === 'redrive' ? 'again' : action === 'cancel' ? 'ban' : 'out'}
          onClick={() => setAsked(action)}
        >
          {actions[action].text}
        </Button>
      ))}
      {asked !== undefined && (
        <Dialog
          title={actions[asked].title}
          onClose={() => setAsked(undefined)}
          footer={
            <>
              <Button onClick={() => setAsked(undefined)}>Leave it as it is</Button>
              <Button look="primary" busy={act.isPending} onClick={() => act.mutate(asked)}>
                {actions[asked].text}
              </Button>
            </>
          }
        >
          <p className="text-ink-2">{actions[asked].does}</p>
        </Dialog>
      )}
    </div>
  )
}
