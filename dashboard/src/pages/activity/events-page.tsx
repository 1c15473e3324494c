// Events: each one once, however many subscribers it was for, with the time in the address.
import { useSearch } from '@tanstack/react-router'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { FilterChip } from '../../ui/chip.tsx'
import { Button } from '../../ui/controls.tsx'
import { List, Muted } from '../../ui/list.tsx'
import { Empty, Page } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { exactTime, Time } from '../../ui/time.tsx'
import { ActivityTabs } from './activity-tabs.tsx'

type Event = Schemas['ListedEvent']
const pageSize = 50

interface EventsSearch {
  readonly from?: string
  readonly to?: string
}

/** Whom it was for, as far as an event itself says it. */
function recipientsOf({ notifications, topics, isBroadcast, state }: Event): string {
  const count = `${notifications.toLocaleString('en')} ${notifications === 1 ? 'subscriber' : 'subscribers'}`
  const reach = isBroadcast ? 'everyone' : topics.join(', ')
  return `${count}${state === 'expanding' ? ' so far' : ''}${reach === '' ? '' : `, ${reach}`}`
}

const columns: readonly Column<Event>[] = [
  {
    head: 'Event',
    cell: (one) => (
      <span className="flex min-w-0 flex-wrap items-center gap-x-2">
        <bdi className="truncate font-medium">{one.workflow?.name ?? 'A deleted workflow'}</bdi>
        {one.isTest && <Badge tone="violet">Test</Badge>}
        {one.state === 'canceled' && (
          <Badge tone="grey" icon="ban">
            Cancelled
          </Badge>
        )}
        <span className="basis-full text-xs text-ink-3 sm:hidden">
          <Time at={one.createdAt} />
        </span>
      </span>
    ),
  },
  { head: 'For', width: '34%', cell: (one) => <span className="block truncate text-ink-2">{recipientsOf(one)}</span> },
  {
    head: 'Transaction',
    from: 'lg',
    width: '24%',
    cell: (one) => <span className="block truncate font-mono text-xs text-ink-2">{one.transactionId}</span>,
  },
  {
    head: 'When',
    from: 'sm',
    right: true,
    width: '132px',
    cell: (one) => (
      <Muted>
        <Time at={one.createdAt} />
      </Muted>
    ),
  },
]

export function EventsPage() {
  const search = useSearch({ strict: false }) as EventsSearch
  const go = useGo()
  const list = useAskRows(['activity', 'events', { ...search }], ({ cursor }) =>
    answerOf(client.GET('/v1/events', { params: { query: { ...search, ...cursor, limit: pageSize } } })),
  )
  const words = { from: 'Since', to: 'Until' } as const
  const chips = (['from', 'to'] as const).filter((name) => search[name] !== undefined)
  return (
    <Page
      title="Events"
      count={list.total?.toLocaleString('en')}
      lead="What was triggered. One event becomes a notification for each subscriber."
    >
      <ActivityTabs of="events" />
      {chips.length > 0 && (
        <div className="flex flex-wrap items-center gap-1.5">
          {chips.map((name) => (
            <FilterChip
              key={name}
              name={words[name]}
              value={exactTime(search[name] ?? '')}
              onRemove={() => go('/activity/events', { ...search, [name]: '' }, { replace: true })}
            />
          ))}
        </div>
      )}
      <List
        label="Events"
        {...list.table}
        rows={10}
        columns={columns}
        keyOf={({ _id }) => _id}
        onOpen={({ transactionId }) => go('/activity', { transactionId })}
        empty={
          chips.length > 0 ? (
            <Empty
              icon="search"
              title="No event in this time"
              action={<Button onClick={() => go('/activity/events')}>Show all</Button>}
            />
          ) : (
            <Empty icon="send" title="No events yet">
              Each event that is triggered appears here, also where it had no recipients.
            </Empty>
          )
        }
      />
    </Page>
  )
}
