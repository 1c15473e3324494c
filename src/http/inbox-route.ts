// A route of the inbox: opened by a subscriber's session instead of an API key.
import type { TSchema } from 'typebox'
import type { Answer } from '../domain/answer.ts'
import type { Reader } from '../domain/messages/inbox.ts'
import type { FindEnvironment } from '../manage/messages/environment-lookups.ts'
import type { InboxTokens } from '../manage/messages/inbox-tokens.ts'
import type { ByteBudget } from '../run/send/byte-budget.ts'
import type { OpenTo } from './access/inbox-origins.ts'
import type { ReaderLimit } from './access/reader-limit.ts'
import type { Documented, Sent, Service } from './route.ts'

export interface InboxService extends Omit<Service, 'secretReaders' | 'keptPages'> {
  readonly inboxTokens: InboxTokens
  readonly findEnvironment: FindEnvironment
  /** Counts a token that is none; throws the 429 where an address shows too many. A good one is never refused for it. */
  countForged(address: string): void
  /** Counts a session of no environment, one that lacks its hash, or creates a subscriber without one; throws the 429 where an address opens too many. */
  countUnsigned(address: string): void
  /** Which pages may call. */
  readonly openTo: OpenTo
  /** The rate limit of readers. */
  readonly limitReader: ReaderLimit
  /** What large answers share. */
  readonly answerBudget: ByteBudget
  /** Whether the demo inbox is open to a caller. */
  mayDemo(isLocal: boolean): boolean
}

export interface InboxCall<Params, Query, Body> {
  readonly reader: Reader
  /** The client address, as far as trusted proxies state it. */
  readonly address: string
  /** The caller is on this machine, and no proxy stands between. */
  readonly isLocal: boolean
  readonly params: Params
  readonly query: Query
  readonly body: Body
}

interface InboxDefinition<
  Params extends TSchema | undefined,
  Query extends TSchema | undefined,
  Body extends TSchema | undefined,
> extends Documented {
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
}

export interface InboxRoute extends InboxDefinition<TSchema | undefined, TSchema | undefined, TSchema | undefined> {
  readonly opensWith: 'session' | 'nothing'
  handle(service: InboxService, call: InboxCall<unknown, unknown, unknown>): Promise<Answer<unknown>>
}

/** For whoever has a session. */
export function inboxRoute<
  Params extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
  Body extends TSchema | undefined = undefined,
>(
  definition: InboxDefinition<Params, Query, Body> & {
    handle(service: InboxService, call: InboxCall<Sent<Params>, Sent<Query>, Sent<Body>>): Promise<Answer<unknown>>
  },
): InboxRoute {
  return { ...definition, opensWith: 'session' } as unknown as InboxRoute
}

/** Public: opens a session. Its requests have no reader. */
export function openRoute<Body extends TSchema>(
  definition: InboxDefinition<undefined, undefined, Body> & {
    handle(
      service: InboxService,
      call: Omit<InboxCall<undefined, undefined, Sent<Body>>, 'reader'>,
    ): Promise<Answer<unknown>>
  },
): InboxRoute {
  return { ...definition, opensWith: 'nothing' } as unknown as InboxRoute
}
