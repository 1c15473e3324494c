// A send that has its slot: written as begun before the provider is asked.
import type { StoredDetail } from '../domain/execution-detail.ts'
import { gathered } from '../domain/gathered.ts'
import type { Settlement } from '../record/settlement.ts'
import { settles } from '../record/settlement.ts'
import type { NewMessage } from '../store/messages/insert.ts'
import type { LaterMessage, Outgoing } from './outgoing.ts'
import { replyWarnings } from './reply-address.ts'
import { messageOf } from './settle-decision.ts'
import { selected } from './settle-outcomes.ts'

/**
 * For one of which nothing was written yet: the whole decision, with its messages. Those that have no slot now are written
 * as ready, and have their turn when these are over.
 */
export function begunSettlement({ facts, messages, later, unwritten }: Outgoing, now: Date): Settlement {
  const written = (state: 'calling' | 'ready', { id, draft, integration, sending }: LaterMessage): NewMessage[] => {
    if (draft === undefined || integration === undefined) return []
    const { _id: integrationId, providerId } = integration
    return [messageOf(facts, draft, now, { id, state, status: null, providerId, integrationId, sending })]
  }
  return settles(facts.job, 'running', {
    due: 'kept',
    state: { ...facts.job.state, providerId: messages[0]?.integration.providerId ?? '' },
    details: [
      ...selections([...messages, ...later], now),
      ...(unwritten?.details ?? []),
      ...replyWarnings(facts, [...messages, ...later], now),
    ],
    messages: [
      ...gathered(messages, (message) => written('calling', message)),
      ...gathered(later, (message) => written('ready', message)),
    ],
  })
}

/** Once an integration, however many messages it sends. */
function selections(messages: readonly LaterMessage[], now: Date): StoredDetail[] {
  const integrations = new Set(gathered(messages, ({ integration }) => integration ?? []))
  return [...integrations].map((integration) => selected(integration, now))
}
