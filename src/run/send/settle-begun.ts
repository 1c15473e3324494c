// A send that has its slot: written as started before the provider is called.
import { leased } from '../../domain/delivery/due.ts'
import type { Integration } from '../../domain/delivery/integration.ts'
import type { StoredDetail } from '../../domain/insight/execution-detail.ts'
import type { Settlement } from '../../record/settlement.ts'
import { settles } from '../../record/settlement.ts'
import type { NewMessage } from '../../store/messages/insert.ts'
import { messageOf } from '../decide/settle-decision.ts'
import type { BegunMessage, LaterMessage, Outgoing } from './outgoing.ts'
import { replyWarnings } from './reply-address.ts'
import { released } from './resting.ts'
import { selected } from './settle-outcomes.ts'

/**
 * For one of which nothing was written yet: the whole decision, with its messages. Those without a slot now are written
 * as ready, and are sent when these have finished; so are those that are marked when their content leaves.
 */
export function begunSettlement({ facts, messages, later, unwritten }: Outgoing, now: Date): Settlement {
  const all: readonly LaterMessage[] = later.length === 0 ? messages : [...messages, ...later]
  const written: NewMessage[] = []
  for (const [index, one] of all.entries()) {
    const { id, draft, integration } = one
    if (draft === undefined || integration === undefined) continue
    const { _id: integrationId, providerId } = integration
    const begun = index < messages.length ? (one as Partial<BegunMessage>) : undefined
    const isCalled = begun !== undefined && begun.marksLater !== true
    const sending = isCalled ? one.sending : (begun?.before ?? one.sending)
    const state = isCalled ? 'calling' : 'ready'
    written.push(messageOf(facts, draft, now, { id, state, status: null, providerId, integrationId, sending }))
  }
  const details = selections(all, now)
  details.push(...(unwritten?.details ?? []), ...replyWarnings(facts, all, now))
  const state = { ...released(facts.job.state), providerId: messages[0]?.integration.providerId ?? '' }
  return settles(facts.job, 'running', { due: leased, state, details, messages: written })
}

/** Once an integration, however many messages it sends. */
function selections(messages: readonly LaterMessage[], now: Date): StoredDetail[] {
  const integrations: Integration[] = []
  for (const { integration } of messages) {
    if (integration !== undefined && !integrations.includes(integration)) integrations.push(integration)
  }
  return integrations.map((integration) => selected(integration, now))
}
