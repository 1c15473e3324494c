// Webhooks: where events are sent to, whether it accepts them, and a form for another.
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { FormDialog, ShownOnce } from '../../ui/dialog.tsx'
import { ListPage, Muted } from '../../ui/list.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { EndpointFields, emptyEndpoint } from './endpoint-fields.tsx'
import { EndpointState, nameOfEndpoint } from './endpoint-state.tsx'

type Endpoint = Schemas['WebhookEndpoint']

const columns: readonly Column<Endpoint>[] = [
  {
    head: 'Endpoint',
    cell: (one) => (
      <span className="block min-w-0">
        <span className="block truncate font-medium">{nameOfEndpoint(one)}</span>
        <span className="block truncate font-mono text-xs text-ink-3">{one.url}</span>
      </span>
    ),
  },
  {
    head: 'Events',
    from: 'md',
    cell: (one) => (
      <span className="block truncate text-ink-2">
        {one.eventTypes.length === 0 ? 'All events' : one.eventTypes.join(', ')}
      </span>
    ),
  },
  { head: 'State', width: '110px', cell: (one) => <EndpointState of={one} /> },
  {
    head: 'Last accepted',
    from: 'sm',
    right: true,
    width: '130px',
    cell: (one) => <Muted>{one.lastDeliveredAt === null ? 'Nothing yet' : <Time at={one.lastDeliveredAt} />}</Muted>,
  },
]

export function WebhooksPage() {
  const go = useGo()
  const [creating, setCreating] = useState(false)
  const list = useAskRows(['webhooks', 'list'], ({ cursor }) =>
    answerOf(client.GET('/v1/webhook-endpoints', { params: { query: { limit: 100, ...cursor } } })),
  )
  return (
    <ListPage
      title="Webhooks"
      count={list.total}
      lead="Your own backend hears what happens: messages sent, failed, bounced and read."
      creates={{ text: 'New endpoint', scope: 'full', onClick: () => setCreating(true) }}
      {...list.table}
      columns={columns}
      keyOf={({ _id }) => _id}
      onOpen={({ _id }) => go(`/webhooks/${_id}`)}
      empty={{
        icon: 'webhook',
        title: 'No endpoints yet',
        text: 'An endpoint is a URL of your backend. Events are sent to it as signed requests, and again until it accepts them.',
      }}
    >
      {creating && <NewEndpoint onClose={() => setCreating(false)} />}
    </ListPage>
  )
}

function NewEndpoint({ onClose }: { onClose: () => void }) {
  const go = useGo()
  const [fields, setFields] = useState(emptyEndpoint)
  const create = useChange(() => answerOf(client.POST('/v1/webhook-endpoints', { body: fields })), {
    touches: ['webhooks'],
    quiet: true,
  })
  if (create.data !== undefined) {
    const made = create.data
    return (
      <ShownOnce what="signing secret" secret={made.secret} onClose={() => go(`/webhooks/${made._id}`)}>
        Your backend verifies with it that requests come from here. It can be rotated at any time.
      </ShownOnce>
    )
  }
  return (
    <FormDialog
      title="New endpoint"
      action="Create"
      width="max-w-2xl"
      busy={create.isPending}
      disabled={fields.url.trim() === ''}
      error={create.error}
      onSubmit={() => create.mutate(undefined)}
      onClose={onClose}
    >
      <EndpointFields fields={fields} error={create.error} onChange={setFields} />
    </FormDialog>
  )
}
