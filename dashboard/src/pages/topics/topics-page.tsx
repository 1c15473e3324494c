// Topics: named audiences, so that one event can address them all.
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { each } from '../../ui/bulk-actions.ts'
import { TextField } from '../../ui/controls.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { ListPage } from '../../ui/list.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

type Topic = Schemas['Topic']

const columns: readonly Column<Topic>[] = [
  { head: 'Name', cell: (one) => <span className="block truncate font-medium">{one.name || one.key}</span> },
  {
    head: 'Key',
    from: 'sm',
    cell: (one) => <span className="block truncate font-mono text-xs text-ink-2">{one.key}</span>,
  },
  {
    head: 'Since',
    right: true,
    width: '132px',
    cell: (one) => <span className="text-ink-2">{one.createdAt === undefined ? '' : <Time at={one.createdAt} />}</span>,
  },
]

export function TopicsPage() {
  const go = useGo()
  const [creating, setCreating] = useState(false)
  const mayChange = useMayChange('subscribers:write')
  const list = useAskRows(['topics', 'list'], ({ cursor }) =>
    answerOf(client.GET('/v2/topics', { params: { query: { limit: 100, ...cursor } } })),
  )
  return (
    <ListPage
      title="Topics"
      count={list.total}
      lead="Named groups of subscribers: an event for a topic notifies all of them."
      creates={{ text: 'New topic', scope: 'subscribers:write', onClick: () => setCreating(true) }}
      {...list.table}
      columns={columns}
      bulk={
        mayChange
          ? {
              of: 'topics',
              one: 'topic',
              nameOf: ({ name, key }) => name || key,
              actions: [
                {
                  text: 'Delete',
                  icon: 'trash',
                  does: 'Events for these topics will notify no one. The subscribers are not deleted.',
                  typed: 'delete',
                  touches: ['topics'],
                  act: each(({ key }: Topic, api) =>
                    answerOf(api.DELETE('/v2/topics/{topicKey}', { params: { path: { topicKey: key } } })),
                  ),
                },
              ],
            }
          : undefined
      }
      keyOf={({ key }) => key}
      onOpen={({ key }) => go(`/topics/${encodeURIComponent(key)}`)}
      empty={{
        icon: 'topic',
        title: 'No topics yet',
        text: 'Such as “release-notes” or “project-7-watchers”. Add subscribers here or with the API.',
      }}
    >
      {creating && <NewTopic onClose={() => setCreating(false)} />}
    </ListPage>
  )
}

function NewTopic({ onClose }: { onClose: () => void }) {
  const go = useGo()
  const [key, setKey] = useState('')
  const [name, setName] = useState('')
  const create = useChange(
    () =>
      answerOf(
        client.POST('/v2/topics', {
          params: { query: { failIfExists: true } },
          body: { key: key.trim(), ...(name.trim() === '' ? {} : { name: name.trim() }) },
        }),
      ),
    {
      touches: ['topics'],
      says: 'The topic is created',
      quiet: true,
      onDone: () => go(`/topics/${encodeURIComponent(key.trim())}`),
    },
  )
  return (
    <FormDialog
      title="New topic"
      action="Create"
      busy={create.isPending}
      disabled={key.trim() === ''}
      error={create.error}
      onSubmit={() => create.mutate(undefined)}
      onClose={onClose}
    >
      <TextField label="Key" hint="What events name it by." value={key} maxLength={100} autoFocus onText={setKey} />
      <TextField label="Name" value={name} maxLength={100} onText={setName} />
    </FormDialog>
  )
}
