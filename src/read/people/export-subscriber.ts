// All data about one person, as JSON lines: one page at a time, so that it takes the same memory however much it is.
import type { Db, Sql } from '../../db/sql.ts'
import { sql } from '../../db/sql.ts'
import { idsOfMessages, jobIdOf, timestampOfId } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { grouped } from '../../domain/grouped.ts'
import type { Envelope } from '../../domain/messages/message.ts'
import { nilId } from '../../domain/nil-id.ts'
import type { Sealer } from '../../domain/operate/sealed.ts'
import type { SuppressionChannel } from '../../domain/people/suppression.ts'
import { comparedAddress } from '../../domain/people/suppression.ts'
import { Turn } from '../../domain/turn.ts'
import { stepsPerWorkflowMax } from '../../domain/workflows/workflow.ts'
import { findNotificationsOf } from '../../store/events/notifications.ts'
import { openAddresses } from '../../store/messages/addresses.ts'
import { shownContent } from '../../store/messages/rows.ts'
import { findEveryoneNamed } from '../../store/people/former-subscribers.ts'
import { findChannels } from '../../store/people/subscriber-channels.ts'
import type { SubscriberRow } from '../../store/people/subscribers.ts'
import { subscriberOf } from '../../store/people/subscribers.ts'
import { findSuppressedOrHidden } from '../../store/people/suppressions.ts'

/** Raised when the meaning of a line changes; new kinds and fields may be added without. */
const formatVersion = 1
const formatName = 'posthorn-subscriber'
/** Each comes with its steps and messages, of which one may have hundreds of kilobytes. */
const notificationsPerPage = 20
const linesPerPage = 200
/** Each comes with its payload, of up to half a megabyte. */
const digestEventsPerPage = 30

type Line = { readonly kind: string } & Readonly<Record<string, unknown>>
type Person = SubscriberRow & { readonly deleted_at: Date | null }

export interface SubscriberExport {
  readonly people: readonly Person[]
  readonly subscriberId: string
}

/** Deleted ones too; undefined if no subscriber has or had the id. */
export async function findExport(
  db: Sql,
  environment: Environment,
  subscriberId: string,
): Promise<SubscriberExport | undefined> {
  const people = await findEveryoneNamed(db, environment, subscriberId)
  return people.length === 0 ? undefined : { people, subscriberId }
}

export interface ExportParts {
  readonly sealer: Sealer
  readonly now: Date
  /** Aborted when the client no longer reads. */
  readonly gone: AbortSignal
}

/** The last line counts the others by kind: without it the export is incomplete. */
export async function* exportLines(
  db: Db,
  environment: Environment,
  found: SubscriberExport,
  { sealer, now, gone }: ExportParts,
): AsyncGenerator<string> {
  const { people, subscriberId } = found
  const counts: Record<string, number> = {}
  const turn = new Turn()
  const header = { kind: 'header', format: formatName, version: formatVersion, environment: environment.name }
  yield textOf([{ ...header, subscriberId, exportedAt: now.toISOString() }])
  for await (const lines of pagesOf(db, environment, people, sealer)) {
    if (gone.aborted) return
    for (const line of lines) {
      counts[line.kind] = (counts[line.kind] ?? 0) + 1
      if (turn.isOver()) await turn.next()
      yield textOf([line])
    }
  }
  yield textOf([{ kind: 'end', counts }])
}

const textOf = (lines: readonly Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

async function* pagesOf(
  db: Db,
  environment: Environment,
  people: readonly Person[],
  sealer: Sealer,
): AsyncGenerator<Line[]> {
  const ids = people.map((person) => person.id)
  yield people.map((person) => personLine(environment, person))
  yield people.flatMap((person) => preferenceLines(person))
  const channels = await findChannels(db, sealer, environment, ids)
  yield [...channels.values()].flat().map((channel) => ({ kind: 'channel', ...channel }))
  yield* walked((after) => topicPage(db, environment, ids, after))
  const addresses = people.flatMap(({ email, phone }) => [...listed('email', email), ...listed('sms', phone)])
  const suppressed = await findSuppressedOrHidden(db, sealer, environment, addresses)
  yield suppressed.map((suppression) => ({ kind: 'suppression', ...suppression }))
  yield* walked((after) => digestPage(db, environment, ids, after))
  yield* walked((after) => notificationPage(db, environment, ids, after, sealer))
}

interface Page {
  readonly lines: Line[]
  /** Undefined after the last. */
  readonly next: string | undefined
}

async function* walked(read: (after: string | null) => Promise<Page>): AsyncGenerator<Line[]> {
  let after: string | null | undefined = null
  while (after !== undefined) {
    const page: Page = await read(after)
    yield page.lines
    after = page.next
  }
}

function personLine(environment: Environment, person: Person): Line {
  const { channels: _channels, deleted: _deleted, __v, ...subscriber } = subscriberOf(environment, person, [])
  return { kind: 'subscriber', ...subscriber, deletedAt: person.deleted_at?.toISOString() ?? null }
}

function preferenceLines({ id, preferences }: Person): Line[] {
  return preferences === null ? [] : [{ kind: 'preferences', _subscriberId: id, ...preferences }]
}

function listed(channel: SuppressionChannel, address: string | null) {
  return address === null ? [] : [{ channel, address: comparedAddress(channel, address) }]
}

async function topicPage(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
  after: string | null,
): Promise<Page> {
  const rows = await db.rows<{ id: string; created_at: Date } & Record<string, unknown>>(sql`
    select s.id, s.subscriber_id, s.identifier, s.name, s.preferences, s.created_at, t.key as topic_key, t.name as topic_name
    from topic_subscriptions s
    join topics t on t.environment_id = s.environment_id and t.id = s.topic_id
    where s.environment_id = ${environment.id} and s.subscriber_id = any(${ids}::uuid[]) and s.id > ${after ?? nilId}::uuid
    order by s.id limit ${linesPerPage}`)
  const lines = rows.map((row) => ({
    kind: 'topic_subscription',
    _id: row.id,
    _subscriberId: row['subscriber_id'],
    topicKey: row['topic_key'],
    topicName: row['topic_name'],
    identifier: row['identifier'],
    name: row['name'],
    preferences: row['preferences'],
    createdAt: row.created_at.toISOString(),
  }))
  return { lines, next: rows.length < linesPerPage ? undefined : rows.at(-1)?.id }
}

/** What waits to be sent together, one event per line. */
async function digestPage(
  db: Sql,
  environment: Environment,
  ids: readonly string[],
  after: string | null,
): Promise<Page> {
  const [window = nilId, seq = '-1'] = after?.split('/') ?? []
  const rows = await db.rows<{ id: string; seq: number; due_at: Date } & Record<string, unknown>>(sql`
    select w.id, d.seq, w.due_at, w.notification_id, f.identifier, e.id as event_id, e.payload
    from digest_windows w
    join digest_events d on d.environment_id = w.environment_id and d.window_id = w.id
    left join workflows f on f.environment_id = w.environment_id and f.id = w.workflow_id
    left join events e on e.environment_id = w.environment_id and e.id = d.event_id
    where w.environment_id = ${environment.id} and w.subscriber_id = any(${ids}::uuid[]) and w.closed_at is null
      and (w.id, d.seq) > (${window}::uuid, ${seq}::bigint)
    order by w.id, d.seq limit ${digestEventsPerPage}`)
  const lines = rows.map((row) => ({
    kind: 'digest_event',
    _digestId: row.id,
    _notificationId: row['notification_id'],
    _eventId: row['event_id'],
    workflow: row['identifier'],
    dueAt: row.due_at.toISOString(),
    payload: row['payload'],
  }))
  const last = rows.at(-1)
  return { lines, next: last === undefined || rows.length < digestEventsPerPage ? undefined : `${last.id}/${last.seq}` }
}

const places = Array.from({ length: stepsPerWorkflowMax }, (_, place) => place)

/** Notifications, each followed by its messages, whatever became of them. */
async function notificationPage(
  db: Db,
  environment: Environment,
  subscriberIds: readonly string[],
  after: string | null,
  sealer: Sealer,
): Promise<Page> {
  const found = await findNotificationsOf(db, environment, { subscriberIds, after, limit: notificationsPerPage })
  if (found.length === 0) return { lines: [], next: undefined }
  const jobIds = found.flatMap(({ id, eventId }) => places.map((place) => jobIdOf(eventId, id, place)))
  const [events, jobs] = await Promise.all([
    findEventsOf(
      db,
      environment,
      found.map((one) => one.eventId),
    ),
    findSteps(db, environment, jobIds),
  ])
  const messages = grouped(await findMessages(db, sealer, environment, jobs), (message) => message._notificationId)
  const steps = grouped(jobs, (job) => job.notification_id)
  const lines = found.flatMap(({ id, eventId, recipient }): Line[] => {
    const facts = { _id: id, createdAt: timestampOfId(id).toISOString(), recipient }
    const line = { kind: 'notification', ...facts, ...events.get(eventId), steps: (steps.get(id) ?? []).map(stepOf) }
    return [line, ...(messages.get(id) ?? []).map((message): Line => ({ kind: 'message', ...message }))]
  })
  return { lines, next: found.length < notificationsPerPage ? undefined : found.at(-1)?.id }
}

async function findEventsOf(db: Sql, environment: Environment, ids: readonly string[]) {
  const rows = await db.rows<{ _eventId: string } & Record<string, unknown>>(sql`
    select e.id as "_eventId", e.transaction_id as "transactionId", w.identifier as workflow, e.payload, e.overrides,
           e.context_keys as "contextKeys", e.severity
    from unnest(${[...new Set(ids)]}::uuid[]) as asked (id)
    cross join lateral (select * from events found
      where found.environment_id = ${environment.id} and found.id = asked.id limit 1) as e
    left join workflows w on w.environment_id = e.environment_id and w.id = e.workflow_id`)
  return new Map(rows.map((row) => [row._eventId, row]))
}

interface StepRow {
  readonly id: string
  readonly notification_id: string
  readonly event_id: string
  readonly step: number
  readonly status: string
  readonly state: unknown
  readonly details: unknown
  readonly updated_at: Date
}

function findSteps(db: Sql, environment: Environment, ids: readonly string[]): Promise<StepRow[]> {
  return db.rows<StepRow>(sql`
    select id, notification_id, event_id, step, status, state, details, updated_at from jobs
    where environment_id = ${environment.id} and id = any(${ids}::uuid[]) order by notification_id, step`)
}

const stepOf = ({ id, step, status, state, details, updated_at }: StepRow) => ({
  _id: id,
  place: step,
  status,
  state,
  details,
  updatedAt: updated_at.toISOString(),
})

/** As stored, except for what is no one's personal data: who sends for the environment, and the queue's own fields. */
async function findMessages(
  db: Sql,
  sealer: Sealer,
  environment: Environment,
  jobs: readonly StepRow[],
): Promise<MessageLine[]> {
  const ranges = jobs.map((job) => idsOfMessages(job.event_id, job.id))
  const rows = await db.rows<MessageLine & { _id: string; addresses: Buffer | null; envelope: Envelope }>(sql`
    select m.id as "_id", m.notification_id as "_notificationId", m.job_id as "_stepId", m.channel, m.status, m.provider_id as "providerId",
           m.provider_message_id as "providerMessageId", m.error_text as "errorText", m.subject, m.title, ${shownContent} as content,
           m.email, m.phone, m.direct_webhook_url as "directWebhookUrl", m.device_tokens as "deviceTokens",
           m.envelope, m.addresses, m.cta, m.actor, m.data, m.is_test as "isTest", m.seen, m.read, m.archived, m.receipts,
           m.first_seen_at as "firstSeenAt", m.last_seen_at as "lastSeenAt", m.last_read_at as "lastReadAt",
           m.archived_at as "archivedAt", m.snoozed_until as "snoozedUntil", m.delivered_at as "deliveredAt",
           m.created_at as "createdAt", m.updated_at as "updatedAt", m.deleted_at as "deletedAt"
    from unnest(${jobs.map((job) => job.id)}::uuid[], ${ranges.map((range) => range.from)}::uuid[],
                ${ranges.map((range) => range.to)}::uuid[]) as asked (job_id, from_id, to_id)
    cross join lateral (
      select * from messages found
      where found.environment_id = ${environment.id} and found.id between asked.from_id and asked.to_id
        and found.job_id = asked.job_id) as m
    order by m.id`)
  return rows.map(({ addresses, ...row }) => {
    const opened = openAddresses(sealer, environment, { id: row._id, addresses })
    if (opened === undefined) return row
    const { directWebhookUrl = null, deviceTokens = null } = opened
    return { ...row, directWebhookUrl, deviceTokens, envelope: { ...row.envelope, ...opened.envelope } }
  })
}

type MessageLine = { readonly _notificationId: string } & Readonly<Record<string, unknown>>
