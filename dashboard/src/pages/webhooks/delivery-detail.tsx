// A delivery: each attempt with what the endpoint answered, and what was sent.
import type { Schemas } from '../../api.ts'
import { answerOf, client } from '../../api.ts'
import { useAsk, useChange } from '../../ask.ts'
import { useMayChange } from '../../session.tsx'
import { Button, IconButton } from '../../ui/controls.tsx'
import { CopyText, Json } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Answered } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { duration, exactTime, Time } from '../../ui/time.tsx'
import { stateOf } from './delivery-state.ts'

type Delivery = Schemas['WebhookDelivery']
const refreshMs = 1_500

export function DeliveryDetail({
  endpoint,
  deliveryId,
  onClose,
}: {
  endpoint: Schemas['WebhookEndpoint']
  deliveryId: string
  onClose: () => void
}) {
  const mayChange = useMayChange()
  const path = { endpointId: endpoint._id, deliveryId }
  const delivery = useAsk(
    ['webhooks', 'delivery', deliveryId],
    () => answerOf(client.GET('/v1/webhook-endpoints/{endpointId}/deliveries/{deliveryId}', { params: { path } })),
    { everyMs: refreshMs },
  )
  const again = useChange(
    () =>
      answerOf(client.POST('/v1/webhook-endpoints/{endpointId}/deliveries/{deliveryId}/redrive', { params: { path } })),
    { touches: ['webhooks'], says: 'It is sent again' },
  )
  return (
    <article aria-label="Delivery" className="card min-w-0">
      <header className="flex flex-wrap items-center gap-2 border-b border-line p-4">
        <h3 className="min-w-0 flex-1 font-mono font-semibold">{delivery.data?.type ?? 'Delivery'}</h3>
        {mayChange && delivery.data !== undefined && (
          <Button
            icon="again"
            busy={again.isPending}
            disabled={endpoint.state === 'disabled' || stateOf(delivery.data) === 'queued'}
            onClick={() => again.mutate(undefined)}
          >
            Send again
          </Button>
        )}
        <IconButton name="cross" label="Close the delivery" onClick={onClose} />
        {delivery.data !== undefined && <Verdict of={delivery.data} />}
      </header>
      <Answered of={delivery}>
        {(one) => (
          <div className="flex flex-col gap-4 p-4">
            <section aria-label="Attempts" className="flex flex-col gap-2">
              <h4 className="text-xs font-medium text-ink-3">Attempts</h4>
              {one.answers.length === 0 && <p className="text-ink-2">None yet.</p>}
              <ol className="flex flex-col gap-2">
                {one.answers.map((answer) => (
                  <Attempt key={answer.at} of={answer} />
                ))}
              </ol>
            </section>
            <section aria-label="What was sent">
              <h4 className="mb-1 text-xs font-medium text-ink-3">What was sent</h4>
              <Json label="the body" value={one.body} />
              <p className="mt-2 text-xs text-ink-3">
                webhook-id <CopyText text={one._id} />
              </p>
            </section>
          </div>
        )}
      </Answered>
    </article>
  )
}

function Verdict({ of: one }: { of: Delivery }) {
  const words: Record<Delivery['status'], string> = {
    delivered: `Accepted ${one.settledAt === null ? '' : exactTime(one.settledAt)}.`,
    failed: 'Three days of attempts were in vain. It is not tried again by itself.',
    waiting:
      one.nextAttemptAt === null ? 'It is being sent.' : `The next attempt is at ${exactTime(one.nextAttemptAt)}.`,
  }
  return (
    <p className="flex basis-full flex-wrap items-center gap-2 text-ink-2">
      <Status state={stateOf(one)} />
      <span>
        {words[one.status]} Happened <Time at={one.createdAt} />.
      </span>
    </p>
  )
}

function Attempt({ of: answer }: { of: Delivery['answers'][number] }) {
  const isAccepted = answer.error === null
  return (
    <li className="rounded-md border border-line">
      <p className="flex flex-wrap items-center gap-2 px-3 py-2">
        <Icon name={isAccepted ? 'check' : 'cross'} className={isAccepted ? 'text-green' : 'text-red'} />
        <span className="font-medium">{answer.status === null ? 'No answer' : `HTTP ${answer.status}`}</span>
        <span className="text-ink-2">in {duration(answer.durationMs)}</span>
        <span className="ml-auto text-xs text-ink-3">{exactTime(answer.at)}</span>
      </p>
      {answer.status === null && !isAccepted && <p className="px-3 pb-2 text-red">{answer.error}</p>}
      {answer.answer !== null && answer.answer !== '' && (
        <pre className="prose-mono max-h-40 overflow-auto border-t border-line bg-bg-2 px-3 py-2">{answer.answer}</pre>
      )}
    </li>
  )
}
