// Subscribers: the people who can be notified, searched by id, name or address.
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Client, Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import type { Bulk } from '../../ui/bulk.tsx'
import { each } from '../../ui/bulk-actions.ts'
import { TextField } from '../../ui/controls.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { ListPage } from '../../ui/list.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { nameOfSubscriber } from './subscriber-names.ts'

type Subscriber = Schemas['Subscriber']
const pageSize = 50

const columns: readonly Column<Subscriber>[] = [
  {
    head: 'Name',
    cell: (one) => (
      <>
        <span className="block truncate font-medium">{nameOfSubscriber(one)}</span>
        {/* Beside it, a phone would cut off both. */}
        <span className="block truncate text-xs text-ink-3 sm:hidden">{one.email}</span>
      </>
    ),
  },
  {
    head: 'Subscriber id',
    from: 'md',
    cell: (one) => <span className="block truncate font-mono text-xs text-ink-2">{one.subscriberId}</span>,
  },
  { head: 'E-mail', from: 'sm', cell: (one) => <span className="block truncate text-ink-2">{one.email ?? '–'}</span> },
  {
    head: 'Phone',
    from: 'lg',
    width: '160px',
    cell: (one) => <span className="block truncate text-ink-2">{one.phone ?? '–'}</span>,
  },
  {
    head: 'Since',
    from: 'sm',
    right: true,
    width: '132px',
    cell: (one) => (
      <span className="text-ink-2">
        <Time at={one.createdAt} />
      </span>
    ),
  },
]

/** What was typed, as what it looks like. */
function queryOf(text: string): Record<string, string> {
  if (text === '') return {}
  if (text.includes('@')) return { email: text }
  if (/^\+?[\d ()-]{5,}$/.test(text)) return { phone: text }
  return { name: text }
}

/** As many as one call for a topic takes. */
const perTopicCall = 100

function useSubscriberBulk(): Bulk<Subscriber> | undefined {
  const mayChange = useMayChange('subscribers:write')
  const mayErase = useMayChange()
  if (!mayChange) return undefined
  const of = ({ subscriberId }: Subscriber) => ({ params: { path: { subscriberId } } })
  return {
    of: 'subscribers',
    one: 'subscriber',
    nameOf: nameOfSubscriber,
    actions: [
      {
        text: 'Add to a topic',
        icon: 'topic',
        does: 'Events for the topic will notify them. A topic that does not exist yet is created.',
        asks: { label: 'Topic', placeholder: 'release-notes', hint: 'Its key.' },
        perCall: perTopicCall,
        touches: ['topics'],
        act: async (rows, topicKey, api) => {
          const answer = await answerOf(
            api.POST('/v2/topics/{topicKey}/subscriptions', {
              params: { path: { topicKey } },
              body: { subscriptions: rows.map(({ subscriberId }) => subscriberId) },
            }),
          )
          const refused = new Map(answer.errors?.map(({ subscriberId, message }) => [subscriberId, message]))
          return rows.flatMap((row) => {
            const words = refused.get(row.subscriberId)
            return words === undefined ? [] : [{ row, words }]
          })
        },
      },
      ...(mayErase
        ? [
            {
              text: 'Erase',
              icon: 'shield' as const,
              does: 'Their messages, addresses and payloads are removed from everything that happened. This cannot be undone.',
              typed: 'erase',
              touches: ['subscribers', 'activity', 'topics'],
              act: each((one: Subscriber, api: Client) =>
                answerOf(api.POST('/v1/subscribers/{subscriberId}/erase', of(one))),
              ),
            },
          ]
        : []),
    ],
  }
}

export function SubscribersPage() {
  const bulk = useSubscriberBulk()
  const { q = '' } = useSearch({ strict: false }) as { q?: string }
  const go = useGo()
  const [creating, setCreating] = useState(false)
  const list = useAskRows(['subscribers', 'list', q], async ({ page, cursor }) => {
    const ask = (query: Record<string, string>, limit: number) =>
      answerOf(client.GET('/v2/subscribers', { params: { query: { ...query, limit } } }))
    // An id is found exactly, beside what looks like the text.
    const [exact, found] = await Promise.all([
      page === 0 && q !== '' ? ask({ subscriberId: q }, 1) : undefined,
      ask({ ...queryOf(q), ...cursor }, pageSize),
    ])
    const ids = new Set(found.data.map(({ subscriberId }) => subscriberId))
    const others = exact?.data.filter(({ subscriberId }) => !ids.has(subscriberId)) ?? []
    return { ...found, data: [...others, ...found.data], totalCount: found.totalCount + others.length }
  })
  return (
    <ListPage
      title="Subscribers"
      count={list.total}
      lead="The people who can be notified, with their addresses and devices."
      creates={{ text: 'New subscriber', scope: 'subscribers:write', onClick: () => setCreating(true) }}
      search={{
        label: 'Search subscribers',
        placeholder: 'Name, e-mail, phone or subscriber id',
        value: q,
        none: 'No matching subscribers',
        hint: 'The search is case-sensitive; a subscriber id must match exactly.',
        onSearch: (text) => go('/subscribers', { q: text }),
      }}
      {...list.table}
      rows={8}
      columns={columns}
      bulk={bulk}
      keyOf={({ subscriberId }) => subscriberId}
      onOpen={({ subscriberId }) => go(`/subscribers/${encodeURIComponent(subscriberId)}`)}
      empty={{
        icon: 'people',
        title: 'No subscribers yet',
        text: 'Create subscribers here, with the API, or by triggering an event for a new subscriber id.',
      }}
    >
      {creating && <NewSubscriber onClose={() => setCreating(false)} />}
    </ListPage>
  )
}

function NewSubscriber({ onClose }: { onClose: () => void }) {
  const go = useGo()
  const [fields, setFields] = useState({ subscriberId: '', firstName: '', lastName: '', email: '', phone: '' })
  const create = useChange(
    () => {
      const body = Object.fromEntries(
        Object.entries(fields)
          .filter(([, value]) => value.trim() !== '')
          .map(([name, value]) => [name, value.trim()]),
      )
      return answerOf(
        client.POST('/v2/subscribers', {
          params: { query: { failIfExists: true } },
          body: body as unknown as Schemas['CreateSubscriber'],
        }),
      )
    },
    {
      touches: ['subscribers'],
      says: 'The subscriber is created',
      quiet: true,
      onDone: (one) => go(`/subscribers/${encodeURIComponent((one as Subscriber).subscriberId)}`),
    },
  )
  const text = (name: keyof typeof fields, label: string, extra: object = {}) => (
    <TextField
      label={label}
      value={fields[name]}
      onText={(value) => setFields({ ...fields, [name]: value })}
      maxLength={255}
      {...extra}
    />
  )
  return (
    <FormDialog
      title="New subscriber"
      action="Create"
      busy={create.isPending}
      disabled={fields.subscriberId.trim() === ''}
      error={create.error}
      onSubmit={() => create.mutate(undefined)}
      onClose={onClose}
    >
      {text('subscriberId', 'Subscriber id', {
        hint: 'The id that your own system has for the person.',
        autoFocus: true,
      })}
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        {text('firstName', 'First name')}
        {text('lastName', 'Last name')}
        {text('email', 'E-mail address', { type: 'email' })}
        {text('phone', 'Phone number', { placeholder: '+49…' })}
      </div>
    </FormDialog>
  )
}
