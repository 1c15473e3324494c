// A route: one object that gives validation, types, serialisation, rights, limits and the OpenAPI document.
import type { Static, TSchema } from 'typebox'
import type { Triggers } from '../accept/accept-events.ts'
import type { Db } from '../db/sql.ts'
import type { Answer, Idempotency } from '../domain/answer.ts'
import type { Principal, Scope } from '../domain/environment.ts'
import type { Author } from '../domain/operate/audit.ts'
import type { RetentionDays } from '../domain/operate/retention.ts'
import type { UnknownMember } from '../domain/unknown-members.ts'
import type { SubscriberCreations } from '../manage/people/subscriber-creations.ts'
import type { Queue } from '../queue/queue.ts'
import type { KeptActivityPage } from '../read/activity/activity-stamp.ts'
import type { PinnedVersions } from '../read/activity/pinned-versions.ts'
import type { OutboxWaits } from '../read/messages/outbox-waits.ts'
import type { KeptPages } from '../read/page/kept-pages.ts'
import type { Simulator } from '../simulate/simulate.ts'
import type { World } from '../world/world.ts'
import type { SecretReaders } from './access/secret-readers.ts'
import type { Tag } from './openapi/tags.ts'

/** What the body is: one event, or `events` that are checked separately. */
export type JudgedAs = 'event' | 'events'

export type RateCategory = 'trigger' | 'configuration' | 'global'

/** What every handler is given. */
export interface Service {
  readonly db: Db
  readonly world: World
  /** Concurrent single creations share a commit. */
  readonly subscriberCreations: SubscriberCreations
  readonly triggers: Triggers
  readonly queue: Queue
  readonly simulator: Simulator
  /** How long data is kept, as this node is set. */
  readonly retentionDays: RetentionDays
  /** Calls that wait for a message in the outbox share their looks. */
  readonly outboxWaits: OutboxWaits
  /** What pages show of workflows as they were. */
  readonly versions: PinnedVersions
  /** First pages of feeds and of activities as this node answered them. */
  readonly keptPages: { readonly feeds: KeptPages; readonly activities: KeptPages<KeptActivityPage> }
  /** Whom the secrets of integrations are shown. */
  readonly secretReaders: SecretReaders
  /** What happens to a body with members that are not known. */
  readonly unknownMembers: 'warn' | 'refuse'
}

/** What the caller sent. A part without a schema is `undefined`: it was not validated, so it must not be read. */
export interface Call<Params, Query, Body> {
  readonly principal: Principal
  /** The principal as the audit log names it. Asked for by calls that change the configuration. */
  readonly author: Author
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** Members of the body that are not known, and were reported to the caller. */
  readonly unknownMembers: readonly UnknownMember[]
  /** Set on POST, PUT, PATCH and DELETE with an idempotency-key. */
  readonly idempotency: Idempotency | undefined
  /** Aborted when the client is gone or the server is closing. Used by the few requests that wait. */
  untilGone(): AbortSignal
  /** Of the request's own span, if it is traced: whatever it starts continues it. */
  readonly traceparent: string | undefined
}

export type Sent<Schema extends TSchema | undefined> = Schema extends TSchema ? Static<Schema> : undefined

/** What the OpenAPI document is built from. */
export interface Documented {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As OpenAPI writes it: `/v2/topics/{topicKey}`. */
  readonly path: string
  /** Unique and stable: generated clients name their functions after it. */
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /** What a caller has to present: an API key by default. */
  readonly opensWith?: 'session' | 'nothing'
  /** The least scope that the key needs. */
  readonly scope?: Scope
  readonly params?: TSchema | undefined
  readonly query?: TSchema | undefined
  readonly body?: TSchema | undefined
  /**
   * What the document shows for the body, if more is documented than is required: the check itself stays as lenient as
   * `body`.
   */
  readonly shownBody?: TSchema
  /**
   * What the members of the body are held to, if it knows more of them than the document shows. Read when the first
   * body arrives: providers may join until then.
   */
  memberSchema?(): TSchema
  /** The schema of each success status; null for an empty body. */
  readonly replies: Readonly<Partial<Record<200 | 201 | 202 | 204, TSchema | null>>>
  /**
   * The media type of the success response if it is not JSON: its body is text, bytes or a stream, and has no schema.
   */
  readonly produces?: string
  /** Error statuses beyond those every route may answer with (400, 401, 403, 415, 422, 429, 500, 503). */
  readonly errors?: readonly (404 | 409 | 413)[]
}

export interface RouteDefinition<
  Params extends TSchema | undefined,
  Query extends TSchema | undefined,
  Body extends TSchema | undefined,
> extends Documented {
  /** The least scope a key needs. */
  readonly scope: Scope
  readonly category: RateCategory
  /** Tokens a call costs: 1, 20 for calls that render, or 100 for calls that carry many items. */
  readonly cost?: 1 | 20 | 100
  readonly bodyLimitBytes?: number
  /**
   * The handler checks depth, fields and text element by element; otherwise an invalid one costs the whole request a
   * 4xx.
   */
  readonly judgesText?: JudgedAs
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /**
   * What writes the success response instead of its schema: for large ones that are built field by field, and contain
   * nothing else.
   */
  readonly writtenBy?: (body: unknown) => string
  handle(service: Service, call: Call<Sent<Params>, Sent<Query>, Sent<Body>>): Promise<Answer<unknown>>
}

/** A route whose schemas are no longer known to the compiler, as the registry holds it. */
export type Route = RouteDefinition<TSchema | undefined, TSchema | undefined, TSchema | undefined>

/** Checks a definition against its own schemas; the result is what the registry accepts. */
export function route<
  Params extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
  Body extends TSchema | undefined = undefined,
>(definition: RouteDefinition<Params, Query, Body>): Route {
  return definition as unknown as Route
}
