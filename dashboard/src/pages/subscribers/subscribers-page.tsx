// Subscribers: the people who can be notified, searched by id, name or address.
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, TextField } from '../../ui/controls.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Answered, Empty, Notice, Page } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { Table } from '../../ui/table.tsx'
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
  const mayChange = useMayChange('subscribers:write')
  const [text, setText] = useState(q)
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
    <Page
      title="Subscribers"
      count={list.data === undefined ? undefined : list.data.total.toLocaleString('en')}
      lead="The people who can be notified, with their addresses and devices."
      actions={
        mayChange && (
          <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
            New subscriber
          </Button>
        )
      }
    >
      <form
        className="relative sm:max-w-sm"
        onSubmit={(event) => {
          event.preventDefault()
          go('/subscribers', { q: text.trim() })
        }}
      >
        <Icon name="search" size={14} className="absolute top-2.5 left-2.5 text-ink-3" />
        <input
          aria-label="Search subscribers"
          placeholder="Name, e-mail, phone or subscriber id"
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="field pl-8"
        />
      </form>
      <div className="card overflow-hidden">
        <Answered of={list} rows={8}>
          {({ rows, hasMore }) =>
            rows.length === 0 ? (
              q === '' ? (
                <Empty
                  icon="people"
                  title="No subscribers yet"
                  action={
                    mayChange ? (
                      <Button look="primary" onClick={() => setCreating(true)}>
                        New subscriber
                      </Button>
                    ) : undefined
                  }
                >
                  Create subscribers here, with the API, or by triggering an event for a new subscriber id.
                </Empty>
              ) : (
                <Empty
                  icon="search"
                  title="No matching subscribers"
                  action={
                    <Button
                      onClick={() => {
                        setText('')
                        go('/subscribers')
                      }}
                    >
                      Show all
                    </Button>
                  }
                >
                  The search is case-sensitive; a subscriber id must match exactly.
                </Empty>
              )
            ) : (
              <Table
                label="Subscribers"
                rows={rows}
                columns={columns}
                keyOf={({ subscriberId }) => subscriberId}
                onOpen={({ subscriberId }) => go(`/subscribers/${encodeURIComponent(subscriberId)}`)}
                more={hasMore ? () => setLimit(limit + pageSize) : undefined}
                loadingMore={list.isFetching}
              />
            )
          }
        </Answered>
      </div>
      {creating && <NewSubscriber onClose={() => setCreating(false)} />}
    </Page>
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
    <Dialog
      title="New subscriber"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Discard</Button>
          <Button
            look="primary"
            busy={create.isPending}
            disabled={fields.subscriberId.trim() === ''}
            onClick={() => create.mutate(undefined)}
          >
            Create
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {create.error !== null && <Notice tone="error">{create.error.message}</Notice>}
        {text('subscriberId', 'Subscriber id', {
          hint: 'The id that your own system has for the person.',
          autoFocus: true,
        })}
        <div className="grid gap-3 sm:grid-cols-2">
          {text('firstName', 'First name')}
          {text('lastName', 'Last name')}
          {text('email', 'E-mail address', { type: 'email' })}
          {text('phone', 'Phone number', { placeholder: '+49…' })}
        </div>
      </div>
    </Dialog>
  )
}
