// Sending again what failed, after its cause is fixed: the button, and how far it has come.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../api.ts'
import { answerOf, clientOf } from '../../api.ts'
import { useChange } from '../../ask.ts'
import { useEnvironment } from '../../session.tsx'
import { Button } from '../../ui/controls.tsx'

const dayMs = 86_400_000
const progressMs = 1_500

export interface SendingAgain {
  readonly isStarting: boolean
  /** Undefined before one was started on this page. */
  readonly redrive: Pick<Schemas['Redrive'], 'state' | 'matched' | 'redriven' | 'lookedAt'> | undefined
  start(): void
}

const begun = { state: 'running', matched: 0, redriven: 0, lookedAt: 0 } as const

/** Held by the page: the causes go as soon as their notifications are due again, and what is sent goes on. */
export function useSendingAgain(): SendingAgain {
  const { id } = useEnvironment()
  const [redriveId, setRedriveId] = useState<string>()
  const api = clientOf(id)
  const starting = useChange(
    async () => {
      const filter = { from: new Date(Date.now() - dayMs).toISOString() }
      const answer = await answerOf(api.POST('/v1/redrives', { body: { filter } as never }))
      // At once: the mutation itself is over only when the whole overview was read again.
      if ('_id' in answer) setRedriveId(answer._id)
    },
    { touches: ['overview', 'activity'], says: 'Failed notifications of the last 24 hours are being resent' },
  )
  const asked = useQuery({
    queryKey: [id, 'redrive', redriveId],
    queryFn: () => answerOf(api.GET('/v1/redrives/{redriveId}', { params: { path: { redriveId: redriveId ?? '' } } })),
    enabled: redriveId !== undefined,
    refetchInterval: ({ state }) => (state.data === undefined || state.data.state === 'running' ? progressMs : false),
  })
  return {
    isStarting: starting.isPending,
    redrive: redriveId === undefined ? undefined : (asked.data ?? begun),
    start: () => starting.mutate(undefined),
  }
}

/** Everything that failed in the last day, tried again at a measured pace. */
export function SendAllAgain({ sending }: { sending: SendingAgain }) {
  return (
    <li className="flex flex-wrap items-center gap-3 px-4 py-3">
      <span className="min-w-0 flex-1 text-xs text-ink-2">
        After fixing the cause, resend everything that failed in the last 24 hours.
      </span>
      <Button icon="again" busy={sending.isStarting} onClick={sending.start}>
        Send again
      </Button>
    </li>
  )
}

/** How far the sending has come, until it is done. */
export function Progress({ redrive }: { redrive: NonNullable<SendingAgain['redrive']> }) {
  const { state, matched, redriven, lookedAt } = redrive
  return (
    <li aria-live="polite" className="flex flex-col gap-2 px-4 py-3">
      <p>
        {state === 'running' ? 'Sending again' : state === 'completed' ? 'Sent again' : 'Stopped'}:{' '}
        {redriven.toLocaleString('en')} of {matched.toLocaleString('en')} that failed
      </p>
      <progress aria-label="Sent again" className="w-full" value={redriven} max={Math.max(1, matched)} />
      <p className="text-xs text-ink-3">{lookedAt.toLocaleString('en')} notifications looked at.</p>
    </li>
  )
}
