// Opening an inbox session: who may, for whom, and what is checked.
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { noContent } from '../../domain/answer.ts'
import type { ContextMention } from '../../domain/delivery/event.ts'
import { contextKeyOf } from '../../domain/delivery/event.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Reader } from '../../domain/messages/inbox.ts'
import { isDevelopment, isSignedByOne, needsSubscriberHash, signedText } from '../../domain/messages/inbox.ts'
import type { SubscriberFields } from '../../domain/people/subscriber.ts'
import { changedGlobally } from '../../domain/preferences/preference.ts'
import type { Schedule } from '../../domain/preferences/schedule.ts'
import { badRequest, notFound, Problem } from '../../domain/problem.ts'
import { listIntegrations } from '../../store/integrations/integrations.ts'
import { openInbox } from '../../store/messages/inbox-changes.ts'
import { revokeSessions } from '../../store/messages/inbox-sessions.ts'
import { findSigningKeys, hasKeysWithoutCopy } from '../../store/operate/api-keys.ts'
import { listEnvironments } from '../../store/operate/installation.ts'
import { insertContexts } from '../../store/people/contexts.ts'
import type { SubscriberRow } from '../../store/people/subscribers.ts'
import { insertMissing, lockPreferences, savePreferences, upsertSubscribers } from '../../store/people/subscribers.ts'
import type { World } from '../../world/world.ts'
import { reportPreferences } from '../people/preference-news.ts'
import { unknownSubscriber } from '../people/subscribers.ts'
import type { FindEnvironment } from './environment-lookups.ts'

export interface SessionRequest {
  readonly applicationIdentifier: string
  readonly subscriberId: string
  readonly fields: SubscriberFields
  readonly subscriberHash: string
  readonly contextHash: string
  /** As received: its hash was computed over exactly that. */
  readonly context: Readonly<Record<string, unknown>>
  readonly contexts: readonly ContextMention[]
  readonly defaultSchedule: Schedule | undefined
  /** Of the demo inbox, in Development, whatever the identifier says. */
  readonly isDemo?: boolean
}

export interface SessionDoor {
  readonly findEnvironment: FindEnvironment
  countUnsigned(): void
  /** Counts a session of a reader; throws the 429 where there are too many. */
  countReader(reader: string): void
}

export interface OpenedSession {
  readonly reader: Reader
  readonly schedule: Schedule | undefined
  /** Whether a hash has shown that it is this subscriber. */
  readonly isSigned: boolean
}

/**
 * `countUnsigned` is called if the environment is unknown, if a hash is missing, and if a subscriber is created without one;
 * it throws if there are too many.
 */
export async function openSession(
  db: Db,
  world: World,
  request: SessionRequest,
  { findEnvironment, countUnsigned, countReader }: SessionDoor,
): Promise<OpenedSession> {
  const environment = await environmentOf(db, findEnvironment, request)
  if (environment === undefined) countUnsigned()
  if (environment === undefined) throw badRequest('Please provide a valid application identifier')
  const integrations = await listIntegrations(db, world.sealer, environment, { activeOnly: true })
  const inApp = integrations.filter(({ channel }) => channel === 'in_app')
  if (inApp.length === 0) throw notFound('The active in-app integration could not be found')
  if (request.subscriberId === '') throw unprocessable('Subscriber ID is required')
  const isNeeded = needsSubscriberHash(environment, inApp)
  const asksForKeys = isNeeded || request.subscriberHash !== ''
  const keys = asksForKeys ? await findSigningKeys(db, world.sealer, environment, world.now()) : []
  const isSigned = isSignedByOne(keys, request.subscriberId, request.subscriberHash)
  if (isNeeded && !isSigned) countUnsigned()
  if (isNeeded && !isSigned) throw badRequest(await whyUnsigned(db, environment, request, keys, world.now()))
  if (isNeeded) demandContextHash(request, keys)
  // After the hash, so that no one else uses up what a reader may open. Apart from their calls: a page that is open goes on.
  countReader(`${environment.id}/session/${request.subscriberId}`)
  const session = await db.transaction((tx) =>
    opened(tx, world, environment, request, isSigned ? undefined : countUnsigned),
  )
  return { ...session, isSigned }
}

async function environmentOf(
  db: Db,
  findEnvironment: FindEnvironment,
  request: SessionRequest,
): Promise<Environment | undefined> {
  const { applicationIdentifier, subscriberId, isDemo = false } = request
  const demo = isDemo ? (await listEnvironments(db)).find(isDevelopment) : undefined
  if (demo !== undefined) return demo
  if (applicationIdentifier === '' && subscriberId !== '') {
    throw unprocessable('A valid application identifier is required when providing subscriber information')
  }
  return findEnvironment(applicationIdentifier)
}

const unsigned = 'Please provide a valid HMAC hash'
const withoutCopy =
  'Keys created without `--signing` have no copy to check a hash with; create one with `posthorn keys create --signing`, ' +
  'or set it by POSTHORN_API_KEY'

/** A hash that was made with a key from before there were copies looks as any wrong one does: the error names that cause. */
async function whyUnsigned(
  db: Db,
  environment: Environment,
  { subscriberHash }: SessionRequest,
  keys: readonly string[],
  now: Date,
): Promise<string> {
  if (keys.length === 0) return `${unsigned}: no API key of this environment can sign. ${withoutCopy}`
  const mayLackCopy = subscriberHash !== '' && (await hasKeysWithoutCopy(db, environment, now))
  return mayLackCopy ? `${unsigned}: it is of none of the API keys that can sign. ${withoutCopy}` : unsigned
}

function demandContextHash(request: SessionRequest, keys: readonly string[]): void {
  if (request.contexts.length === 0) return
  const text = signedText(request.context)
  if (text === undefined || !isSignedByOne(keys, text, request.contextHash)) {
    throw badRequest('Please provide a valid context HMAC hash')
  }
}

async function opened(
  tx: Tx,
  world: World,
  environment: Environment,
  request: SessionRequest,
  countNew: (() => void) | undefined,
): Promise<Omit<OpenedSession, 'isSigned'>> {
  const now = world.now()
  const row = await ensureSubscriber(tx, world, environment, request, countNew)
  const schedule = await ensureSchedule(tx, world, environment, row, request.defaultSchedule)
  // After the subscriber, which the schedule may lock: an event takes them in this order too.
  await insertContexts(tx, environment, request.contexts, now)
  await openInbox(tx, environment, row.id)
  const contextKeys = request.contexts.map(contextKeyOf).sort()
  return { reader: { environment, id: row.id, subscriberId: row.subscriber_id, contextKeys }, schedule }
}

/**
 * An existing subscriber is changed only by a signed request, which has no `countNew`: anyone can write a name into a
 * page.
 */
async function ensureSubscriber(
  tx: Tx,
  world: World,
  environment: Environment,
  { subscriberId, fields }: SessionRequest,
  countNew: (() => void) | undefined,
): Promise<SubscriberRow> {
  const now = world.now()
  const wanted = { id: world.newId(now), subscriberId, fields }
  const [made] = countNew === undefined ? [] : await insertMissing(tx, environment, [wanted], now)
  if (made !== undefined) {
    countNew?.()
    return made
  }
  const upsert = countNew === undefined ? wanted : { ...wanted, fields: {} }
  const [result] = await upsertSubscribers(tx, environment, [upsert], now)
  if (result === undefined) throw new Error('An upserted subscriber is missing from the result')
  return result.row
}

/** The page's own hours count for those who never chose any. */
async function ensureSchedule(
  tx: Tx,
  world: World,
  environment: Environment,
  row: SubscriberRow,
  wanted: Schedule | undefined,
): Promise<Schedule | undefined> {
  if (wanted === undefined || row.preferences?.schedule !== undefined) return row.preferences?.schedule
  const held = await lockPreferences(tx, environment, row.subscriber_id)
  if (held === undefined || held.preferences?.schedule !== undefined) return held?.preferences?.schedule
  const preferences = changedGlobally(held.preferences ?? {}, { schedule: wanted })
  await savePreferences(tx, environment, { id: held.id, preferences, now: world.now() })
  await reportPreferences(tx, world, environment, { id: held.id, preferences, workflows: [null] })
  return preferences.schedule
}

/** Every token that was made for the subscriber so far is void. */
export async function revokeInboxSessions(
  db: Db,
  world: World,
  environment: Environment,
  { subscriberId, idempotency }: { subscriberId: string; idempotency: Idempotency | undefined },
): Promise<Answer<null>> {
  return once(db, world, environment, idempotency, async (tx) => {
    if (!(await revokeSessions(tx, environment, subscriberId, world.now()))) throw unknownSubscriber(subscriberId)
    return noContent
  })
}

const unprocessable = (message: string): Problem => new Problem(422, message, { members: { errors: {} } })
