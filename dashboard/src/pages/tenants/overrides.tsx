// How workflows behave for one tenant: on, off, or as they are; and which channels they may use.
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { EnvLink } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, IconButton, SelectField } from '../../ui/controls.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { nameOfStep } from '../../ui/icons.tsx'
import { Answered, Empty, Section } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import { useWorkflowName, WorkflowPicker } from '../workflows/workflow-picker.tsx'

type Override = Schemas['WorkflowOverride']
const channels = ['email', 'sms', 'in_app', 'push', 'chat'] as const
type Three = '' | 'on' | 'off'
const three = (value: unknown): Three => (value === true ? 'on' : value === false ? 'off' : '')

/** The list has no filter by tenant; so many overrides are looked through. */
const lookedAtMax = 1_000

async function overridesOf(tenantId: string): Promise<Override[]> {
  const found: Override[] = []
  for (let page = 0; page * 100 < lookedAtMax; page += 1) {
    const { data, hasMore } = await answerOf(
      client.GET('/v1/workflow-overrides', { params: { query: { page, limit: 100 } } }),
    )
    found.push(...data.filter((one) => one.tenantId === tenantId))
    if (!hasMore) break
  }
  return found
}

export function Overrides({ tenant }: { tenant: Schemas['Tenant'] }) {
  const mayChange = useMayChange('workflows:write')
  const [edited, setEdited] = useState<Override | 'new'>()
  const overrides = useAsk(['tenants', 'overrides', tenant._id], () => overridesOf(tenant._id))
  const remove = useChange(
    (one: Override) =>
      answerOf(client.DELETE('/v1/workflow-overrides/{overrideId}', { params: { path: { overrideId: one._id } } })),
    {
      touches: ['tenants'],
      says: 'The workflow behaves as usual again',
      undo: ({ workflowId, active, preferenceSettings }) =>
        answerOf(
          client.POST('/v1/workflow-overrides', {
            body: { workflowId, tenantId: tenant._id, active, preferenceSettings } as never,
          }),
        ),
    },
  )
  return (
    <Section
      title="Workflows for this tenant"
      actions={
        mayChange && (
          <Button icon="plus" onClick={() => setEdited('new')}>
            Exception
          </Button>
        )
      }
    >
      <Answered of={overrides} rows={3}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon="workflow" title="All workflows behave as usual">
              Add an exception to switch a workflow or one of its channels off for this tenant alone.
            </Empty>
          ) : (
            <ul className="divide-y divide-line">
              {all.map((one) => (
                <Entry
                  key={one._id}
                  override={one}
                  mayChange={mayChange}
                  onEdit={() => setEdited(one)}
                  onRemove={() => remove.mutate(one)}
                />
              ))}
            </ul>
          )
        }
      </Answered>
      {edited !== undefined && (
        <EditOverride
          tenant={tenant}
          override={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Section>
  )
}

function Entry({
  override,
  mayChange,
  onEdit,
  onRemove,
}: {
  override: Override
  mayChange: boolean
  onEdit: () => void
  onRemove: () => void
}) {
  const name = useWorkflowName(override.workflowId) ?? override.workflowIdentifier
  return (
    <li className="flex items-center gap-2 py-2 pr-2 pl-4">
      <span className="min-w-0 flex-1">
        <EnvLink to={`/workflows/${override.workflowId}`} className="font-medium hover:underline">
          {name}
        </EnvLink>
        <span className="mt-1 flex flex-wrap gap-1">
          <Exceptions of={override} />
        </span>
      </span>
      {mayChange && (
        <>
          <Button look="quiet" onClick={onEdit}>
            Edit
          </Button>
          <IconButton name="trash" label={`Remove the exception of ${name}`} onClick={onRemove} />
        </>
      )}
    </li>
  )
}

function Exceptions({ of: one }: { of: Override }) {
  const settings = Object.entries(one.preferenceSettings ?? {})
  return (
    <>
      {one.active !== null && <Badge tone={one.active ? 'green' : 'grey'}>{one.active ? 'On' : 'Off'}</Badge>}
      {settings.map(([channel, on]) => (
        <Badge key={channel} tone={on === true ? 'green' : 'grey'}>
          {`${nameOfStep(channel)} ${on === true ? 'on' : 'off'}`}
        </Badge>
      ))}
      {one.active === null && settings.length === 0 && <span className="text-xs text-ink-3">As usual</span>}
    </>
  )
}

function EditOverride({
  tenant,
  override,
  onClose,
}: {
  tenant: Schemas['Tenant']
  override: Override | undefined
  onClose: () => void
}) {
  const [workflowId, setWorkflowId] = useState(override?.workflowId)
  const name = useWorkflowName(workflowId)
  const [active, setActive] = useState<Three>(override === undefined ? 'off' : three(override.active))
  const [settings, setSettings] = useState<Record<string, Three>>(() =>
    Object.fromEntries(channels.map((channel) => [channel, three(override?.preferenceSettings?.[channel])])),
  )
  const save = useChange(
    () => {
      const chosen = channels.flatMap((channel) =>
        settings[channel] === '' ? [] : [[channel, settings[channel] === 'on'] as const],
      )
      const body = {
        active: active === '' ? null : active === 'on',
        preferenceSettings: chosen.length === 0 ? null : Object.fromEntries(chosen),
      }
      return override === undefined
        ? answerOf(
            client.POST('/v1/workflow-overrides', {
              body: { workflowId: workflowId ?? '', tenantId: tenant._id, ...body },
            }),
          )
        : answerOf(
            client.PUT('/v1/workflow-overrides/{overrideId}', { params: { path: { overrideId: override._id } }, body }),
          )
    },
    { touches: ['tenants'], says: 'The exception is saved', quiet: true, onDone: onClose },
  )
  const choices = [
    ['', 'As the workflow says'],
    ['on', 'On'],
    ['off', 'Off'],
  ] as const
  return (
    <FormDialog
      title={override === undefined ? 'New exception' : 'Edit the exception'}
      action="Save"
      busy={save.isPending}
      disabled={workflowId === undefined}
      error={save.error}
      onSubmit={() => save.mutate(undefined)}
      onClose={onClose}
    >
      {override === undefined ? (
        <WorkflowPicker label="Workflow" value={workflowId} onPick={(one) => setWorkflowId(one?._id)} />
      ) : (
        <p className="font-medium">{name}</p>
      )}
      <SelectField
        label="Runs for this tenant"
        value={active}
        options={choices}
        onText={(value) => setActive(value as Three)}
      />
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        {channels.map((channel) => (
          <SelectField
            key={channel}
            label={nameOfStep(channel)}
            value={settings[channel] ?? ''}
            options={choices}
            onText={(value) => setSettings({ ...settings, [channel]: value as Three })}
          />
        ))}
      </div>
    </FormDialog>
  )
}
