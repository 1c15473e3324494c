// API keys: what opens this environment, and what each key may do.
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { useMayChange } from '../../session.tsx'
import { Button, IconButton, TextField, Ticks } from '../../ui/controls.tsx'
import { ConfirmByTyping, Dialog, ShownOnce } from '../../ui/dialog.tsx'
import { List } from '../../ui/list.tsx'
import { Fault } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { SettingsFrame } from './settings-frame.tsx'

type ApiKey = Schemas['ApiKey']
type Scope = ApiKey['scopes'][number]
const scopeWords: Readonly<Record<Scope, string>> = {
  full: 'Everything',
  trigger: 'Trigger events',
  read: 'Read',
  'subscribers:write': 'Write subscribers',
  'inbox:write': 'Write inboxes',
  'workflows:write': 'Write workflows',
  'integrations:write': 'Write integrations',
  'outbox:read': 'Read the outbox',
}
const scopeHints: Readonly<Partial<Record<Scope, string>>> = {
  full: 'Sees secrets and manages keys; includes all of the others.',
  read: 'Everything but secrets and captured messages.',
  'workflows:write': 'With layouts and translations.',
  'subscribers:write': 'With topics, tenants and suppressions.',
  'inbox:write': 'Marks what is in inboxes as read, archived and so on.',
}

function State({ of: key }: { of: ApiKey }) {
  if (key.revokedAt !== undefined)
    return (
      <Badge tone="grey" icon="ban">
        Revoked
      </Badge>
    )
  if (key.expiresAt !== undefined && new Date(key.expiresAt).getTime() < Date.now())
    return (
      <Badge tone="grey" icon="clock">
        Expired
      </Badge>
    )
  return (
    <Badge tone="green" icon="check">
      Valid
    </Badge>
  )
}

export function KeysPage() {
  const mayChange = useMayChange()
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<ApiKey>()
  const list = useAskRows(['keys'], ({ page }) =>
    answerOf(client.GET('/v1/environments/api-keys', { params: { query: { page, limit: 100 } } })),
  )
  const revoke = useChange(
    (key: ApiKey) =>
      answerOf(client.DELETE('/v1/environments/api-keys/{keyId}', { params: { path: { keyId: key._id } } })),
    { touches: ['keys'], says: 'The key is revoked', onDone: () => setRevoking(undefined) },
  )
  const columns: readonly Column<ApiKey>[] = [
    { head: 'Name', cell: (key) => <span className="block truncate font-medium">{key.name}</span> },
    {
      head: 'Key',
      from: 'sm',
      width: '90px',
      cell: (key) => <span className="font-mono text-xs text-ink-2">…{key.hint}</span>,
    },
    { head: 'May', from: 'sm', cell: (key) => key.scopes.map((scope) => scopeWords[scope]).join(', ') },
    { head: 'State', width: '100px', cell: (key) => <State of={key} /> },
    {
      head: 'Last used',
      from: 'sm',
      right: true,
      width: '132px',
      cell: (key) => (
        <span className="text-ink-2">{key.lastUsedAt === undefined ? 'Never' : <Time at={key.lastUsedAt} />}</span>
      ),
    },
    {
      head: 'Since',
      from: 'lg',
      right: true,
      width: '132px',
      cell: (key) => (
        <span className="text-ink-2">
          <Time at={key.createdAt} />
        </span>
      ),
    },
    {
      head: 'Revoke',
      right: true,
      width: '88px',
      cell: (key) =>
        mayChange && key.revokedAt === undefined ? (
          <IconButton name="ban" label={`Revoke ${key.name}`} onClick={() => setRevoking(key)} />
        ) : null,
    },
  ]
  return (
    <SettingsFrame
      title="API keys"
      lead="What opens this environment. A key is shown once, when it is created."
      actions={
        mayChange && (
          <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
            New key
          </Button>
        )
      }
    >
      <List label="API keys" {...list.table} columns={columns} keyOf={({ _id }) => _id} empty={null} />
      {creating && <NewKey onClose={() => setCreating(false)} />}
      {revoking !== undefined && (
        <ConfirmByTyping
          title="Revoke the key"
          word={revoking.name}
          action="Revoke"
          busy={revoke.isPending}
          onConfirm={() => revoke.mutate(revoking)}
          onClose={() => setRevoking(undefined)}
        >
          Whatever uses the key ending in …{revoking.hint} is refused within a second. It cannot be brought back.
        </ConfirmByTyping>
      )}
    </SettingsFrame>
  )
}

function NewKey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<Scope[]>(['trigger'])
  const create = useChange(
    () => answerOf(client.POST('/v1/environments/api-keys', { body: { name: name.trim(), scopes } })),
    { touches: ['keys'], quiet: true },
  )
  if (create.data !== undefined) {
    return <ShownOnce what="key" secret={create.data.key} onClose={onClose} />
  }
  return (
    <Dialog
      title="New API key"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Discard</Button>
          <Button
            look="primary"
            busy={create.isPending}
            disabled={name.trim() === '' || scopes.length === 0}
            onClick={() => create.mutate(undefined)}
          >
            Create
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Fault error={create.error} />
        <TextField
          label="Name"
          hint="What uses it, such as “Order service”."
          value={name}
          maxLength={255}
          autoFocus
          onText={setName}
        />
        <span className="text-sm font-medium">May</span>
        <Ticks
          label="May"
          options={(Object.keys(scopeWords) as Scope[]).map((one) => {
            const hint = scopeHints[one]
            return hint === undefined ? ([one, scopeWords[one]] as const) : ([one, scopeWords[one], hint] as const)
          })}
          chosen={scopes}
          onChange={(next) => setScopes(next as Scope[])}
        />
      </div>
    </Dialog>
  )
}
