// Start: one click makes a subscriber and a workflow, triggers it, and shows on this page what arrives.
import { useState } from 'react'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { useEnvironment, useMayChange } from '../../session.tsx'
import { Button, buttonClass, TextField } from '../../ui/controls.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MessageFrame } from '../../ui/message-frame.tsx'
import { Empty, Fault, Notice, Page } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { outcomeOf } from '../activity/outcome.ts'
import { firstWorkflow, firstWorkflowId } from './first-workflow.ts'
import { Snippets } from './snippets.tsx'

const refreshMs = 1_000

interface Person {
  readonly subscriberId: string
  readonly firstName: string
  readonly email: string
}

const ada: Person = { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' }

/** A different number each time, to distinguish notifications. */
const orderNumber = () => Math.floor(1_000 + Math.random() * 9_000)

export function StartPage() {
  const environment = useEnvironment()
  const mayChange = useMayChange('workflows:write')
  const [person, setPerson] = useState(ada)
  const [transactionId, setTransactionId] = useState<string>()
  const [sentTo, setSentTo] = useState(ada)
  const send = useChange(
    async (to: Person) => {
      const found = await answerOf(
        client.GET('/v1/workflows', { params: { query: { query: firstWorkflow.name, limit: 10 } } }),
      )
      if (!found.data.some((one) => one.triggers[0]?.identifier === firstWorkflowId)) {
        await answerOf(client.POST('/v1/workflows', { body: firstWorkflow as never }))
      }
      return answerOf(
        client.POST('/v1/events/trigger', {
          body: { name: firstWorkflowId, to, payload: { order: { id: orderNumber(), items: 3 } } } as never,
        }),
      )
    },
    {
      touches: ['workflows', 'activity', 'overview'],
      quiet: true,
      onDone: (answer, to) => {
        setSentTo(to)
        setTransactionId((answer as { transactionId?: string }).transactionId)
      },
    },
  )
  return (
    <Page
      title="Send your first notification"
      lead="One click creates a subscriber and a workflow, and triggers it. The messages appear on this page."
    >
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)] lg:grid-rows-[auto_1fr]">
        <section className="card flex flex-col gap-4 p-5">
          <Steps person={person} />
          <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
            <TextField
              label="Name"
              value={person.firstName}
              maxLength={80}
              onText={(firstName) => setPerson({ ...person, firstName })}
            />
            <TextField
              label="E-mail address"
              value={person.email}
              maxLength={200}
              onText={(email) => setPerson({ ...person, email })}
            />
          </div>
          <Fault error={send.error} />
          {mayChange ? (
            <Button
              look="primary"
              icon="send"
              busy={send.isPending}
              className="h-10 text-sm"
              onClick={() => send.mutate(person)}
            >
              {transactionId === undefined ? 'Send the notification' : 'Send another'}
            </Button>
          ) : (
            <Notice tone="info">You may only read here. Sign in as someone who may write to send.</Notice>
          )}
          <p className="text-xs text-ink-3">
            {environment.name === 'Production'
              ? 'This is Production: if an e-mail account is connected, the e-mail is really sent.'
              : 'Development captures e-mails: nothing is sent until you connect an account.'}
          </p>
        </section>
        <Arrivals transactionId={transactionId} person={sentTo} />
        <Snippets person={person} />
      </div>
    </Page>
  )
}

function Steps({ person }: { person: Person }) {
  const steps = [
    ['people', `A subscriber, ${person.firstName || person.subscriberId}`],
    ['workflow', 'A workflow with an in-app message and an e-mail'],
    ['send', 'An event that triggers it'],
  ] as const
  return (
    <ol className="flex flex-col gap-2">
      {steps.map(([icon, text], index) => (
        <li key={icon} className="flex items-center gap-2.5">
          <span className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-bg text-xs font-medium text-accent">
            {index + 1}
          </span>
          {text}
        </li>
      ))}
    </ol>
  )
}

function Arrivals({ transactionId, person }: { transactionId: string | undefined; person: Person }) {
  const isOn = transactionId !== undefined
  const watch = { enabled: isOn, everyMs: refreshMs }
  const activity = useAsk(
    ['start', 'activity', transactionId],
    () =>
      answerOf(
        client.GET('/v1/notifications', { params: { query: { transactionId: [transactionId ?? ''], limit: 1 } } }),
      ),
    watch,
  )
  const mail = useAsk(
    ['start', 'mail', transactionId],
    async () => {
      const { data } = await answerOf(
        client.GET('/v1/outbox', { params: { query: { transactionId: transactionId ?? '', limit: 1 } } }),
      )
      const [first] = data
      return first === undefined
        ? null
        : answerOf(client.GET('/v1/outbox/{messageId}', { params: { path: { messageId: first._id } } }))
    },
    watch,
  )
  const feed = useAsk(
    ['start', 'feed', person.subscriberId, transactionId],
    () =>
      answerOf(
        client.GET('/v1/subscribers/{subscriberId}/notifications/feed', {
          params: { path: { subscriberId: person.subscriberId }, query: { limit: 4 } },
        }),
      ),
    watch,
  )
  const notification = activity.data?.data[0]
  const html = (mail.data?.message as { html?: string } | undefined)?.html
  return (
    <div className="flex min-w-0 flex-col gap-5 lg:col-start-2 lg:row-span-2 lg:row-start-1">
      <section className="card" aria-label="Inbox">
        <Head icon="bell" title={`${person.firstName || person.subscriberId}’s inbox`} hint="In the app" />
        {feed.data === undefined || feed.data.data.length === 0 ? (
          <Empty icon="bell" title={isOn ? 'On its way …' : 'Nothing here yet'} />
        ) : (
          <ul className="divide-y divide-line" aria-live="polite">
            {feed.data.data.map((item) => (
              <li key={item._id} className="arrive flex gap-3 px-4 py-3">
                <span className={`mt-1.5 size-2 shrink-0 rounded-full ${item.read ? 'bg-line-2' : 'bg-accent'}`} />
                <span className="min-w-0 flex-1">{typeof item.content === 'string' ? item.content : ''}</span>
                <span className="text-xs text-ink-3">
                  <Time at={item.createdAt} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
      <section className="card" aria-label="Captured e-mail">
        <Head
          icon="mail"
          title={mail.data?.subject ?? 'E-mail'}
          hint={mail.data == null ? 'Captured' : `To ${mail.data.to.join(', ')}`}
        />
        {html === undefined ? (
          <Empty
            icon="mail"
            title={
              isOn
                ? notification !== undefined && outcomeOf(notification.jobs) === 'completed'
                  ? 'The e-mail was sent'
                  : 'On its way …'
                : 'Nothing here yet'
            }
          />
        ) : (
          <div className="p-3">
            <MessageFrame html={html} images={false} title={mail.data?.subject ?? 'E-mail'} height="h-[280px]" />
          </div>
        )}
      </section>
      {notification !== undefined && (
        <section className="card flex flex-wrap items-center gap-3 px-4 py-3" aria-label="What happened">
          <Status state={outcomeOf(notification.jobs)} />
          <span className="min-w-0 flex-1">Every step is recorded.</span>
          <EnvLink to={`/activity/${notification._id}`} className={buttonClass('plain')}>
            See what happened
          </EnvLink>
          <EnvLink to={`/workflows/${notification._templateId}`} className={buttonClass('plain')}>
            Change the words
          </EnvLink>
        </section>
      )}
    </div>
  )
}

function Head({ icon, title, hint }: { icon: 'bell' | 'mail'; title: string; hint: string }) {
  return (
    <header className="flex min-h-11 items-center gap-2 border-b border-line px-4 py-2">
      <Icon name={icon} className="text-ink-2" />
      <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">{title}</h2>
      <span className="truncate text-xs text-ink-3">{hint}</span>
    </header>
  )
}
