// The queue: what is due, what is worked on, what waits for its time, and what was abandoned.
import { useSearch } from '@tanstack/react-router'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { FilterChip } from '../../ui/chip.tsx'
import { Choice } from '../../ui/controls.tsx'
import { Icon, iconOfStep, nameOfStep } from '../../ui/icons.tsx'
import { List, Muted } from '../../ui/list.tsx'
import { Empty, Page } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ActivityTabs } from './activity-tabs.tsx'
import { BuriedList, useBuried } from './buried-list.tsx'
import { taskName } from './task-names.ts'

type Item = Schemas['QueueItem']
const states = ['due', 'inHand', 'waiting'] as const
type State = (typeof states)[number]
const pageSize = 50
const refreshMs = 5_000

const laneNames: Readonly<Record<Item['lane'], string>> = { direct: 'Named directly', fan_out: 'Topics and broadcasts' }
const queueNames: Readonly<Record<Item['queue'], string>> = { jobs: 'Steps', tasks: 'Tasks' }

const nameOf = ({ subscriber }: Item): string =>
  [subscriber?.firstName, subscriber?.lastName].filter(Boolean).join(' ') || (subscriber?.subscriberId ?? '–')

function columnsOf(state: State): readonly Column<Item>[] {
  return [
    {
      head: 'What',
      cell: (one) => (
        <span className="flex min-w-0 items-center gap-2">
          <Icon name={iconOfStep(one.stepType ?? 'trigger')} className="text-ink-2" />
          <span className="flex min-w-0 flex-col">
            <span className="truncate font-medium">
              {one.stepType === undefined ? taskName(one.task) : nameOfStep(one.stepType)}
            </span>
            {one.workflow !== undefined && (
              <bdi className="truncate text-ink-2 sm:hidden">{`${one.workflow.name}, ${nameOf(one)}`}</bdi>
            )}
          </span>
        </span>
      ),
    },
    {
      head: 'Workflow',
      from: 'sm',
      width: '28%',
      cell: (one) => <bdi className="block truncate">{one.workflow?.name ?? '–'}</bdi>,
    },
    {
      head: 'For',
      from: 'sm',
      width: '22%',
      cell: (one) => <bdi className="block truncate text-ink-2">{nameOf(one)}</bdi>,
    },
    {
      head: 'Lane',
      from: 'lg',
      width: '190px',
      cell: (one) => <Muted>{laneNames[one.lane]}</Muted>,
    },
    {
      head: { due: 'Due since', inHand: 'Held until', waiting: 'Due' }[state],
      right: true,
      width: '112px',
      cell: (one) => (
        <Muted>
          <Time at={one.dueAt} />
        </Muted>
      ),
    },
  ]
}

const choices = [
  ['due', 'Waiting to go out'],
  ['inHand', 'Being worked on'],
  ['waiting', 'Waiting for a time'],
  ['buried', 'Abandoned'],
] as const

const empties: Readonly<Record<State, readonly [title: string, text: string]>> = {
  due: ['The queue is empty', 'Everything that is due has been taken up.'],
  inHand: ['Nothing is being worked on', 'Most steps take milliseconds.'],
  waiting: ['Nothing waits for its time', 'Delays, digests and upcoming retries appear here.'],
}

type Search = { state?: string; queue?: string; lane?: string }

const buriedLead = 'Work that was abandoned after repeated internal errors. Try it again once the cause is gone.'
const openLead = 'What is still to happen, the longest due first: of each lane the first 10,000.'

export function QueuePage() {
  const search = useSearch({ strict: false }) as Search
  const isBuried = search.state === 'buried'
  const state: State = states.find((one) => one === search.state) ?? 'due'
  const queue = search.queue && search.queue in queueNames ? (search.queue as Item['queue']) : undefined
  const lane = search.lane && search.lane in laneNames ? (search.lane as Item['lane']) : undefined
  const of = { ...(queue === undefined ? {} : { queue }), ...(lane === undefined ? {} : { lane }) }
  const go = useGo()
  const show = (next: Record<string, string>) => go('/activity/queue', { state, ...of, ...next }, { replace: true })
  const open = useAskRows(
    ['activity', 'queue', { state, ...of }],
    ({ page }) => answerOf(client.GET('/v1/queue', { params: { query: { state, ...of, page, limit: pageSize } } })),
    { everyMs: refreshMs, enabled: !isBuried },
  )
  const buried = useBuried(isBuried)
  const list = isBuried ? buried : open
  return (
    <Page title="Queue" count={list.total?.toLocaleString('en') ?? list.count} lead={isBuried ? buriedLead : openLead}>
      <ActivityTabs of="queue" />
      <Choice
        label="What of the queue"
        value={isBuried ? 'buried' : state}
        options={choices}
        // What was abandoned is of no lane.
        onChange={(next) =>
          next === 'buried' ? go('/activity/queue', { state: next }, { replace: true }) : show({ state: next })
        }
      />
      {!isBuried && (queue !== undefined || lane !== undefined) && (
        <div className="flex flex-wrap items-center gap-1.5">
          {queue !== undefined && (
            <FilterChip name="Queue" value={queueNames[queue]} onRemove={() => show({ queue: '' })} />
          )}
          {lane !== undefined && <FilterChip name="Lane" value={laneNames[lane]} onRemove={() => show({ lane: '' })} />}
        </div>
      )}
      {isBuried ? <BuriedList list={buried} /> : <OpenList list={open} state={state} />}
    </Page>
  )
}

function OpenList({ list, state }: { list: ReturnType<typeof useAskRows<Item>>; state: State }) {
  const go = useGo()
  return (
    <List
      label="Queue"
      {...list.table}
      rows={10}
      columns={columnsOf(state)}
      keyOf={({ _id }) => _id}
      onOpen={({ notificationId, transactionId }) => {
        if (notificationId !== undefined) go(`/activity/${notificationId}`)
        else if (transactionId !== undefined) go('/activity', { transactionId })
      }}
      canOpen={({ notificationId, transactionId }) => (notificationId ?? transactionId) !== undefined}
      empty={
        <Empty icon="check" title={empties[state][0]}>
          {empties[state][1]}
        </Empty>
      }
    />
  )
}
