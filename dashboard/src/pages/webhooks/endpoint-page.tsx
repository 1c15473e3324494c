// One endpoint: whether it accepts what it is sent, its deliveries, and what can be done about them.
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Button, IconButton } from '../../ui/controls.tsx'
import { CopyText } from '../../ui/copy.tsx'
import { ConfirmByTyping, FormDialog } from '../../ui/dialog.tsx'
import { BackTo } from '../../ui/list.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Answered, Notice, Page } from '../../ui/page.tsx'
import { exactTime } from '../../ui/time.tsx'
import { Deliveries } from './deliveries.tsx'
import type { EndpointInput } from './endpoint-fields.tsx'
import { EndpointFields } from './endpoint-fields.tsx'
import { EndpointState, nameOfEndpoint } from './endpoint-state.tsx'
import { RotateSecret } from './rotate-secret.tsx'

type Endpoint = Schemas['WebhookEndpoint']
const refreshMs = 4_000

export function EndpointPage() {
  const { endpointId = '', deliveryId } = useParams({ strict: false }) as { endpointId?: string; deliveryId?: string }
  const endpoint = useAsk(
    ['webhooks', 'one', endpointId],
    () => answerOf(client.GET('/v1/webhook-endpoints/{endpointId}', { params: { path: { endpointId } } })),
    { everyMs: refreshMs },
  )
  return <Answered of={endpoint}>{(one) => <Whole key={one._id} endpoint={one} deliveryId={deliveryId} />}</Answered>
}

type Panel = 'edit' | 'rotate' | 'delete'

function Whole({ endpoint, deliveryId }: { endpoint: Endpoint; deliveryId: string | undefined }) {
  const go = useGo()
  const mayChange = useMayChange()
  const [panel, setPanel] = useState<Panel>()
  const close = () => setPanel(undefined)
  const params = { path: { endpointId: endpoint._id } }
  const test = useChange(() => answerOf(client.POST('/v1/webhook-endpoints/{endpointId}/test', { params })), {
    touches: ['webhooks'],
    onDone: ({ _id }) => go(`/webhooks/${endpoint._id}/${_id}`),
  })
  const enable = useChange(
    (enabled: boolean) =>
      answerOf(client.PATCH('/v1/webhook-endpoints/{endpointId}', { params, body: { enabled } as never })),
    {
      touches: ['webhooks'],
      says: (_data, on) => (on ? 'Enabled: what still waits is sent' : 'Disabled: nothing is sent to it'),
    },
  )
  const remove = useChange(() => answerOf(client.DELETE('/v1/webhook-endpoints/{endpointId}', { params })), {
    touches: ['webhooks'],
    says: 'The endpoint is deleted',
    leaves: true,
    onDone: () => go('/webhooks'),
  })
  const isDisabled = endpoint.state === 'disabled'
  return (
    <Page
      title={nameOfEndpoint(endpoint)}
      above={<BackTo to="/webhooks">Webhooks</BackTo>}
      lead={<CopyText text={endpoint.url} whole />}
      actions={
        mayChange && (
          <>
            <Button
              icon="send"
              busy={test.isPending}
              disabled={isDisabled}
              title={isDisabled ? 'Enable the endpoint first' : undefined}
              onClick={() => test.mutate(undefined)}
            >
              Send a test
            </Button>
            <Button onClick={() => setPanel('edit')}>Edit</Button>
            <Menu
              label="More"
              button={<IconButton name="more" label="More" />}
              items={[
                { text: 'Rotate the secret', icon: 'key', onSelect: () => setPanel('rotate') },
                {
                  text: isDisabled ? 'Enable' : 'Disable',
                  icon: isDisabled ? 'check' : 'ban',
                  onSelect: () => enable.mutate(isDisabled),
                },
                'line',
                { text: 'Delete the endpoint', icon: 'trash', danger: true, onSelect: () => setPanel('delete') },
              ]}
            />
          </>
        )
      }
    >
      <State endpoint={endpoint} onEnable={mayChange ? () => enable.mutate(true) : undefined} />
      <Facts endpoint={endpoint} />
      <Deliveries endpoint={endpoint} deliveryId={deliveryId} />
      {panel === 'edit' && <EditEndpoint endpoint={endpoint} onClose={close} />}
      {panel === 'rotate' && <RotateSecret endpointId={endpoint._id} onClose={close} />}
      {panel === 'delete' && (
        <ConfirmByTyping
          title="Delete the endpoint"
          word={nameOfEndpoint(endpoint)}
          action="Delete"
          busy={remove.isPending}
          onConfirm={() => remove.mutate(undefined)}
          onClose={close}
        >
          Nothing more is sent to it, and the log of its deliveries is deleted.
        </ConfirmByTyping>
      )}
    </Page>
  )
}

const disablers: Readonly<Record<string, string>> = {
  failures: 'It accepted nothing for three days, so it was disabled.',
  gone: 'It answered 410 (Gone), so it was disabled.',
  caller: 'It was disabled here or through the API.',
}

function State({ endpoint, onEnable }: { endpoint: Endpoint; onEnable: (() => void) | undefined }) {
  if (endpoint.state === 'failing') {
    return (
      <Notice tone="error">
        The last {endpoint.failures === 1 ? 'attempt' : `${endpoint.failures} attempts`} failed, since{' '}
        {exactTime(endpoint.stateSince)}: {endpoint.lastError ?? 'no answer'}. Deliveries are retried for three days.
      </Notice>
    )
  }
  if (endpoint.state !== 'disabled') return null
  return (
    <Notice tone="warning">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <span>
          {disablers[endpoint.disabledBy ?? ''] ?? 'It is disabled.'} Since {exactTime(endpoint.stateSince)} nothing is
          sent to it; what happens meanwhile is not sent later.
          {endpoint.lastError !== null && endpoint.disabledBy !== 'caller' && ` Last error: ${endpoint.lastError}.`}
        </span>
        {onEnable !== undefined && <Button onClick={onEnable}>Enable it</Button>}
      </div>
    </Notice>
  )
}

function Facts({ endpoint }: { endpoint: Endpoint }) {
  const facts: readonly (readonly [string, string])[] = [
    ['Events', endpoint.eventTypes.length === 0 ? 'All' : endpoint.eventTypes.join(', ')],
    ['Workflows', endpoint.workflows.length === 0 ? 'All' : endpoint.workflows.join(', ')],
    ['Last accepted', endpoint.lastDeliveredAt === null ? 'Nothing yet' : exactTime(endpoint.lastDeliveredAt)],
    ...(endpoint.previousSecretUntil === null
      ? []
      : ([['Old secret valid until', exactTime(endpoint.previousSecretUntil)]] as const)),
  ]
  return (
    <dl className="card flex flex-wrap gap-x-10 gap-y-3 px-4 py-3">
      <div>
        <dt className="text-xs text-ink-3">State</dt>
        <dd className="mt-0.5">
          <EndpointState of={endpoint} />
        </dd>
      </div>
      {facts.map(([name, value]) => (
        <div key={name} className="min-w-0 max-w-full">
          <dt className="text-xs text-ink-3">{name}</dt>
          <dd className="mt-0.5">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function EditEndpoint({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const { url, description, eventTypes, workflows, concurrency } = endpoint
  const [fields, setFields] = useState<EndpointInput>({
    url,
    description,
    eventTypes: eventTypes as EndpointInput['eventTypes'],
    workflows,
    concurrency,
  })
  const save = useChange(
    () =>
      answerOf(
        client.PATCH('/v1/webhook-endpoints/{endpointId}', {
          params: { path: { endpointId: endpoint._id } },
          body: fields,
        }),
      ),
    { touches: ['webhooks'], says: 'The endpoint is saved', quiet: true, onDone: onClose },
  )
  return (
    <FormDialog
      title="Edit the endpoint"
      action="Save"
      width="max-w-2xl"
      busy={save.isPending}
      disabled={fields.url.trim() === ''}
      error={save.error}
      onSubmit={() => save.mutate(undefined)}
      onClose={onClose}
    >
      <EndpointFields fields={fields} error={save.error} onChange={setFields} />
    </FormDialog>
  )
}
