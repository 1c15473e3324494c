// Workflows: what happens when something is triggered; with how much each was used, and how well it went.
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useAskRows, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { TextField } from '../../ui/controls.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Icon, iconOfStep, nameOfStep } from '../../ui/icons.tsx'
import { ListPage } from '../../ui/list.tsx'
import { Badge } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

type Workflow = Schemas['Workflow']
interface Row {
  readonly workflow: Workflow
  readonly notifications: number
  readonly failed: number
}

const weekMs = 7 * 86_400_000
const pageSize = 100

/** There is room for so many beside the words for the others. */
const stepsShownMax = 5

/** As icons; where there are many, the first of them and how many follow. */
function Steps({ of: types }: { of: readonly string[] }) {
  const shown = types.length <= stepsShownMax + 1 ? types : types.slice(0, stepsShownMax)
  const more = types.length - shown.length
  return (
    <span className="flex items-center gap-1.5 text-ink-2" title={types.map(nameOfStep).join(', ')}>
      {shown.map((type, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: one type may stand there several times
        <span key={place}>
          <Icon name={iconOfStep(type)} size={15} />
          <span className="sr-only">{nameOfStep(type)}</span>
        </span>
      ))}
      {more > 0 && (
        <span className="text-xs text-ink-3">
          +{more}
          <span className="sr-only"> more</span>
        </span>
      )}
    </span>
  )
}

const columns: readonly Column<Row>[] = [
  {
    head: 'Workflow',
    cell: ({ workflow }) => (
      <span className="block min-w-0">
        <span className="block truncate font-medium">{workflow.name}</span>
        <span className="block truncate font-mono text-xs text-ink-3">{workflow.triggers[0]?.identifier}</span>
      </span>
    ),
  },
  {
    head: 'Steps',
    from: 'md',
    width: '160px',
    cell: ({ workflow }) => <Steps of={workflow.steps.map(({ template }) => template?.type ?? '')} />,
  },
  {
    head: 'State',
    width: '90px',
    cell: ({ workflow }) =>
      workflow.active ? (
        <Badge tone="green" icon="check">
          Live
        </Badge>
      ) : (
        <Badge tone="grey" icon="minus">
          Off
        </Badge>
      ),
  },
  {
    head: 'Last 7 days',
    from: 'sm',
    right: true,
    width: '110px',
    cell: ({ notifications }) => notifications.toLocaleString('en'),
  },
  {
    head: 'Failed',
    from: 'lg',
    right: true,
    width: '80px',
    cell: ({ failed }) => <span className={failed > 0 ? 'text-red' : 'text-ink-3'}>{failed.toLocaleString('en')}</span>,
  },
  {
    head: 'Changed',
    from: 'lg',
    right: true,
    width: '132px',
    cell: ({ workflow }) => (
      <span className="text-ink-2">
        <Time at={workflow.updatedAt ?? workflow.createdAt ?? ''} />
      </span>
    ),
  },
]

/** By workflow. */
const totals = (counts: Schemas['Counts']) =>
  new Map(counts.series.map(({ workflow, total }) => [workflow?._id ?? '', total]))

export function WorkflowsPage() {
  const { q = '' } = useSearch({ strict: false }) as { q?: string }
  const go = useGo()
  const [creating, setCreating] = useState(false)
  const list = useAskRows(['workflows', 'list', q], ({ page }) =>
    answerOf(
      client.GET('/v1/workflows', { params: { query: { page, limit: pageSize, ...(q === '' ? {} : { query: q }) } } }),
    ),
  )
  const counts = useAsk(['workflows', 'counts'], async () => {
    const from = new Date(Date.now() - weekMs).toISOString()
    const [used, ended] = await Promise.all([
      answerOf(
        client.GET('/v1/counts', { params: { query: { measure: 'notifications', groupBy: ['workflow'], from } } }),
      ),
      answerOf(
        client.GET('/v1/counts', {
          params: { query: { measure: 'steps', groupBy: ['workflow'], outcome: ['failed'], from } },
        }),
      ),
    ])
    return { used: totals(used), ended: totals(ended) }
  })
  const rowOf = (workflow: Workflow): Row => ({
    workflow,
    notifications: counts.data?.used.get(workflow._id) ?? 0,
    failed: counts.data?.ended.get(workflow._id) ?? 0,
  })
  return (
    <ListPage
      title="Workflows"
      count={list.total}
      lead="What happens when something is triggered, step by step."
      creates={{ text: 'New workflow', scope: 'workflows:write', onClick: () => setCreating(true) }}
      search={{
        label: 'Search workflows',
        placeholder: 'Name or identifier',
        value: q,
        none: 'No workflow fits',
        onSearch: (text) => go('/workflows', { q: text }),
      }}
      {...list.table}
      rowsOf={(data) => list.table.rowsOf(data).map(rowOf)}
      columns={columns}
      keyOf={({ workflow }) => workflow._id}
      onOpen={({ workflow }) => go(`/workflows/${workflow._id}`)}
      empty={{
        icon: 'workflow',
        title: 'There is no workflow yet',
        text: 'A workflow says who is notified of what, on which channel, when, and in which words.',
      }}
    >
      {creating && <NewWorkflow onClose={() => setCreating(false)} />}
    </ListPage>
  )
}

function NewWorkflow({ onClose }: { onClose: () => void }) {
  const go = useGo()
  const [name, setName] = useState('')
  const create = useChange(
    () =>
      answerOf(
        client.POST('/v1/workflows', {
          body: {
            name: name.trim(),
            active: false,
            steps: [{ name: 'In-app', template: { type: 'in_app', content: 'Hello {{ subscriber.firstName }}' } }],
          } as never,
        }),
      ),
    { touches: ['workflows'], quiet: true, onDone: (made) => go(`/workflows/${(made as Workflow)._id}`) },
  )
  return (
    <FormDialog
      title="New workflow"
      action="Create"
      busy={create.isPending}
      disabled={name.trim() === ''}
      error={create.error}
      onSubmit={() => create.mutate(undefined)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Such as “Order shipped”. Triggers name it by an identifier made from it."
        value={name}
        maxLength={255}
        autoFocus
        onText={setName}
      />
    </FormDialog>
  )
}
