// One tenant: its name and data, and how workflows behave for it.
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { TextField } from '../../ui/controls.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { EditPage } from '../../ui/edit-page.tsx'
import { useEdits } from '../../ui/edits.ts'
import { JsonField } from '../../ui/json-field.tsx'
import { Answered, Section } from '../../ui/page.tsx'
import { Overrides } from './overrides.tsx'

type Tenant = Schemas['Tenant']

export function TenantPage() {
  const { identifier = '' } = useParams({ strict: false }) as { identifier?: string }
  const tenant = useAsk(['tenants', 'one', identifier], () =>
    answerOf(client.GET('/v1/tenants/{identifier}', { params: { path: { identifier } } })),
  )
  return <Answered of={tenant}>{(one) => <TenantForm key={one._id} tenant={one} />}</Answered>
}

function TenantForm({ tenant }: { tenant: Tenant }) {
  const go = useGo()
  const mayChange = useMayChange('subscribers:write')
  const edits = useEdits({ name: tenant.name ?? '', data: tenant.data ?? {} }, `tenant-${tenant._id}`)
  const { name, data } = edits.values
  const [isValid, setValid] = useState(true)
  const params = { path: { identifier: tenant.identifier } }
  const save = useChange(
    ({ name: newName, ...rest }: typeof edits.changed) => {
      const body = { ...rest, ...(newName === undefined ? {} : { name: newName.trim() || null }) }
      return answerOf(client.PATCH('/v1/tenants/{identifier}', { params, body }))
    },
    {
      touches: ['tenants'],
      says: 'The tenant is saved',
      quiet: true,
      onDone: (_answer, sent) => edits.settle(sent),
    },
  )
  const remove = useChange(() => answerOf(client.DELETE('/v1/tenants/{identifier}', { params })), {
    touches: ['tenants'],
    says: 'The tenant is deleted',
    leaves: true,
    onDone: () => {
      edits.discard()
      go('/tenants')
    },
  })
  return (
    <EditPage
      what="tenant"
      title={tenant.name || tenant.identifier}
      list={{ to: '/tenants', name: 'Tenants' }}
      lead={<CopyText text={tenant.identifier} whole />}
      mayChange={mayChange}
      edits={edits}
      isValid={isValid}
      save={save}
      remove={{
        word: tenant.identifier,
        means: 'Its settings for workflows no longer apply. What was sent stays in the activity.',
        isPending: remove.isPending,
        onConfirm: () => remove.mutate(undefined),
      }}
    >
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-2">
        <Section title="Profile">
          <fieldset disabled={!mayChange} className="flex flex-col gap-3 p-4">
            <TextField label="Name" value={name} maxLength={255} onText={(next) => edits.set({ name: next })} />
            <JsonField
              key={edits.discards}
              label="Data"
              hint={
                <>
                  Templates read it as <code className="font-mono">{'{{ tenant.data.plan }}'}</code>.
                </>
              }
              open
              rows={10}
              value={data}
              onValue={(next) => edits.set({ data: next })}
              onValid={setValid}
            />
          </fieldset>
        </Section>
        <Overrides tenant={tenant} />
      </div>
    </EditPage>
  )
}
