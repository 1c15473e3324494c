// A send that has its slot: written as begun before the provider is asked.
import { beginAttempt } from '../domain/after-outcome.ts'
import type { Settlement } from '../record/settlement.ts'
import { settles } from '../record/settlement.ts'
import type { Outgoing } from './outgoing.ts'
import { messageOf } from './settle-decision.ts'
import { selected } from './settle-outcomes.ts'

export function begunNow(outgoing: Outgoing, now: Date): Outgoing {
  const messages = outgoing.messages.map((message) => ({ ...message, sending: beginAttempt(message.sending, now) }))
  return { ...outgoing, messages }
}

/** For one of which nothing was written yet: the whole decision, with its messages. */
export function begunSettlement({ facts, messages, unwritten }: Outgoing, now: Date): Settlement {
  const drafts = unwritten?.messages ?? []
  const chosen = messages[0] === undefined ? [] : [selected(messages[0].integration, now)]
  return settles(facts.job, 'running', {
    due: 'kept',
    state: { providerId: messages[0]?.integration.providerId ?? '' },
    details: [...chosen, ...(unwritten?.details ?? [])],
    messages: messages.map(({ integration, sending }, index) =>
      messageOf(facts, drafts[index] as (typeof drafts)[number], now, {
        state: 'calling',
        status: null,
        providerId: integration.providerId,
        integrationId: integration._id,
        sending,
      }),
    ),
  })
}
