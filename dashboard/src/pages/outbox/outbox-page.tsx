// The outbox: messages that were captured instead of sent, like a mail client.
import { useParams, useSearch } from '@tanstack/react-router'
import type { KeyboardEvent } from 'react'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import { useEnvironment, useMayChange } from '../../session.tsx'
import type { Bulk } from '../../ui/bulk.tsx'
import { BulkBar, RowTick } from '../../ui/bulk.tsx'
import { each } from '../../ui/bulk-actions.ts'
import { Button, buttonClass } from '../../ui/controls.tsx'
import { ConfirmByTyping } from '../../ui/dialog.tsx'
import { useFocusKept } from '../../ui/focus-kept.ts'
import { Icon, iconOfStep } from '../../ui/icons.tsx'
import { MoreButton } from '../../ui/list.tsx'
import { Answered, Empty, Page } from '../../ui/page.tsx'
import type { Selection } from '../../ui/selection.ts'
import { useSelection } from '../../ui/selection.ts'
import { Time } from '../../ui/time.tsx'
import { OutboxMessage } from './outbox-message.tsx'

type Item = Schemas['OutboxItem']
type Channel = Item['channel']
const refreshMs = 4_000
const pageSize = 100

const keyOf = ({ _id }: Item): string => _id
const nameOf = ({ to, subject, title, workflow }: Item): string =>
  `${subject ?? title ?? workflow.name} to ${to.join(', ')}`

/**
 * The message that is open is closed before it is deleted: it cannot be asked for any more. Whoever is on another page by then
 * stays there.
 */
const bulkOf = (slug: string, close: () => void): Bulk<Item> => ({
  of: 'messages',
  one: 'message',
  nameOf,
  actions: [
    {
      text: 'Delete',
      icon: 'trash',
      does: 'They are removed from the outbox and cannot be brought back. The activity keeps what happened.',
      typed: 'delete',
      touches: ['outbox'],
      act: each(({ _id }: Item, api) => {
        if (location.pathname.endsWith(`/${slug}/outbox/${_id}`)) close()
        return answerOf(api.DELETE('/v1/outbox/{messageId}', { params: { path: { messageId: _id } } }))
      }),
    },
  ],
})

export function OutboxPage() {
  const { messageId } = useParams({ strict: false }) as { messageId?: string }
  const search = useSearch({ strict: false }) as { channel?: string; text?: string; recipient?: string }
  const go = useGo()
  const { slug } = useEnvironment()
  const mayChange = useMayChange()
  const [clearing, setClearing] = useState(false)
  const [text, setText] = useState(search.text ?? '')
  const query = {
    limit: pageSize,
    ...(search.channel ? { channel: search.channel as Channel } : {}),
    ...(search.text ? { text: search.text } : {}),
    ...(search.recipient ? { recipient: search.recipient } : {}),
  }
  const list = useAskRows(
    ['outbox', 'list', search],
    ({ cursor }) => answerOf(client.GET('/v1/outbox', { params: { query: { ...query, ...cursor } } })),
    { everyMs: refreshMs },
  )
  const items = list.table.of.data === undefined ? [] : list.table.rowsOf(list.table.of.data)
  const selection = useSelection(items, keyOf)
  const focus = useFocusKept()
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
      count={list.count}
      lead="Messages that were captured instead of sent. They stay for a week."
      actions={
        mayChange && items.length > 0 ? (
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
      <Answered of={list.table.of}>
        {() =>
          items.length === 0 && messageId === undefined ? (
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
            <div className="card grid min-h-[560px] grid-cols-[minmax(0,1fr)] overflow-hidden lg:grid-cols-[360px_minmax(0,1fr)]">
              <div className={`relative lg:border-r lg:border-line ${messageId === undefined ? '' : 'max-lg:hidden'}`}>
                <div className="lg:absolute lg:inset-0 lg:overflow-y-auto">
                  <ul aria-label="Captured messages" className="divide-y divide-line" onKeyDown={walk} {...focus}>
                    {items.map((item) => (
                      <Row
                        key={item._id}
                        item={item}
                        isChosen={item._id === messageId}
                        search={search}
                        {...(mayChange ? { selection } : {})}
                      />
                    ))}
                  </ul>
                  <MoreButton more={list.table.more()} busy={list.table.loadingMore} error={list.table.moreError} />
                  {mayChange && (
                    <BulkBar bulk={bulkOf(slug, () => go('/outbox', search))} selection={selection} keyOf={keyOf} />
                  )}
                </div>
              </div>
              <div className={`min-w-0 ${messageId === undefined ? 'max-lg:hidden' : ''}`}>
                {messageId === undefined ? (
                  <Empty icon="mail" title="Choose a message" />
                ) : (
                  <OutboxMessage
                    key={messageId}
                    id={messageId}
                    onBack={() => go('/outbox', search)}
                    onDeleted={() => go('/outbox', search)}
                  />
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

/** From here on a message opens beside the list. */
const isBeside = (): boolean => matchMedia('(min-width: 1024px)').matches

/** j and k, or the arrows, as in every list. */
function walk(event: KeyboardEvent<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll('a')]
  const at = links.indexOf(event.target as HTMLAnchorElement)
  const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key]
  const next = by === undefined || at < 0 ? undefined : links[at + by]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

function Row({
  item,
  isChosen,
  search,
  selection,
}: {
  item: Item
  isChosen: boolean
  search: Record<string, string | undefined>
  /** Where something can be done to many. */
  selection?: Selection<Item>
}) {
  const isTicked = selection?.has(item._id) === true
  return (
    <li
      className={`relative ${isChosen || isTicked ? 'bg-accent-bg' : 'hover:bg-bg-2'}`}
      onKeyDown={(event) => selection?.press(event, item._id)}
    >
      {selection !== undefined && (
        <span className="absolute top-1.5 left-1 z-10">
          <RowTick
            label={`Select ${nameOf(item)}`}
            checked={isTicked}
            onToggle={(isRange) => selection.toggle(item._id, isRange)}
          />
        </span>
      )}
      <EnvLink
        to={`/outbox/${item._id}`}
        search={search}
        stays={isBeside()}
        className={`out-of-sight flex gap-3 py-3 pr-4 ${selection === undefined ? 'pl-4' : 'pl-11'}`}
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
