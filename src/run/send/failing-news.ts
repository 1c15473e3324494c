// The event that an integration fails: once an hour for each, whichever node finds it out.
import type { Integration } from '../../domain/delivery/integration.ts'
import { firstIdAt, notificationIdOf } from '../../domain/derived-id.ts'
import type { News } from '../../domain/webhooks/webhook-event.ts'

const hourMs = 60 * 60_000

/**
 * `downSince`: if its provider is taken to be down; otherwise its settings were refused. Without the provider's words: they may
 * name a recipient, and the event belongs to no subscriber with whom it would be erased.
 */
export function failingNews(
  { _id, identifier, name, providerId, channel }: Integration,
  { downSince, now }: { downSince: Date | undefined; now: Date },
): News {
  const hour = new Date(Math.floor(now.getTime() / hourMs) * hourMs)
  return {
    // The same for the whole hour: the second is a repeat of the first.
    id: notificationIdOf(firstIdAt(hour), _id),
    type: 'integration.failing',
    subjectId: _id,
    subscriberId: null,
    facts: {
      integration: { _id, identifier, name, providerId, channel },
      reason: downSince === undefined ? 'misconfigured' : 'down',
      since: (downSince ?? now).toISOString(),
    },
    at: now,
  }
}
