// Who an event names: subscribers found, made or updated, and their channels written, in the given transaction.
import { isDeepStrictEqual } from 'node:util'
import type { Sql, Tx } from '../db/sql.ts'
import type { Recipient } from '../domain/delivery/event.ts'
import type { Environment } from '../domain/environment.ts'
import type { SubscriberFields } from '../domain/people/subscriber.ts'
import { Problem } from '../domain/problem.ts'
import { readStamps } from '../store/operate/configuration-stamps.ts'
import { channelChanges } from '../store/people/channel-changes.ts'
import type { ChannelChange } from '../store/people/subscriber-channels.ts'
import { mergeChannels } from '../store/people/subscriber-channels.ts'
import type { SubscriberChange, SubscriberRow, SubscriberUpsert } from '../store/people/subscribers.ts'
import { findSubscriberIds, findSubscriberRows, storedFields, upsertSubscribers } from '../store/people/subscribers.ts'
import type { World } from '../world/world.ts'
import type { ForeseenFacts } from './notify.ts'
import { newSubscriberRow, withFields } from './subscriber-rows.ts'

export interface ResolvedRecipients {
  /** Internal ids by subscriberId; every recipient is in it. */
  readonly ids: ReadonlyMap<string, string>
  /** What could not be written, by subscriberId. */
  readonly warnings: ReadonlyMap<string, string>
}

/**
 * In separate statements, before the event is inserted: `on conflict do nothing` and a select in one statement share a
 * snapshot, and a subscriber committed in the meantime would be in neither.
 */
export async function resolveRecipients(
  tx: Tx,
  world: World,
  environment: Environment,
  given: readonly Recipient[],
): Promise<ResolvedRecipients> {
  const now = world.now()
  const recipients = mergedRecipients(given)
  const ids = await findKnown(tx, environment, recipients)
  const upserts = recipients
    .filter((recipient) => !ids.has(recipient.subscriberId))
    .map(({ subscriberId, fields }) => ({ id: world.newId(now), subscriberId, fields }))
  for (const { row } of await upsertSubscribers(tx, environment, upserts, now)) ids.set(row.subscriber_id, row.id)
  if (recipients.some(({ subscriberId }) => !ids.has(subscriberId))) {
    throw new Error('A recipient was neither found nor created')
  }
  const warnings = await writeChannels(tx, world, environment, recipients, ids)
  return { ids, warnings }
}

/** Who is there, who would be made and who changed, as far as can be seen before anything is locked. */
export interface ForeseenPeople {
  /** Internal ids by subscriberId; those of `made` are the ids that they will get. */
  readonly ids: ReadonlyMap<string, string>
  readonly made: readonly SubscriberUpsert[]
  readonly changed: readonly SubscriberChange[]
  /**
   * What deciding their jobs needs, by internal id, if requested: so a single event does not need another round trip.
   */
  readonly facts: ReadonlyMap<string, ForeseenFacts>
}

export async function foreseePeople(
  db: Sql,
  world: Pick<World, 'now' | 'newId'>,
  environment: Environment,
  given: readonly Recipient[],
  withFacts: boolean,
): Promise<ForeseenPeople> {
  const recipients = mergedRecipients(given)
  const now = world.now()
  const [{ ids, rows, differing }, stamps] = await Promise.all([
    lookUp(db, environment, recipients, withFacts),
    withFacts ? readStamps(db, environment) : undefined,
  ])
  const made: SubscriberUpsert[] = []
  const changed: SubscriberChange[] = []
  const written: SubscriberRow[] = []
  for (const { subscriberId, fields } of recipients) {
    if (ids.has(subscriberId)) continue
    const before = differing.get(subscriberId)
    const id = before?.id ?? world.newId(now)
    if (before === undefined) made.push({ id, subscriberId, fields })
    else changed.push({ id, subscriberId, fields, readAs: before.updated_at })
    ids.set(subscriberId, id)
    written.push(withFields(before ?? newSubscriberRow(id, subscriberId, now), fields))
  }
  const facts = new Map<string, ForeseenFacts>()
  if (stamps === undefined) return { ids, made, changed, facts }
  for (const recipient of [...rows, ...written]) facts.set(recipient.id, { readAt: now, stamps, recipient })
  return { ids, made, changed, facts }
}

/** Existing subscribers without changes: most are, and cost no write, no lock and no comparison of fields. */
async function findKnown(
  db: Sql,
  environment: Environment,
  recipients: readonly Recipient[],
): Promise<Map<string, string>> {
  return (await lookUp(db, environment, recipients)).ids
}

interface LookedUp {
  /** Of those who are as they are said to be. */
  readonly ids: Map<string, string>
  /** For the same, if they were read. */
  readonly rows: readonly SubscriberRow[]
  /** Those with changes, as they are. */
  readonly differing: ReadonlyMap<string, SubscriberRow>
}

/** `looksAtAll`: also at those who are only named. */
async function lookUp(
  db: Sql,
  environment: Environment,
  recipients: readonly Recipient[],
  looksAtAll = false,
): Promise<LookedUp> {
  const isNamed = ({ fields }: Recipient): boolean => !looksAtAll && Object.keys(fields).length === 0
  const named = recipients.filter(isNamed).map((recipient) => recipient.subscriberId)
  const described = recipients.filter((recipient) => !isNamed(recipient))
  const describedIds = described.map((recipient) => recipient.subscriberId)
  const [ids, rows] = await Promise.all([
    named.length === 0 ? new Map<string, string>() : findSubscriberIds(db, environment, named),
    described.length === 0 ? [] : findSubscriberRows(db, environment, describedIds),
  ])
  const differing = new Map<string, SubscriberRow>()
  const same: SubscriberRow[] = []
  const stored = new Map(rows.map((row) => [row.subscriber_id, row]))
  for (const { subscriberId, fields } of described) {
    const row = stored.get(subscriberId)
    if (row === undefined) continue
    if (differs(row, fields)) {
      differing.set(subscriberId, row)
      continue
    }
    ids.set(subscriberId, row.id)
    same.push(row)
  }
  return { ids, rows: same, differing }
}

/**
 * Which integration each channel entry belongs to. An entry that names an unknown one does not affect others: it comes
 * back as words, and is reported as a warning.
 */
export async function resolveChannels(
  db: Sql,
  environment: Environment,
  recipients: readonly Recipient[],
): Promise<(Omit<ChannelChange, 'subscriberId'>[] | string)[]> {
  const lists = recipients.map((recipient) => recipient.channels)
  const resolved = await channelChanges(db, environment, lists)
  return resolved.map((one) => (one instanceof Problem ? one.message : one))
}

async function writeChannels(
  tx: Tx,
  world: World,
  environment: Environment,
  recipients: readonly Recipient[],
  ids: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const warnings = new Map<string, string>()
  const withChannels = recipients.filter((recipient) => recipient.channels.length > 0)
  if (withChannels.length === 0) return warnings
  const resolved = await resolveChannels(tx, environment, withChannels)
  const changes: ChannelChange[] = []
  for (const [index, { subscriberId }] of withChannels.entries()) {
    const own = resolved[index]
    if (typeof own === 'string') warnings.set(subscriberId, own)
    else for (const change of own ?? []) changes.push({ ...change, subscriberId: ids.get(subscriberId) ?? '' })
  }
  await mergeChannels(tx, world.sealer, environment, changes, { newId: world.newId, now: world.now() })
  return warnings
}

/** One of each, later fields over earlier ones. */
export function mergedRecipients(recipients: readonly Recipient[]): Recipient[] {
  const merged = new Map<string, Recipient>()
  for (const recipient of recipients) {
    const before = merged.get(recipient.subscriberId)
    merged.set(
      recipient.subscriberId,
      before === undefined
        ? recipient
        : {
            subscriberId: recipient.subscriberId,
            fields: { ...before.fields, ...recipient.fields },
            channels: [...before.channels, ...recipient.channels],
          },
    )
  }
  return [...merged.values()]
}

function differs(row: SubscriberRow, fields: SubscriberFields): boolean {
  const stored: Readonly<Record<keyof SubscriberFields, unknown>> = storedFields(row)
  return Object.entries(fields).some(([name, value]) => {
    if (value === undefined) return false
    const before = stored[name as keyof SubscriberFields]
    // As the database stores it: the fields of an object in its own order, and numbers as in JSON.
    return name === 'data' ? !isDeepStrictEqual(JSON.parse(JSON.stringify(value)), before) : value !== before
  })
}

/** What could not be written, as a message for the caller of the trigger. */
export function channelWarnings(warnings: ReadonlyMap<string, string>): string[] {
  return [...warnings].map(([subscriberId, words]) => `Channels of ${subscriberId} were not stored: ${words}`)
}
