// Activity: what happened, newest first, with every filter in the address; a detail beside the list.
import { useQueryClient } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client, streamOf } from '../../api.ts'
import { isShort, useAskRows } from '../../ask.ts'
import { EnvLink, useGo } from '../../env-link.tsx'
import { useEnvironment } from '../../session.tsx'
import { Beside, hiddenWith, isBeside } from '../../ui/beside.tsx'
import { Button, buttonClass } from '../../ui/controls.tsx'
import { Icon, iconOfStep, nameOfStep } from '../../ui/icons.tsx'
import { Answered, Empty, Page } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useActivityBulk } from './activity-bulk.ts'
import { ActivityTabs } from './activity-tabs.tsx'
import { Filters, queryOf } from './filters.tsx'
import { NotificationDetail } from './notification-detail.tsx'
import { outcomeOf, personOf, stateOfJob } from './outcome.ts'
import type { ActivitySearch } from './search.ts'

type Activity = Schemas['Activity']
const pageSize = 50
/** After a connection that broke. */
const againMs = 3_000

const columns: readonly Column<Activity>[] = [
  { head: 'Status', width: '124px', cell: ({ jobs }) => <Status state={outcomeOf(jobs)} /> },
  {
    head: 'Notification',
    cell: (one) => <Name of={one} />,
  },
  { head: 'Steps', from: 'md', width: '150px', cell: ({ jobs }) => <Steps jobs={jobs} /> },
  {
    head: 'When',
    from: 'sm',
    width: '132px',
    right: true,
    cell: ({ createdAt }) => (
      <span className="text-ink-2">
        <Time at={createdAt} />
      </span>
    ),
  },
]

/** In one line where there is room; below each other beside an open notification, and on a phone. */
function Name({ of: one, isNarrow = false }: { of: Activity; isNarrow?: boolean }) {
  return (
    <span className={`flex min-w-0 ${isNarrow ? 'flex-col' : 'max-sm:flex-col'}`}>
      <bdi className="truncate font-medium">{one.template.name}</bdi>
      {!isNarrow && (
        <span aria-hidden className="mx-1.5 text-ink-3 max-sm:hidden">
          →
        </span>
      )}
      <bdi className={`truncate text-ink-2 ${isNarrow ? '' : 'sm:max-w-[60%] sm:shrink-0'}`}>{personOf(one)}</bdi>
      <span className="text-xs text-ink-3 sm:hidden">
        <Time at={one.createdAt} />
      </span>
    </span>
  )
}

/** Beside an open notification. */
const narrowColumns = columns
  .filter(({ head }) => head !== 'Steps')
  .map((column) =>
    column.head === 'Notification' ? { ...column, cell: (one: Activity) => <Name of={one} isNarrow /> } : column,
  )

function Steps({ jobs }: { jobs: Activity['jobs'] }) {
  const tones: Record<string, string> = {
    completed: 'text-green',
    captured: 'text-violet',
    failed: 'text-red',
    delayed: 'text-amber',
    running: 'text-blue',
    queued: 'text-blue',
  }
  return (
    <span className="flex gap-1.5">
      {jobs.map((job) => (
        <span
          key={job._id}
          title={`${nameOfStep(job.type)}: ${stateOfJob(job)}`}
          className={tones[stateOfJob(job)] ?? 'text-ink-3'}
        >
          <Icon name={iconOfStep(job.type)} size={15} />
          <span className="sr-only">{`${nameOfStep(job.type)} ${stateOfJob(job)}`}</span>
        </span>
      ))}
    </span>
  )
}

export function ActivityPage() {
  const { notificationId } = useParams({ strict: false }) as { notificationId?: string }
  const { tab, ...search } = useSearch({ strict: false }) as ActivitySearch & { tab?: string }
  const go = useGo()
  const list = useAskRows(['activity', search], ({ page }) =>
    answerOf(client.GET('/v1/notifications', { params: { query: { ...queryOf(search), page, limit: pageSize } } })),
  )
  const fresh = useNews(() => void list.table.of.refetch())
  const bulk = useActivityBulk()
  const isFiltered = Object.values(search).some(Boolean)
  return (
    <Page
      title="Activity"
      count={list.count}
      lead="What was triggered, for whom, and what happened step by step."
      actions={
        <span className="flex items-center gap-1.5 text-xs text-ink-3" role="status">
          <span className={`size-1.5 rounded-full ${fresh.isLive ? 'bg-green' : 'bg-line-2'}`} />
          {fresh.isLive ? 'Live' : 'Not live'}
        </span>
      }
    >
      <ActivityTabs of="notifications" />
      <div className={hiddenWith(notificationId)}>
        <Filters
          search={search}
          onChange={(next) =>
            go(
              notificationId === undefined ? '/activity' : `/activity/${notificationId}`,
              { ...next, tab },
              { replace: true },
            )
          }
        />
      </div>
      <Beside
        detail={
          notificationId === undefined ? undefined : (
            <NotificationDetail
              key={notificationId}
              id={notificationId}
              tab={tab}
              onTab={(next) =>
                go(`/activity/${notificationId}`, { ...search, tab: next }, { replace: true, stays: true })
              }
              onClose={() => go('/activity', search, { stays: isBeside() })}
            />
          )
        }
      >
        <div className="card overflow-hidden">
          {fresh.count > 0 && (
            <button
              type="button"
              onClick={fresh.show}
              className="flex w-full justify-center border-b border-line bg-accent-bg p-1.5 text-xs font-medium text-accent"
            >
              {fresh.count} new, show
            </button>
          )}
          <Answered of={list.table.of} rows={10}>
            {(pages) => {
              const found = list.table.rowsOf(pages)
              if (found.length > 0)
                return (
                  <Table
                    label="Activity"
                    rows={found}
                    columns={notificationId === undefined ? columns : narrowColumns}
                    keyOf={({ _id }) => _id}
                    bulk={bulk}
                    chosen={notificationId}
                    onOpen={({ _id }) => go(`/activity/${_id}`, { ...search, tab }, { stays: isBeside() })}
                    more={list.table.more()}
                    loadingMore={list.table.loadingMore}
                    moreError={list.table.moreError}
                  />
                )
              return isFiltered ? (
                <Empty
                  icon="search"
                  title="Nothing matches these filters"
                  action={<Button onClick={() => go('/activity')}>Clear the filters</Button>}
                />
              ) : (
                <Empty
                  icon="activity"
                  title="No activity yet"
                  action={
                    <EnvLink to="/start" className={buttonClass('primary')}>
                      Send the first notification
                    </EnvLink>
                  }
                >
                  Every triggered event appears here immediately, with the result of each step.
                </Empty>
              )
            }}
          </Answered>
        </div>
      </Beside>
    </Page>
  )
}

/** What came since the list was drawn: counted, and shown when it is asked for, so that nothing moves while it is read. */
function useNews(refresh: () => void) {
  const { id } = useEnvironment()
  const queries = useQueryClient()
  const [count, setCount] = useState(0)
  const [isLive, setLive] = useState(false)
  const waiting = useRef(0)
  useEffect(() => {
    const ending = new AbortController()
    let after = ''
    let isReading = false
    let isWanted = false
    /** One reading after the other: what comes meanwhile is for the next one, and cancels none. */
    const readAgain = async () => {
      isWanted = true
      if (isReading) return
      isReading = true
      while (isWanted && !ending.signal.aborted) {
        isWanted = false
        const gently = { cancelRefetch: false }
        const predicate = ({ state }: { state: { data: unknown } }) => isShort(state.data)
        // Rows change where they are, unless new ones would come with them and move what is read.
        const hasNew = waiting.current > 0
        await Promise.all([
          queries.invalidateQueries({ queryKey: [id, 'notification'] }, gently),
          hasNew ? undefined : queries.invalidateQueries({ queryKey: [id, 'activity'], predicate }, gently),
        ])
      }
      isReading = false
    }
    const hear = (data: string) => {
      const news = JSON.parse(data) as { created: number; changed: number; newest: string | null }
      after = news.newest ?? ''
      setLive(true)
      waiting.current += news.created
      setCount(waiting.current)
      if (news.changed > 0) void readAgain()
    }
    const listen = async () => {
      while (!ending.signal.aborted) {
        const path = `/v1/activity/stream${after === '' ? '' : `?after=${after}`}`
        const isOver = await streamOf(path, ending.signal, hear).then(
          () => true,
          () => false,
        )
        if (isOver || ending.signal.aborted) continue
        setLive(false)
        await new Promise((resolve) => setTimeout(resolve, againMs))
      }
    }
    void listen()
    return () => ending.abort()
  }, [id, queries])
  const show = () => {
    waiting.current = 0
    setCount(0)
    refresh()
  }
  return { count, isLive, show }
}
