// The outbox: messages that were captured instead of sent, like a mail client.
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, buttonClass } from '../../ui/controls.tsx'
import { ConfirmByTyping } from '../../ui/dialog.tsx'
import { Icon, iconOfStep } from '../../ui/icons.tsx'
import { Answered, Empty, Page } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { OutboxMessage } from './outbox-message.tsx'

type Item = Schemas['OutboxItem']
type Channel = Item['channel']
const refreshMs = 4_000
const pageSize = 100

export function OutboxPage() {
  const { messageId } = useParams({ strict: false }) as { messageId?: string }
  const search = useSearch({ strict: false }) as { channel?: string; text?: string; recipient?: string }
  const go = useGo()
  const mayChange = useMayChange()
  const [clearing, setClearing] = useState(false)
  const [text, setText] = useState(search.text ?? '')
  const query = {
    limit: pageSize,
    ...(search.channel ? { channel: search.channel as Channel } : {}),
    ...(search.text ? { text: search.text } : {}),
    ...(search.recipient ? { recipient: search.recipient } : {}),
  }
  const list = useAsk(['outbox', 'list', search], () => answerOf(client.GET('/v1/outbox', { params: { query } })), {
    everyMs: refreshMs,
    keeps: true,
  })
  const clear = useChange(() => answerOf(client.DELETE('/v1/outbox')), {
    touches: ['outbox'],
    says: 'The outbox is empty',
    onDone: () => {
      setClearing(false)
      go('/outbox')
    },
  })
  const isFiltered = Object.values(search).some(Boolean)
  return (
    <Page
      title="Outbox"
      count={list.data === undefined ? undefined : `${list.data.data.length}${list.data.next === null ? '' : '+'}`}
      lead="Messages that were captured instead of sent. They stay for a week."
      actions={
        mayChange && list.data !== undefined && list.data.data.length > 0 ? (
          <Button look="danger" icon="trash" onClick={() => setClearing(true)}>
            Empty the outbox
          </Button>
        ) : undefined
      }
    >
      <form
        className={`flex flex-wrap gap-2 ${messageId === undefined ? '' : 'max-lg:hidden'}`}
        onSubmit={(event) => {
          event.preventDefault()
          go('/outbox', { ...search, text: text.trim() })
        }}
      >
        <div className="relative max-sm:w-full">
          <Icon name="search" size={14} className="absolute top-2.5 left-2.5 text-ink-3" />
          <input
            aria-label="Search in messages"
            placeholder="Words in subject or text"
            value={text}
            onChange={(event) => setText(event.target.value)}
            className="field pl-8 sm:w-64"
          />
        </div>
        <select
          aria-label="Channel"
          value={search.channel ?? ''}
          onChange={(event) => go('/outbox', { ...search, channel: event.target.value })}
          className="field max-w-40"
        >
          <option value="">All channels</option>
          <option value="email">E-mail</option>
          <option value="sms">SMS</option>
          <option value="push">Push</option>
          <option value="chat">Chat</option>
        </select>
      </form>
      <Answered of={list}>
        {({ data }) =>
          data.length === 0 && messageId === undefined ? (
            <div className="card">
              {isFiltered ? (
                <Empty
                  icon="search"
                  title="No captured message fits"
                  action={<Button onClick={() => go('/outbox')}>Clear the filters</Button>}
                />
              ) : (
                <Empty
                  icon="outbox"
                  title="No captured messages yet"
                  action={
                    <EnvLink to="/start" className={buttonClass('primary')}>
                      Send the first notification
                    </EnvLink>
                  }
                >
                  Until you connect an account, e-mails and other messages are captured here instead of being sent.
                </Empty>
              )}
            </div>
          ) : (
            <div className="card grid min-h-[560px] overflow-hidden lg:grid-cols-[360px_minmax(0,1fr)]">
              <div className={`relative lg:border-r lg:border-line ${messageId === undefined ? '' : 'max-lg:hidden'}`}>
                <ul
                  aria-label="Captured messages"
                  className="divide-y divide-line lg:absolute lg:inset-0 lg:overflow-y-auto"
                >
                  {data.map((item) => (
                    <Row key={item._id} item={item} isChosen={item._id === messageId} search={search} />
                  ))}
                </ul>
              </div>
              <div className={`min-w-0 ${messageId === undefined ? 'max-lg:hidden' : ''}`}>
                {messageId === undefined ? (
                  <Empty icon="mail" title="Choose a message" />
                ) : (
                  <OutboxMessage key={messageId} id={messageId} onBack={() => go('/outbox', search)} />
                )}
              </div>
            </div>
          )
        }
      </Answered>
      {clearing && (
        <ConfirmByTyping
          title="Empty the outbox"
          word="empty"
          action="Empty the outbox"
          busy={clear.isPending}
          onConfirm={() => clear.mutate(undefined)}
          onClose={() => setClearing(false)}
        >
          All captured messages of this environment are deleted. The activity keeps what happened.
        </ConfirmByTyping>
      )}
    </Page>
  )
}

function Row({
  item,
  isChosen,
  search,
}: {
  item: Item
  isChosen: boolean
  search: Record<string, string | undefined>
}) {
  return (
    <li>
      <EnvLink
        to={`/outbox/${item._id}`}
        search={search}
        className={`flex gap-3 px-4 py-3 hover:bg-bg-2 ${isChosen ? 'bg-accent-bg hover:bg-accent-bg' : ''}`}
      >
        <Icon name={iconOfStep(item.channel)} className="mt-0.5 text-ink-2" />
        <span className="min-w-0 flex-1">
          <span className="flex justify-between gap-2">
            <span className="truncate font-medium">{item.to.join(', ') || item.subscriberId || 'No recipient'}</span>
            <span className="text-xs text-ink-3">
              <Time at={item.capturedAt} />
            </span>
          </span>
          <span className="block truncate">{item.subject ?? item.title ?? item.workflow.name}</span>
          <span className="block truncate text-ink-3">{item.preview}</span>
        </span>
      </EnvLink>
    </li>
  )
}
