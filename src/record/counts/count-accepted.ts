// What accepting and fanning out add to the counts: events, and the notifications they become.
import type { CountedKey } from '../../store/operate/counts.ts'

interface Versioned {
  readonly versionId: string
}

export function countedEvents(events: readonly Versioned[], notifications: readonly Versioned[]): CountedKey[] {
  return [...byVersion('events', events), ...countedNotifications(notifications)]
}

export function countedNotifications(notifications: readonly Versioned[]): CountedKey[] {
  return byVersion('notifications', notifications)
}

function byVersion(measure: 'events' | 'notifications', things: readonly Versioned[]): CountedKey[] {
  const counts = new Map<string, number>()
  for (const { versionId } of things) counts.set(versionId, (counts.get(versionId) ?? 0) + 1)
  return [...counts].map(([versionId, count]) => ({ key: { measure, versionId }, count }))
}
