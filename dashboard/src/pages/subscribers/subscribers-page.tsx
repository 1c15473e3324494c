// Subscribers: the people who can be notified, searched by id, name or address.
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { TextField } from '../../ui/controls.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { ListPage } from '../../ui/list.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

type Subscriber = Schemas['Subscriber']
const pageSize = 50

export const nameOfSubscriber = (one: Pick<Subscriber, 'firstName' | 'lastName' | 'subscriberId'>): string =>
  [one.firstName, one.lastName].filter(Boolean).join(' ') || one.subscriberId

const columns: readonly Column<Subscriber>[] = [
  { head: 'Name', cell: (one) => <span className="block truncate font-medium">{nameOfSubscriber(one)}</span> },
  {
    head: 'Subscriber id',
    from: 'md',
    cell: (one) => <span className="block truncate font-mono text-xs text-ink-2">{one.subscriberId}</span>,
  },
  { head: 'E-mail', cell: (one) => <span className="block truncate text-ink-2">{one.email ?? '–'}</span> },
  { head: 'Phone', from: 'lg', cell: (one) => <span className="text-ink-2">{one.phone ?? '–'}</span> },
  {
    head: 'Since',
    from: 'sm',
    right: true,
    width: '110px',
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

export function SubscribersPage() {
  const { q = '' } = useSearch({ strict: false }) as { q?: string }
  const go = useGo()
  const [limit, setLimit] = useState(pageSize)
  const [creating, setCreating] = useState(false)
  const list = useAsk(
    ['subscribers', { q, limit }],
    async () => {
      const found: Subscriber[] = []
      let after: string | undefined
      let total = 0
      let next: string | null = null
      const ask = (query: Record<string, string>, count: number) =>
        answerOf(
          client.GET('/v2/subscribers', {
            params: { query: { ...query, limit: count, ...(after === undefined ? {} : { after }) } },
          }),
        )
      const exact = q === '' ? [] : (await ask({ subscriberId: q }, 20)).data
      do {
        const page: Schemas['SubscriberPage'] = await ask(queryOf(q), 50)
        found.push(...page.data)
        total = page.totalCount
        next = page.next
        after = next ?? undefined
      } while (next !== null && found.length < limit)
      const rows = [...new Map([...exact, ...found].map((one) => [one.subscriberId, one])).values()]
      return { rows, total: Math.max(total, rows.length), hasMore: next !== null }
    },
    { keeps: true },
  )
  return (
    <ListPage
      title="Subscribers"
      count={list.data?.total}
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
      of={list}
      rows={8}
      rowsOf={({ rows }) => rows}
      columns={columns}
      keyOf={({ subscriberId }) => subscriberId}
      onOpen={({ subscriberId }) => go(`/subscribers/${encodeURIComponent(subscriberId)}`)}
      more={({ hasMore }) => (hasMore ? () => setLimit(limit + pageSize) : undefined)}
      loadingMore={list.isFetching}
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
