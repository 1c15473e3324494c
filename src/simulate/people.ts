// The recipients of an event, as they would be once it was accepted: found, with the changes of the event, and nothing
// written.
import type { Sql } from '../db/sql.ts'
import type { Recipient } from '../domain/delivery/event.ts'
import type { Integration } from '../domain/delivery/integration.ts'
import type { Environment } from '../domain/environment.ts'
import { grouped } from '../domain/grouped.ts'
import type { Sealer } from '../domain/operate/sealed.ts'
import type { ChannelSettings } from '../domain/people/channel-settings.ts'
import { mergedRecipients, resolveChannels } from '../record/resolve-recipients.ts'
import { newSubscriberRow, withFields } from '../record/subscriber-rows.ts'
import type { ChannelChange, Entry } from '../store/people/subscriber-channels.ts'
import { findEntries, mergeEntries } from '../store/people/subscriber-channels.ts'
import type { SubscriberRow } from '../store/people/subscribers.ts'
import { findSubscriberRows } from '../store/people/subscribers.ts'

export interface People {
  /** Internal ids by subscriberId. */
  readonly ids: ReadonlyMap<string, string>
  /** By internal id. */
  readonly rows: ReadonlyMap<string, SubscriberRow>
  /** The subscriberIds of those who would be made. */
  readonly made: ReadonlySet<string>
  /** What could not be stored, by subscriberId. */
  readonly warnings: ReadonlyMap<string, string>
  /** What would be stored of how they can be reached. */
  readonly channels: readonly ChannelChange[]
}

export async function findPeople(
  db: Sql,
  environment: Environment,
  given: readonly Recipient[],
  { now, newId }: { now: Date; newId(): string },
): Promise<People> {
  const recipients = mergedRecipients(given)
  const reachable = recipients.filter(({ channels }) => channels.length > 0)
  const [found, resolved] = await Promise.all([
    recipients.length === 0
      ? []
      : findSubscriberRows(
          db,
          environment,
          recipients.map(({ subscriberId }) => subscriberId),
        ),
    reachable.length === 0 ? [] : resolveChannels(db, environment, reachable),
  ])
  const stored = new Map(found.map((row) => [row.subscriber_id, row]))
  const ids = new Map<string, string>()
  const rows = new Map<string, SubscriberRow>()
  for (const { subscriberId, fields } of recipients) {
    const row = withFields(stored.get(subscriberId) ?? newSubscriberRow(newId(), subscriberId, now), fields)
    ids.set(subscriberId, row.id)
    rows.set(row.id, row)
  }
  const warnings = new Map<string, string>()
  const channels: ChannelChange[] = []
  for (const [index, { subscriberId }] of reachable.entries()) {
    const own = resolved[index] ?? []
    if (typeof own === 'string') warnings.set(subscriberId, own)
    else for (const change of own) channels.push({ ...change, subscriberId: ids.get(subscriberId) ?? '' })
  }
  const made = new Set(recipients.map((one) => one.subscriberId).filter((subscriberId) => !stored.has(subscriberId)))
  return { ids, rows, made, warnings, channels }
}

/** The entries of chat and push, with those that the event brings. */
export async function withBrought(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  channels: ReadonlyMap<string, readonly ChannelSettings[]>,
  {
    brought,
    integrations,
    newId,
  }: { brought: readonly ChannelChange[]; integrations: readonly Integration[]; newId(): string },
): Promise<ReadonlyMap<string, readonly ChannelSettings[]>> {
  if (brought.length === 0) return channels
  const subscriberIds = [...new Set(brought.map(({ subscriberId }) => subscriberId))]
  const entries = await findEntries(db, sealer, environment, subscriberIds)
  mergeEntries(entries, brought, newId)
  // The oldest first, as they are read.
  const sorted = [...entries.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  const changed = grouped(sorted, ({ subscriberId }) => subscriberId)
  return new Map([
    ...channels,
    ...[...changed].map(([id, own]) => [id, own.map((entry) => settingsOf(entry, integrations))] as const),
  ])
}

/** An entry stored while its provider had no integration belongs to the newest; inactive ones send nothing. */
function settingsOf(
  { providerId, integrationId, credentials }: Entry,
  integrations: readonly Integration[],
): ChannelSettings {
  const own =
    integrationId === null
      ? integrations.findLast((one) => one.providerId === providerId)
      : integrations.find((one) => one._id === integrationId)
  return {
    providerId,
    ...(own === undefined ? {} : { integrationIdentifier: own.identifier }),
    credentials,
    _integrationId: integrationId ?? own?._id ?? '',
  }
}
