// Abandoned work: steps and tasks that failed again and again because of internal errors, each to be tried again.
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import type { Bulk } from '../../ui/bulk.tsx'
import { each } from '../../ui/bulk-actions.ts'
import { IconButton } from '../../ui/controls.tsx'
import { Icon, iconOfStep } from '../../ui/icons.tsx'
import { List, Muted } from '../../ui/list.tsx'
import { Empty } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { buriedName } from './task-names.ts'

type Buried = Schemas['Buried']
const pageSize = 50
const refreshMs = 10_000
const touches = ['activity', 'buried', 'overview']

const bulk: Bulk<Buried> = {
  of: 'pieces of work',
  one: 'piece of work',
  nameOf: (one) => `${buriedName(one)}: ${one.reason}`,
  actions: [
    {
      text: 'Try again',
      icon: 'again',
      does: 'A task continues where it stopped. A step runs again with everything else that failed in its notification.',
      touches,
      act: each(({ _id }: Buried, api) =>
        answerOf(api.POST('/v1/buried/{buriedId}/redrive', { params: { path: { buriedId: _id } } })),
      ),
    },
  ],
}

interface Again {
  readonly start: (one: Buried) => void
  /** The one that is asked for just now. */
  readonly pendingId: string | undefined
}

const columnsWith = (again: Again | undefined): readonly Column<Buried>[] => [
  {
    head: 'What',
    cell: (one) => (
      <span className="flex min-w-0 items-center gap-2">
        <Icon name={iconOfStep('trigger')} className="text-amber" />
        <span className="flex min-w-0 flex-col">
          <span className="font-medium sm:truncate">{buriedName(one)}</span>
          <span className="text-xs text-ink-3 sm:hidden">
            <bdi className="line-clamp-3 break-words">{one.reason}</bdi>
            <Time at={one.buriedAt} />
          </span>
        </span>
      </span>
    ),
  },
  {
    head: 'Why',
    from: 'sm',
    width: '46%',
    cell: (one) => (
      <bdi className="block truncate text-ink-2" title={one.reason}>
        {one.reason}
      </bdi>
    ),
  },
  { head: 'Tried', from: 'lg', right: true, width: '80px', cell: (one) => <Muted>{`${one.claims} ×`}</Muted> },
  {
    head: 'Abandoned',
    from: 'sm',
    right: true,
    width: '112px',
    cell: (one) => (
      <Muted>
        <Time at={one.buriedAt} />
      </Muted>
    ),
  },
  ...(again === undefined
    ? []
    : [
        {
          head: 'Again',
          right: true,
          width: '72px',
          cell: (one: Buried) => (
            <IconButton
              name="again"
              label={`Try again: ${buriedName(one)}: ${one.reason}`}
              disabled={again.pendingId === one._id}
              onClick={() => again.start(one)}
            />
          ),
        },
      ]),
]

/** The list, and how many it has. */
export function useBuried(enabled: boolean) {
  return useAskRows(
    ['activity', 'buried'],
    ({ cursor }) => answerOf(client.GET('/v1/buried', { params: { query: { limit: pageSize, ...cursor } } })),
    { everyMs: refreshMs, enabled },
  )
}

export function BuriedList({ list }: { list: ReturnType<typeof useBuried> }) {
  const mayChange = useMayChange()
  const go = useGo()
  const again = useChange(
    ({ _id }: Buried) =>
      answerOf(client.POST('/v1/buried/{buriedId}/redrive', { params: { path: { buriedId: _id } } })),
    { touches, says: 'It is tried again' },
  )
  const pendingId = again.isPending ? again.variables._id : undefined
  return (
    <List
      label="Abandoned work"
      {...list.table}
      rows={10}
      columns={columnsWith(mayChange ? { start: again.mutate, pendingId } : undefined)}
      keyOf={({ _id }) => _id}
      {...(mayChange ? { bulk } : {})}
      onOpen={({ notificationId, transactionId }) => {
        if (notificationId !== undefined) go(`/activity/${notificationId}`)
        else if (transactionId !== undefined) go('/activity', { transactionId })
      }}
      canOpen={({ notificationId, transactionId }) => (notificationId ?? transactionId) !== undefined}
      empty={
        <Empty icon="check" title="Nothing was abandoned">
          Work that keeps failing because of internal errors is listed here.
        </Empty>
      }
    />
  )
}
