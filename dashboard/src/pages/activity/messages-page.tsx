// Messages: each one that was sent, could not be, or failed, with what leads to it in the address.
import { useParams, useSearch } from '@tanstack/react-router'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { Beside, hiddenWith, isBeside } from '../../ui/beside.tsx'
import type { FilterWords } from '../../ui/chip.tsx'
import { FilterChips, filtersIn } from '../../ui/chip.tsx'
import { Button } from '../../ui/controls.tsx'
import { Icon, iconOfStep, nameOfStep } from '../../ui/icons.tsx'
import { List, Muted } from '../../ui/list.tsx'
import { Empty, Page } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { exactTime, Time } from '../../ui/time.tsx'
import { useProviderName } from '../integrations/provider-names.ts'
import { useMessageBulk } from './activity-bulk.ts'
import { ActivityTabs } from './activity-tabs.tsx'
import { Select } from './filter-select.tsx'
import { reasonWords } from './filters.tsx'
import type { MessagesSearch } from './messages-query.ts'
import { isOfLastDays, messagesQuery, resultOf, without, withResult } from './messages-query.ts'
import { NotificationDetail } from './notification-detail.tsx'
import { stateOfMessage } from './outcome.ts'

type Message = Schemas['ListedMessage']
type Channel = Message['channel']
const pageSize = 50
const channels: readonly Channel[] = ['email', 'in_app', 'sms', 'push', 'chat']
/** By status; what was delivered also by whether it really left. */
const results = [
  ['sent', 'Sent or captured'],
  ['sent/without', 'Sent'],
  ['sent/only', 'Captured'],
  ['error', 'Failed'],
  ['warning', 'Not sent, or perhaps'],
  ['warning//any', 'Perhaps sent'],
] as const

const personOf = ({ subscriber, email, phone }: Message): string =>
  [subscriber?.firstName, subscriber?.lastName].filter(Boolean).join(' ') ||
  (subscriber?.subscriberId ?? email ?? phone ?? 'A deleted subscriber')

function stateOf({ status, captured, providerId, removedAt, retracted }: Message): string {
  if (removedAt !== undefined) return retracted === true ? 'retracted' : 'deleted'
  return captured === true ? 'captured' : stateOfMessage(status, providerId)
}

const nameOf = (one: Message): string => one.subject || one.title || one.template?.name || 'A message'

/** Beside an open message there is room for what it is, for whom and when. */
function columnsWith(providerName: (id: string) => string, isNarrow: boolean): readonly Column<Message>[] {
  const all: readonly Column<Message>[] = [
    { head: 'Status', width: '124px', cell: (one) => <Status state={stateOf(one)} /> },
    {
      head: 'Message',
      cell: (one) => (
        <span className="flex min-w-0 items-center gap-2">
          <Icon name={iconOfStep(one.channel)} className="text-ink-2" />
          <span className="sr-only">{nameOfStep(one.channel)}</span>
          <span className="flex min-w-0 flex-col">
            <bdi className="truncate font-medium">{nameOf(one)}</bdi>
            <bdi className={`truncate text-ink-2 ${isNarrow ? '' : 'sm:hidden'}`}>{personOf(one)}</bdi>
            <span className="text-xs text-ink-3 sm:hidden">
              <Time at={one.createdAt} />
            </span>
          </span>
        </span>
      ),
    },
    {
      head: 'To',
      from: 'sm',
      width: '22%',
      cell: (one) => <bdi className="block truncate text-ink-2">{personOf(one)}</bdi>,
    },
    {
      head: 'By',
      from: 'lg',
      width: '26%',
      cell: (one) => (
        <span className="block truncate text-ink-2" title={one.errorText}>
          {one.errorText ||
            (one.providerId === undefined || one.providerId === '' ? '–' : providerName(one.providerId))}
        </span>
      ),
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
  return isNarrow ? all.filter(({ head }) => head !== 'To' && head !== 'By') : all
}

interface Opened {
  /** The message whose notification is beside the list, and what of it is shown. */
  readonly message?: string
  readonly tab?: string
}

export function MessagesPage() {
  const { notificationId } = useParams({ strict: false }) as { notificationId?: string }
  const { message, tab, ...search } = useSearch({ strict: false }) as MessagesSearch & Opened
  const bulk = useMessageBulk((one) => `${nameOf(one)} to ${personOf(one)}`)
  const go = useGo()
  const providerName = useProviderName()
  const list = useAskRows(['activity', 'messages', { ...search }], ({ page }) =>
    answerOf(client.GET('/v1/messages', { params: { query: { ...messagesQuery(search), page, limit: pageSize } } })),
  )
  const set = (name: keyof MessagesSearch, value: string) =>
    go('/activity/messages', { ...search, [name]: value }, { replace: true })
  const byWords = (id: string): string => ({ none: 'no provider', any: 'any provider' })[id] ?? providerName(id)
  const words: FilterWords = {
    provider: ['By', (value) => value.split(',').map(byWords).join(', ')],
    reason: ['Because of', reasonWords],
    subscriber: ['Person', String],
    transactionId: ['Transaction', String],
    after: ['Since', exactTime],
    before: ['Until', exactTime],
  }
  const filters = filtersIn(search, words)
  // Of a provider that was asked, nothing is surely not sent.
  const isOfOne = search.provider !== 'any' && resultOf({ ...search, status: 'warning' }).endsWith('any')
  const isOfFew = Boolean(search.subscriber)
  const isFiltered = Object.values(search).some(Boolean)
  return (
    <Page
      title="Messages"
      count={list.total?.toLocaleString('en') ?? list.count}
      lead="What went out by every channel, and what could not. One notification may have several."
    >
      <ActivityTabs of="messages" />
      <div className={`flex flex-col gap-2 ${hiddenWith(notificationId)}`}>
        <div className="flex flex-wrap items-center gap-2">
          <Select
            label="Result"
            value={resultOf(search)}
            options={[['', 'All results'], ...results.filter(([value]) => value !== 'warning' || !isOfOne)]}
            onText={(value) => go('/activity/messages', withResult(search, value), { replace: true })}
          />
          <Select
            label="Channel"
            value={search.channel ?? ''}
            options={[['', 'All channels'], ...channels.map((one) => [one, nameOfStep(one)] as const)]}
            onText={(value) => set('channel', value)}
          />
          <Select
            label="Removed messages"
            value={search.removed ?? ''}
            options={[
              ['', 'Without removed'],
              ['with', 'With removed'],
              ['only', 'Only removed'],
            ]}
            // What is in the address can still be changed.
            disabled={isOfFew && !search.removed}
            onText={(value) => set('removed', value)}
          />
          {isOfFew && <span className="text-xs text-ink-3">Removed messages cannot be listed by person.</span>}
          {isOfLastDays(search) && <span className="text-xs text-ink-3">30 days at most</span>}
        </div>
        <FilterChips
          filters={filters}
          words={words}
          onRemove={(name) => go('/activity/messages', without(search, name), { replace: true })}
          onClear={() => go('/activity/messages')}
        />
      </div>
      <Beside
        detail={
          notificationId === undefined ? undefined : (
            <NotificationDetail
              key={notificationId}
              id={notificationId}
              tab={tab ?? 'message'}
              onTab={(next) =>
                go(
                  `/activity/messages/${notificationId}`,
                  { ...search, message, tab: next },
                  { replace: true, stays: true },
                )
              }
              onClose={() => go('/activity/messages', search, { stays: isBeside() })}
            />
          )
        }
      >
        <List
          label="Messages"
          {...list.table}
          rows={10}
          columns={columnsWith(providerName, notificationId !== undefined)}
          keyOf={({ _id }) => _id}
          bulk={bulk}
          chosen={notificationId === undefined ? undefined : message}
          onOpen={({ _id, _notificationId }) =>
            go(`/activity/messages/${_notificationId}`, { ...search, message: _id, tab }, { stays: isBeside() })
          }
          empty={
            isFiltered ? (
              <Empty
                icon="search"
                title="No message fits"
                action={<Button onClick={() => go('/activity/messages')}>Clear the filters</Button>}
              />
            ) : (
              <Empty icon="mail" title="No messages yet">
                A message appears here once a step has sent it, or could not.
              </Empty>
            )
          }
        />
      </Beside>
    </Page>
  )
}
