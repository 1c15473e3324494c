// What was sent to an endpoint, newest first, with its answers beside the list; and sending a whole time again.
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAskRows, useChange } from '../../ask.ts'
import { useGo } from '../../env-link.tsx'
import { useMayChange } from '../../session.tsx'
import { Beside, hiddenWith, isBeside } from '../../ui/beside.tsx'
import { each } from '../../ui/bulk-actions.ts'
import { Button, Choice, TextField, Toggle } from '../../ui/controls.tsx'
import { shortened } from '../../ui/copy.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { List, Muted } from '../../ui/list.tsx'
import { Empty } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { exactTime, localInput, Time, zone } from '../../ui/time.tsx'
import { DeliveryDetail } from './delivery-detail.tsx'
import { stateOf } from './delivery-state.ts'

type Endpoint = Schemas['WebhookEndpoint']
type Delivery = Schemas['WebhookDelivery']
type DeliveryStatus = Delivery['status']
const refreshMs = 4_000
const pageSize = 50

export function lastAnswer({ answers, status }: Pick<Delivery, 'answers' | 'status'>): string {
  const last = answers.at(-1)
  if (last === undefined) return status === 'waiting' ? 'Not sent yet' : '–'
  return last.status === null ? (last.error ?? 'No answer') : `HTTP ${last.status}`
}

const columns: readonly Column<Delivery>[] = [
  { head: 'Status', width: '124px', cell: (one) => <Status state={stateOf(one)} /> },
  { head: 'Event', cell: (one) => <span className="block truncate font-mono text-xs">{one.type}</span> },
  { head: 'Answer', from: 'sm', cell: (one) => <span className="block truncate text-ink-2">{lastAnswer(one)}</span> },
  { head: 'Attempts', from: 'md', right: true, width: '96px', cell: (one) => one.attempts },
  {
    head: 'When',
    right: true,
    width: '132px',
    cell: (one) => (
      <Muted>
        <Time at={one.createdAt} />
      </Muted>
    ),
  },
]

export function Deliveries({ endpoint, deliveryId }: { endpoint: Endpoint; deliveryId: string | undefined }) {
  const { status = '' } = useSearch({ strict: false }) as { status?: '' | DeliveryStatus }
  const go = useGo()
  const mayChange = useMayChange()
  const [resending, setResending] = useState(false)
  const at = `/webhooks/${endpoint._id}`
  const list = useAskRows(
    ['webhooks', 'deliveries', endpoint._id, status],
    ({ cursor }) =>
      answerOf(
        client.GET('/v1/webhook-endpoints/{endpointId}/deliveries', {
          params: {
            path: { endpointId: endpoint._id },
            query: { limit: pageSize, ...(status === '' ? {} : { status }), ...cursor },
          },
        }),
      ),
    { everyMs: refreshMs },
  )
  return (
    <section aria-label="Deliveries" className="flex flex-col gap-3">
      <div className={`flex flex-wrap items-center justify-between gap-2 ${hiddenWith(deliveryId)}`}>
        <h2 className="text-base font-semibold">Deliveries</h2>
        <div className="flex flex-wrap items-center gap-2">
          <Choice
            label="Which deliveries"
            value={status}
            options={[
              ['', 'All'],
              ['failed', 'Failed'],
              ['waiting', 'Waiting'],
              ['delivered', 'Delivered'],
            ]}
            onChange={(next) => go(at, { status: next }, { replace: true })}
          />
          {mayChange && (
            <Button icon="again" onClick={() => setResending(true)}>
              Send a period again
            </Button>
          )}
        </div>
      </div>
      <Beside
        detail={
          deliveryId === undefined ? undefined : (
            <DeliveryDetail
              key={deliveryId}
              endpoint={endpoint}
              deliveryId={deliveryId}
              onClose={() => go(at, { status }, { stays: isBeside() })}
            />
          )
        }
      >
        <List
          label="Deliveries"
          {...list.table}
          columns={deliveryId === undefined ? columns : columns.filter(({ head }) => head !== 'Attempts')}
          keyOf={({ _id }) => _id}
          chosen={deliveryId}
          bulk={
            mayChange && endpoint.state !== 'disabled'
              ? {
                  of: 'deliveries',
                  one: 'delivery',
                  nameOf: ({ type, _id }) => `${type} ${shortened(_id)}`,
                  actions: [
                    {
                      text: 'Send again',
                      icon: 'again',
                      does: 'The events are sent once more, with the same ids and bodies as before.',
                      fits: (one) => stateOf(one) !== 'queued',
                      touches: ['webhooks'],
                      act: each(({ _id }: Delivery, api) =>
                        answerOf(
                          api.POST('/v1/webhook-endpoints/{endpointId}/deliveries/{deliveryId}/redrive', {
                            params: { path: { endpointId: endpoint._id, deliveryId: _id } },
                          }),
                        ),
                      ),
                    },
                  ],
                }
              : undefined
          }
          onOpen={({ _id }) => go(`${at}/${_id}`, { status }, { stays: isBeside() })}
          empty={
            status === '' ? (
              <Empty icon="webhook" title="Nothing was sent yet">
                Events appear here with what the endpoint answered. They are kept for 30 days.
              </Empty>
            ) : (
              <Empty
                icon="search"
                title="No delivery has this status"
                action={<Button onClick={() => go(at)}>Show all</Button>}
              />
            )
          }
        />
      </Beside>
      {resending && <SendPeriodAgain endpoint={endpoint} onClose={() => setResending(false)} />}
    </section>
  )
}

const dayMs = 86_400_000

function SendPeriodAgain({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const [from, setFrom] = useState(() => localInput(Date.now() - dayMs))
  const [to, setTo] = useState(() => localInput(Date.now()))
  const [also, setAlso] = useState(false)
  const [progress, setProgress] = useState<{ sent: number; upTo: string }>()
  const send = useChange(
    async () => {
      let sent = 0
      let next: string | null = new Date(from).toISOString()
      // To the end of the minute that is shown.
      const until = new Date(new Date(to).getTime() + 59_999).toISOString()
      while (next !== null) {
        const answer: Schemas['RedrivenWebhookDeliveries'] = await answerOf(
          client.POST('/v1/webhook-endpoints/{endpointId}/redrive', {
            params: { path: { endpointId: endpoint._id } },
            body: { from: next, to: until, statuses: also ? ['failed', 'delivered'] : ['failed'] },
          }),
        )
        sent += answer.redriven
        if (answer.isCapped && answer.nextFrom !== null) setProgress({ sent, upTo: answer.nextFrom })
        next = answer.isCapped ? answer.nextFrom : null
      }
      return sent
    },
    {
      touches: ['webhooks'],
      quiet: true,
      says: (sent) => (sent === 0 ? 'There was nothing to send again' : `${sent.toLocaleString('en')} are sent again`),
      onDone: onClose,
    },
  )
  const isValid = from !== '' && to !== '' && from <= to
  return (
    <FormDialog
      title="Send a period again"
      action="Send again"
      busy={send.isPending}
      disabled={!isValid}
      error={send.error}
      onSubmit={() => send.mutate(undefined)}
      onClose={onClose}
    >
      <p className="text-ink-2">
        Events of this period are sent once more, the oldest first, with the same ids and bodies as before.
      </p>
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <TextField label="From" type="datetime-local" value={from} onText={setFrom} />
        <TextField
          label="To"
          type="datetime-local"
          value={to}
          error={isValid ? undefined : 'It must not be before the start.'}
          onText={setTo}
        />
      </div>
      <p className="text-xs text-ink-3">Times are in {zone}.</p>
      {send.isPending && progress !== undefined && (
        <p role="status" className="text-ink-2">
          {progress.sent.toLocaleString('en')} are sent again so far, up to {exactTime(progress.upTo)}.
        </p>
      )}
      <Toggle
        label="Also those that were accepted"
        hint="For a backend that lost what it had stored."
        checked={also}
        onChange={setAlso}
      />
    </FormDialog>
  )
}
