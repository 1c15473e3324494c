// API keys: what opens this environment, and what each key may do.
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useMayChange } from '../../session.tsx'
import { Button, IconButton, SelectField, TextField } from '../../ui/controls.tsx'
import { Code } from '../../ui/copy.tsx'
import { ConfirmByTyping, Dialog } from '../../ui/dialog.tsx'
import { Answered, Notice } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { SettingsFrame } from './settings-frame.tsx'

type ApiKey = Schemas['ApiKey']
type Scope = ApiKey['scopes'][number]
const scopeWords: Readonly<Record<string, string>> = { full: 'Everything', trigger: 'Trigger events', read: 'Read' }

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
  const list = useAsk(['keys'], () =>
    answerOf(client.GET('/v1/environments/api-keys', { params: { query: { limit: 100 } } })),
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
    { head: 'May', from: 'sm', cell: (key) => key.scopes.map((scope) => scopeWords[scope] ?? scope).join(', ') },
    { head: 'State', width: '100px', cell: (key) => <State of={key} /> },
    {
      head: 'Since',
      from: 'md',
      right: true,
      width: '110px',
      cell: (key) => (
        <span className="text-ink-2">
          <Time at={key.createdAt} />
        </span>
      ),
    },
    {
      head: 'Revoke',
      right: true,
      width: '60px',
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
      <div className="card overflow-hidden">
        <Answered of={list}>
          {({ data }) => <Table label="API keys" rows={data} columns={columns} keyOf={({ _id }) => _id} />}
        </Answered>
      </div>
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
  const [scope, setScope] = useState<Scope>('trigger')
  const create = useChange(
    () => answerOf(client.POST('/v1/environments/api-keys', { body: { name: name.trim(), scopes: [scope] } })),
    { touches: ['keys'], quiet: true },
  )
  if (create.data !== undefined) {
    return (
      <Dialog
        title="Copy the key now"
        onClose={onClose}
        footer={
          <Button look="primary" onClick={onClose}>
            I have it
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          <Notice tone="warning">It is shown only this once: we keep no copy.</Notice>
          <Code label="key" text={create.data.key} />
        </div>
      </Dialog>
    )
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
            disabled={name.trim() === ''}
            onClick={() => create.mutate(undefined)}
          >
            Create
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {create.error !== null && <Notice tone="error">{create.error.message}</Notice>}
        <TextField
          label="Name"
          hint="What uses it, such as “Order service”."
          value={name}
          maxLength={255}
          autoFocus
          onText={setName}
        />
        <SelectField
          label="May"
          value={scope}
          options={[
            ['trigger', 'Trigger events, nothing else'],
            ['read', 'Read, nothing else'],
            ['full', 'Do everything'],
          ]}
          onText={(next) => setScope(next as Scope)}
        />
      </div>
    </Dialog>
  )
}
