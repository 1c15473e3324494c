// One captured message, with all its parts.
import { useState } from 'react'
import { answerOf, client, textOf } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, buttonClass, IconButton } from '../../ui/controls.tsx'
import { ConfirmByTyping } from '../../ui/dialog.tsx'
import { nameOfStep } from '../../ui/icons.tsx'
import { Bubble, EmailView } from '../../ui/message-frame.tsx'
import { Answered } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { exactTime } from '../../ui/time.tsx'

interface Parts {
  readonly from?: string
  readonly senderName?: string
  readonly replyTo?: string
  readonly cc?: string[]
  readonly html?: string
  readonly text?: string
  readonly content?: string
}

export function OutboxMessage({ id, onBack, onDeleted }: { id: string; onBack: () => void; onDeleted: () => void }) {
  const [deleting, setDeleting] = useState(false)
  const mayChange = useMayChange()
  const path = { messageId: id }
  const message = useAsk(['outbox', id], () => answerOf(client.GET('/v1/outbox/{messageId}', { params: { path } })))
  const remove = useChange(() => answerOf(client.DELETE('/v1/outbox/{messageId}', { params: { path } })), {
    touches: ['outbox'],
    says: 'The message is deleted',
    leaves: true,
    onDone: onDeleted,
  })
  return (
    <Answered of={message}>
      {(one) => {
        const parts = one.message as Parts
        const heads: (readonly [string, string | undefined])[] = [
          ['From', [parts.senderName, parts.from && `<${parts.from}>`].filter(Boolean).join(' ')],
          ['To', one.to.join(', ')],
          ['Cc', parts.cc?.join(', ')],
          ['Reply to', parts.replyTo],
          ['Captured', exactTime(one.capturedAt)],
        ]
        return (
          <article aria-label={one.subject ?? nameOfStep(one.channel)} className="flex flex-col gap-4 p-4">
            <header className="flex flex-col gap-3">
              <div className="flex items-start gap-2">
                <IconButton name="left" label="Back to the list" onClick={onBack} className="lg:hidden" />
                <h2 className="min-w-0 flex-1 text-base font-semibold">
                  {one.subject ?? one.title ?? nameOfStep(one.channel)}
                </h2>
                <Status state="captured" />
              </div>
              <dl className="grid grid-cols-[76px_minmax(0,1fr)] gap-y-1">
                {heads.flatMap(([name, value]) =>
                  value
                    ? [
                        <dt key={`${name}-t`} className="text-ink-3">
                          {name}
                        </dt>,
                        <dd key={`${name}-d`}>{value}</dd>,
                      ]
                    : [],
                )}
              </dl>
              <div className="flex flex-wrap gap-2">
                <EnvLink to={`/activity/${one._notificationId}`} className={buttonClass('plain')}>
                  Why it was made
                </EnvLink>
                <EnvLink to={`/workflows/${one.workflow._id}`} className={buttonClass('plain')}>
                  {one.workflow.name}
                </EnvLink>
                {mayChange && (
                  <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
                    Delete
                  </Button>
                )}
              </div>
            </header>
            {deleting && (
              <ConfirmByTyping
                title="Delete the message"
                word="delete"
                action="Delete"
                busy={remove.isPending}
                onConfirm={() => remove.mutate(undefined)}
                onClose={() => setDeleting(false)}
              >
                It is removed from the outbox and cannot be brought back. The activity keeps what happened.
              </ConfirmByTyping>
            )}
            {one.attachments.length > 0 && (
              <ul className="flex flex-wrap gap-2">
                {one.attachments.map(({ name, mime, bytes }) => (
                  <li key={name} className="rounded-md border border-line px-2 py-1 text-xs">
                    {name}{' '}
                    <span className="text-ink-3">
                      {mime}, {Math.max(1, Math.round(bytes / 1024))} kB
                    </span>
                  </li>
                ))}
              </ul>
            )}
            {one.channel === 'email' ? (
              <EmailView
                html={parts.html ?? ''}
                text={parts.text}
                subject={one.subject}
                source={() => textOf(`/v1/outbox/${id}/eml`)}
              />
            ) : (
              <Bubble channel={one.channel} title={one.title} content={parts.content ?? ''} />
            )}
          </article>
        )
      }}
    </Answered>
  )
}
