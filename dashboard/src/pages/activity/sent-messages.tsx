// What the person was sent, as they saw it.
import type { Schemas } from '../../api.ts'
import { answerOf, client, textOf } from '../../api.ts'
import { useAsk } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { Icon, iconOfStep, nameOfStep } from '../../ui/icons.tsx'
import { Bubble, EmailView } from '../../ui/message-frame.tsx'
import { Empty, Loading } from '../../ui/page.tsx'
import { looks, Status, shownState } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { stateOfJob, stateOfMessage } from './outcome.ts'

interface Sent {
  readonly message: Schemas['Message']
  readonly job: Schemas['ActivityJobDetail']
}

/** As the list of messages has it. */
const stateOf = ({ message, job }: Sent): string =>
  stateOfJob(job) === 'captured' && message.status !== 'error'
    ? 'captured'
    : stateOfMessage(message.status ?? job.status, message.providerId)

export function SentMessages({ messages }: { messages: readonly Sent[] }) {
  if (messages.length === 0) {
    return (
      <Empty icon="mail" title="No message to show">
        Nothing has been sent for this notification yet, or nothing will be, or it was taken back or deleted: “What
        happened” says why.
      </Empty>
    )
  }
  return (
    <div className="flex flex-col gap-6">
      {messages.map(({ message, job }) => (
        <section
          key={message._id}
          aria-label={`${nameOfStep(message.channel)} message`}
          className="flex flex-col gap-3"
        >
          <header className="flex flex-wrap items-center gap-2">
            <Icon name={iconOfStep(message.channel)} />
            <h3 className="font-medium">{message.subject ?? message.title ?? nameOfStep(message.channel)}</h3>
            <Status state={stateOf({ message, job })} />
            <span className="text-xs text-ink-3">
              {message.email ?? message.phone ?? ''} <Time at={message.createdAt} />
            </span>
          </header>
          {message.errorText !== undefined && message.errorText !== '' && (
            <p className={`rounded-md px-3 py-2 ${looks[shownState(stateOf({ message, job })).tone]}`}>
              {message.errorText}
            </p>
          )}
          {message.channel === 'email' ? (
            <Email message={message} isCaptured={stateOfJob(job) === 'captured'} />
          ) : (
            <Bubble
              channel={message.channel}
              title={message.title ?? message.subject}
              content={textOfContent(message.content)}
            />
          )}
        </section>
      ))}
    </div>
  )
}

function Email({ message, isCaptured }: { message: Schemas['Message']; isCaptured: boolean }) {
  const kept = useAsk(
    ['outbox', message._id],
    () => answerOf(client.GET('/v1/outbox/{messageId}', { params: { path: { messageId: message._id } } })),
    { enabled: isCaptured },
  )
  const { html, text } = (kept.data?.message ?? {}) as { html?: string; text?: string }
  if (html !== undefined) {
    return (
      <>
        <EmailView
          html={html}
          text={text}
          subject={message.subject}
          source={() => textOf(`/v1/outbox/${message._id}/eml`)}
        />
        <EnvLink to={`/outbox/${message._id}`} className="link text-xs">
          Open it in the outbox
        </EnvLink>
      </>
    )
  }
  if (isCaptured && kept.isPending) return <Loading rows={4} />
  const content = message.content
  return <EmailView html={typeof content === 'string' ? content : htmlOfBlocks(content)} subject={message.subject} />
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** The blocks of an e-mail, plainly: the layout around them is not kept with the message. */
function htmlOfBlocks(content: unknown): string {
  const blocks = Array.isArray(content) ? (content as { type?: string; content?: string; url?: string }[]) : []
  const parts = blocks.map(({ type, content: text = '', url }) =>
    type === 'button'
      ? `<p><a href="${escaped(url ?? '#').replaceAll('"', '&quot;')}">${escaped(text)}</a></p>`
      : `<p>${text}</p>`,
  )
  return `<!doctype html><body style="font:15px/1.5 system-ui,sans-serif;margin:24px;color:#1b1f24">${parts.join('')}</body>`
}

export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((block) => (block as { content?: string }).content ?? '').join('\n')
}
