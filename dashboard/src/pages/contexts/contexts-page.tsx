// Contexts: the objects of one's own domain that events refer to, with data for templates.
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useAskRows, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useEnvironment, useMayChange } from '../../session.tsx'
import { each } from '../../ui/bulk-actions.ts'
import { TextField } from '../../ui/controls.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { EditPage } from '../../ui/edit-page.tsx'
import { useEdits } from '../../ui/edits.ts'
import { JsonField } from '../../ui/json-field.tsx'
import { ListPage, Muted } from '../../ui/list.tsx'
import { Answered, Section } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { exactTime, Time } from '../../ui/time.tsx'

type Context = Schemas['Context']
const pageSize = 100

const columns: readonly Column<Context>[] = [
  { head: 'Type', width: '180px', cell: (one) => <span className="block truncate text-ink-2">{one.type}</span> },
  { head: 'Id', cell: (one) => <span className="block truncate font-medium">{one.id}</span> },
  { head: 'Data', from: 'md', cell: (one) => <Muted>{Object.keys(one.data).join(', ') || '–'}</Muted> },
  {
    head: 'Changed',
    from: 'sm',
    right: true,
    width: '132px',
    cell: (one) => (
      <Muted>
        <Time at={one.updatedAt} />
      </Muted>
    ),
  },
]

const addressOf = ({ type, id }: Pick<Context, 'type' | 'id'>): string => `/contexts/${type}/${id}`

export function ContextsPage() {
  const { q = '' } = useSearch({ strict: false }) as { q?: string }
  const go = useGo()
  const [creating, setCreating] = useState(false)
  const mayChange = useMayChange('subscribers:write')
  const list = useAskRows(['contexts', 'list', q], ({ cursor }) =>
    answerOf(
      client.GET('/v2/contexts', {
        params: { query: { limit: pageSize, ...(q === '' ? {} : { search: q }), ...cursor } },
      }),
    ),
  )
  return (
    <ListPage
      title="Contexts"
      count={list.total}
      lead="Objects of your own domain that events refer to, such as a workspace or a project, with data for templates."
      creates={{ text: 'New context', scope: 'subscribers:write', onClick: () => setCreating(true) }}
      search={{
        label: 'Search contexts',
        placeholder: 'Type or id, such as workspace:acme',
        value: q,
        none: 'No matching contexts',
        hint: 'The search is case-sensitive.',
        onSearch: (text) => go('/contexts', { q: text }),
      }}
      {...list.table}
      columns={columns}
      bulk={
        mayChange
          ? {
              of: 'contexts',
              one: 'context',
              nameOf: ({ type, id }) => `${type}:${id}`,
              actions: [
                {
                  text: 'Delete',
                  icon: 'trash',
                  does: 'Their data is gone for templates. What happened stays in the activity.',
                  typed: 'delete',
                  touches: ['contexts'],
                  act: each(({ type, id }: Context, api) =>
                    answerOf(api.DELETE('/v2/contexts/{type}/{id}', { params: { path: { type, id } } })),
                  ),
                },
              ],
            }
          : undefined
      }
      keyOf={({ type, id }) => `${type}:${id}`}
      onOpen={(one) => go(addressOf(one))}
      empty={{
        icon: 'context',
        title: 'No contexts yet',
        text: 'An event that names one creates it, or create it here to give it data.',
      }}
    >
      {creating && <NewContext onClose={() => setCreating(false)} />}
    </ListPage>
  )
}

function NewContext({ onClose }: { onClose: () => void }) {
  const go = useGo()
  const [type, setType] = useState('')
  const [id, setId] = useState('')
  const key = { type: type.trim(), id: id.trim() }
  const create = useChange(() => answerOf(client.POST('/v2/contexts', { body: key })), {
    touches: ['contexts'],
    says: 'The context is created',
    quiet: true,
    onDone: () => go(addressOf(key)),
  })
  return (
    <FormDialog
      title="New context"
      action="Create"
      busy={create.isPending}
      disabled={key.type === '' || key.id === ''}
      error={create.error}
      onSubmit={() => create.mutate(undefined)}
      onClose={onClose}
    >
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <TextField label="Type" placeholder="workspace" value={type} maxLength={100} onText={setType} />
        <TextField label="Id" placeholder="acme" value={id} maxLength={100} onText={setId} />
      </div>
    </FormDialog>
  )
}

export function ContextPage() {
  const path = useParams({ strict: false }) as { type: string; id: string }
  const context = useAsk(['contexts', 'one', path.type, path.id], () =>
    answerOf(client.GET('/v2/contexts/{type}/{id}', { params: { path } })),
  )
  return <Answered of={context}>{(one) => <ContextForm key={`${one.type}:${one.id}`} context={one} />}</Answered>
}

function ContextForm({ context }: { context: Context }) {
  const go = useGo()
  const mayChange = useMayChange('subscribers:write')
  const { id: environmentId } = useEnvironment()
  const edits = useEdits(
    { data: context.data as Record<string, unknown> },
    `context-${environmentId}-${context.type}:${context.id}`,
  )
  const [isValid, setValid] = useState(true)
  const params = { path: { type: context.type, id: context.id } }
  const save = useChange(
    (sent: typeof edits.changed) =>
      answerOf(client.PATCH('/v2/contexts/{type}/{id}', { params, body: { data: sent.data ?? {} } })),
    {
      touches: ['contexts'],
      says: 'The context is saved',
      quiet: true,
      onDone: (_answer, sent) => edits.settle(sent),
    },
  )
  const remove = useChange(() => answerOf(client.DELETE('/v2/contexts/{type}/{id}', { params })), {
    touches: ['contexts'],
    says: 'The context is deleted',
    leaves: true,
    onDone: () => {
      edits.discard()
      go('/contexts')
    },
  })
  return (
    <EditPage
      what="context"
      title={`${context.type} ${context.id}`}
      wide={false}
      list={{ to: '/contexts', name: 'Contexts' }}
      lead={<CopyText text={`${context.type}:${context.id}`} whole />}
      mayChange={mayChange}
      edits={edits}
      isValid={isValid}
      save={save}
      remove={{
        word: `${context.type}:${context.id}`,
        means: 'Templates no longer find its data. Messages that were sent with it keep its key.',
        isPending: remove.isPending,
        onConfirm: () => remove.mutate(undefined),
      }}
    >
      <Section title="Data">
        <fieldset disabled={!mayChange} className="flex flex-col gap-3 p-4">
          <JsonField
            key={edits.discards}
            label="As JSON"
            hint={
              <>
                Templates read it as <code className="font-mono">{`{{ context.${context.type}.data.plan }}`}</code>.
              </>
            }
            open
            rows={12}
            value={edits.values.data}
            onValue={(data) => edits.set({ data })}
            onValid={setValid}
          />
          <p className="text-xs text-ink-3">
            Created {exactTime(context.createdAt)}, changed {exactTime(context.updatedAt)}.
          </p>
        </fieldset>
      </Section>
    </EditPage>
  )
}
