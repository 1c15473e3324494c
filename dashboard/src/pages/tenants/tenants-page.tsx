// Tenants: the customers on whose behalf people are notified.
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { each } from '../../ui/bulk-actions.ts'
import { TextField } from '../../ui/controls.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { ListPage, Muted } from '../../ui/list.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

type Tenant = Schemas['Tenant']
const pageSize = 100

const columns: readonly Column<Tenant>[] = [
  { head: 'Name', cell: (one) => <span className="block truncate font-medium">{one.name || one.identifier}</span> },
  {
    head: 'Identifier',
    from: 'sm',
    cell: (one) => <span className="block truncate font-mono text-xs text-ink-2">{one.identifier}</span>,
  },
  {
    head: 'Data',
    from: 'md',
    cell: (one) => <Muted>{Object.keys(one.data ?? {}).join(', ') || '–'}</Muted>,
  },
  {
    head: 'Since',
    right: true,
    width: '132px',
    cell: (one) => (
      <Muted>
        <Time at={one.createdAt} />
      </Muted>
    ),
  },
]

export function TenantsPage() {
  const go = useGo()
  const [creating, setCreating] = useState(false)
  const mayChange = useMayChange('subscribers:write')
  const list = useAskRows(['tenants', 'list'], ({ page }) =>
    answerOf(client.GET('/v1/tenants', { params: { query: { page, limit: pageSize } } })),
  )
  return (
    <ListPage
      title="Tenants"
      count={list.total}
      lead="Your customers, if you notify people on behalf of several: each with its own data and settings."
      creates={{ text: 'New tenant', scope: 'subscribers:write', onClick: () => setCreating(true) }}
      {...list.table}
      columns={columns}
      bulk={
        mayChange
          ? {
              of: 'tenants',
              one: 'tenant',
              nameOf: ({ name, identifier }) => name || identifier,
              actions: [
                {
                  text: 'Delete',
                  icon: 'trash',
                  does: 'Templates have their data no more, and what was set for them applies no longer.',
                  typed: 'delete',
                  touches: ['tenants'],
                  act: each(({ identifier }: Tenant, api) =>
                    answerOf(api.DELETE('/v1/tenants/{identifier}', { params: { path: { identifier } } })),
                  ),
                },
              ],
            }
          : undefined
      }
      keyOf={({ identifier }) => identifier}
      onOpen={({ identifier }) => go(`/tenants/${encodeURIComponent(identifier)}`)}
      empty={{
        icon: 'tenant',
        title: 'No tenants yet',
        text: 'An event can name one: templates then have its data, and workflows its settings. Without several customers you need none.',
      }}
    >
      {creating && <NewTenant onClose={() => setCreating(false)} />}
    </ListPage>
  )
}

function NewTenant({ onClose }: { onClose: () => void }) {
  const go = useGo()
  const [identifier, setIdentifier] = useState('')
  const [name, setName] = useState('')
  const create = useChange(
    () =>
      answerOf(
        client.POST('/v1/tenants', {
          body: { identifier: identifier.trim(), ...(name.trim() === '' ? {} : { name: name.trim() }) },
        }),
      ),
    {
      touches: ['tenants'],
      says: 'The tenant is created',
      quiet: true,
      onDone: () => go(`/tenants/${encodeURIComponent(identifier.trim())}`),
    },
  )
  return (
    <FormDialog
      title="New tenant"
      action="Create"
      busy={create.isPending}
      disabled={identifier.trim() === ''}
      error={create.error}
      onSubmit={() => create.mutate(undefined)}
      onClose={onClose}
    >
      <TextField
        label="Identifier"
        hint="What your own system calls the customer; events name it."
        value={identifier}
        maxLength={255}
        onText={setIdentifier}
      />
      <TextField label="Name" value={name} maxLength={255} onText={setName} />
    </FormDialog>
  )
}
