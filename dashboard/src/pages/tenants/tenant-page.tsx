// One tenant: its name and data, and how workflows behave for it.
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, TextField } from '../../ui/controls.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { ConfirmByTyping } from '../../ui/dialog.tsx'
import { JsonField } from '../../ui/json-field.tsx'
import { BackTo } from '../../ui/list.tsx'
import { Answered, Notice, Page, Section } from '../../ui/page.tsx'
import { Overrides } from './overrides.tsx'

type Tenant = Schemas['Tenant']
/** What was changed and is not saved yet; the rest is as the service has it. */
interface Edits {
  readonly name?: string
  readonly data?: Record<string, unknown>
}

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
  const [edits, setEdits] = useState<Edits>({})
  const { name = tenant.name ?? '', data = tenant.data ?? {} } = edits
  const [isValid, setValid] = useState(true)
  const [deleting, setDeleting] = useState(false)
  const params = { path: { identifier: tenant.identifier } }
  const isChanged = name !== (tenant.name ?? '') || JSON.stringify(data) !== JSON.stringify(tenant.data ?? {})
  const save = useChange(
    (_saved: Edits) =>
      answerOf(client.PATCH('/v1/tenants/{identifier}', { params, body: { name: name.trim() || null, data } })),
    {
      touches: ['tenants'],
      says: 'The tenant is saved',
      quiet: true,
      // What was typed while it was saved stays.
      onDone: (_answer, saved) => setEdits((now) => (now === saved ? {} : now)),
    },
  )
  const remove = useChange(() => answerOf(client.DELETE('/v1/tenants/{identifier}', { params })), {
    touches: ['tenants'],
    says: 'The tenant is deleted',
    leaves: true,
    onDone: () => go('/tenants'),
  })
  return (
    <Page
      title={tenant.name || tenant.identifier}
      above={<BackTo to="/tenants">Tenants</BackTo>}
      lead={<CopyText text={tenant.identifier} whole />}
      actions={
        mayChange && (
          <>
            <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
              Delete
            </Button>
            <Button
              look="primary"
              icon="check"
              disabled={!isChanged || !isValid}
              busy={save.isPending}
              onClick={() => save.mutate(edits)}
            >
              Save
            </Button>
          </>
        )
      }
    >
      {save.error !== null && <Notice tone="error">{save.error.message}</Notice>}
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <Section title="Profile">
          <fieldset disabled={!mayChange} className="flex flex-col gap-3 p-4">
            <TextField
              label="Name"
              value={name}
              maxLength={255}
              onText={(next) => setEdits({ ...edits, name: next })}
            />
            <JsonField
              label="Data"
              hint={
                <>
                  Templates read it as <code className="font-mono">{'{{ tenant.data.plan }}'}</code>.
                </>
              }
              open
              rows={10}
              value={data}
              onValue={(next) => setEdits({ ...edits, data: next })}
              onValid={setValid}
            />
          </fieldset>
        </Section>
        <Overrides tenant={tenant} />
      </div>
      {deleting && (
        <ConfirmByTyping
          title="Delete the tenant"
          word={tenant.identifier}
          action="Delete"
          busy={remove.isPending}
          onConfirm={() => remove.mutate(undefined)}
          onClose={() => setDeleting(false)}
        >
          Its settings for workflows no longer apply. What was sent stays in the activity.
        </ConfirmByTyping>
      )}
    </Page>
  )
}
