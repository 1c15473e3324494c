// The inboxes that are followed on this node: whom a hint concerns, when to look, who has to go.
import type { Db } from '../db/sql.ts'
import type { Environment } from '../domain/environment.ts'
import { gathering } from '../domain/gathering.ts'
import { grouped } from '../domain/grouped.ts'
import { Problem } from '../domain/problem.ts'
import { changeInboxes } from '../record/change-inboxes.ts'
import { countChanges, findStragglers, numberStragglers } from '../store/messages/changes.ts'
import type { InboxNumber } from '../store/messages/inbox-changes.ts'
import { findInboxNumbers, openInbox } from '../store/messages/inbox-changes.ts'
import type { World } from '../world/world.ts'
import type { Follower, OpenedSession } from './follower.ts'
import { endingOf } from './follower.ts'
import type { InboxHints } from './hints.ts'
import { look } from './look.ts'
import type { Presence } from './presence.ts'

/** Browsers open one or two for each tab. */
const followersPerInboxMax = 100
/** Of one process: about 20 kB each. */
const followersMax = 20_000
/** More is not replayed: the page asks for its list again. */
const replayedMax = 500
/** Hints may be lost, and sessions end: all that are followed are looked at so often. */
export const sweepEveryMs = 5_000
const inboxesPerLookMax = 200
/** A sweep is in no hurry: changes that were hinted at do not wait behind it. */
const inboxesPerSweepMax = 250
const lookAgainAfterFailureMs = 1_000
/** Nodes of the release before hint before they commit. Once there are none, one look is enough. */
const lookAgainAfterHintMs = 200
/**
 * How long after it is first followed an inbox that was opened of late is searched for messages without a number: soon, and
 * for the last time when no statement that began before the opening can be in progress.
 */
const stragglerSearchesMs = [2_000, 10_000, 60_000]
const stragglersUntilMs = 600_000

export interface Joined {
  /** Whether it goes on where it was, without a gap. */
  readonly isResumed: boolean
  readonly number: number
}

export interface Hub {
  /** Where a session's stream begins: after a number that it knows, or with what comes. Throws where it may not. */
  enter(session: OpenedSession, after: number | undefined): Promise<Joined>
  /** From here on the follower receives changes, or it is ended at once. Whoever calls this calls `leave` once. */
  add(follower: Follower): void
  leave(follower: Follower): void
  /** Looks at everything soon: hints may have been missed. */
  sweep(): void
  readonly size: number
  stop(): Promise<void>
}

interface Inbox {
  readonly environment: Environment
  readonly subscriberId: string
  readonly followers: Set<Follower>
  /** Of the last look or sweep. */
  number: number
  /** Since when it is followed here, by the process's own steady clock. */
  readonly sinceMs: number
  /** Of the searches for messages without a number, how many are behind it. */
  searches: number
}

const newInbox = (environment: Environment, subscriberId: string, sinceMs: number): Inbox => ({
  ...{ environment, subscriberId, sinceMs, followers: new Set() },
  ...{ number: 0, searches: 0 },
})

const keyOf = (environmentId: string, subscriberId: string): string => `${environmentId}/${subscriberId}`

export interface HubSources {
  readonly hints: InboxHints
  readonly presence?: Presence
  /** The first follower has come. */
  onFirst?(): void
  monotonicMs?(): number
}

export function createHub(db: Db, world: World, sources: HubSources): Hub {
  return new InboxHub(db, world, sources)
}

class InboxHub implements Hub {
  readonly #db: Db
  readonly #world: World
  readonly #presence: Presence | undefined
  readonly #onFirst: () => void
  readonly #monotonicMs: () => number
  readonly #inboxes = new Map<string, Inbox>()
  readonly #dirty = new Set<Inbox>()
  /**
   * By environment. Pages that come back together, as after a restart of a proxy, are looked up together: one by one they
   * would keep those who are here waiting for a connection to the database.
   */
  readonly #numbers = new Map<string, (id: string) => Promise<InboxNumber | undefined>>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #size = 0
  #working: Promise<void> | undefined
  #sweeping: Promise<void> | undefined
  #sweeper: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(
    db: Db,
    world: World,
    { hints, presence, onFirst = () => {}, monotonicMs = () => performance.now() }: HubSources,
  ) {
    this.#db = db
    this.#world = world
    this.#presence = presence
    this.#onFirst = onFirst
    this.#monotonicMs = monotonicMs
    hints.listen((environmentId, subscriberIds, from) => {
      this.#hinted(environmentId, subscriberIds)
      if (from === 'here' || this.#inboxes.size === 0) return
      this.#after(lookAgainAfterHintMs, () => this.#hinted(environmentId, subscriberIds))
    })
  }

  get size(): number {
    return this.#size
  }

  async enter({ reader, generation }: OpenedSession, after: number | undefined): Promise<Joined> {
    const { environment, id } = reader
    if (this.#isStopped || this.#isFull(environment, id)) {
      throw new Problem(503, 'Too many connections', { headers: { 'retry-after': '60' } })
    }
    const number = await this.#numberOf(environment, id)
    if (number === undefined || number.generation !== generation) throw new Problem(401, 'Unauthorized')
    const isKnown = after !== undefined && after <= number.number
    const missed = isKnown && after < number.number ? { subscriberId: id, after } : undefined
    const count = missed && (await countChanges(this.#db, environment, missed, replayedMax + 1))
    return { isResumed: isKnown && (count ?? 0) <= replayedMax, number: number.number }
  }

  #isFull(environment: Environment, subscriberId: string): boolean {
    const followed = this.#inboxes.get(keyOf(environment.id, subscriberId))?.followers.size ?? 0
    return this.#size >= followersMax || followed >= followersPerInboxMax
  }

  /** Sessions that were opened before there were streams have no number yet. */
  async #numberOf(environment: Environment, id: string): Promise<InboxNumber | undefined> {
    const known = await this.#findNumber(environment, id)
    if (known !== undefined) return known
    await this.#db.transaction((tx) => openInbox(tx, environment, id))
    return this.#findNumber(environment, id)
  }

  #findNumber(environment: Environment, id: string): Promise<InboxNumber | undefined> {
    const find =
      this.#numbers.get(environment.id) ??
      gathering(async (ids) => {
        const found = await findInboxNumbers(this.#db, environment, ids)
        return new Map(found.map((one) => [one.subscriberId, one]))
      }, inboxesPerLookMax)
    this.#numbers.set(environment.id, find)
    return find(id)
  }

  add(follower: Follower): void {
    const { environment, id: subscriberId } = follower.reader
    // Others may have come since it entered.
    if (this.#isStopped || this.#isFull(environment, subscriberId)) {
      follower.end(this.#isStopped ? 'stopping' : 'busy')
      return
    }
    const key = keyOf(environment.id, subscriberId)
    const known = this.#inboxes.get(key)
    const inbox = known ?? newInbox(environment, subscriberId, this.#monotonicMs())
    inbox.followers.add(follower)
    this.#inboxes.set(key, inbox)
    if (known === undefined) this.#presence?.arrived(environment, subscriberId)
    this.#size += 1
    if (this.#sweeper === undefined) {
      this.#sweeper = setInterval(() => this.sweep(), sweepEveryMs)
      this.#onFirst()
    }
    this.#look(inbox)
  }

  leave(follower: Follower): void {
    const { environment, id } = follower.reader
    const key = keyOf(environment.id, id)
    const inbox = this.#inboxes.get(key)
    if (inbox?.followers.delete(follower) !== true) return
    this.#size -= 1
    if (inbox.followers.size > 0) return
    this.#inboxes.delete(key)
    if (!this.#isStopped) this.#presence?.left(environment, id)
  }

  #hinted(environmentId: string, subscriberIds: readonly string[] | 'all'): void {
    if (this.#inboxes.size === 0) return
    const isMeant = subscriberIds === 'all' ? this.#inboxesOf(environmentId) : this.#among(environmentId, subscriberIds)
    for (const inbox of isMeant) this.#look(inbox)
  }

  #inboxesOf(environmentId: string): Inbox[] {
    return [...this.#inboxes.values()].filter((inbox) => inbox.environment.id === environmentId)
  }

  #among(environmentId: string, subscriberIds: readonly string[]): Inbox[] {
    return subscriberIds.flatMap((id) => this.#inboxes.get(keyOf(environmentId, id)) ?? [])
  }

  #look(inbox: Inbox): void {
    this.#dirty.add(inbox)
    this.#working ??= this.#work().then((isDone) => {
      this.#working = undefined
      if (this.#dirty.size === 0 || this.#isStopped) return
      if (isDone) this.#lookOn()
      else this.#after(lookAgainAfterFailureMs, () => this.#lookOn())
    })
  }

  #lookOn(): void {
    const [inbox] = this.#dirty
    if (inbox !== undefined) this.#look(inbox)
  }

  /** One batch after the other: what is hinted at meanwhile makes the next one larger. False where the database failed. */
  async #work(): Promise<boolean> {
    // Hints of one commit come together.
    await new Promise<void>((resolve) => setImmediate(resolve))
    while (this.#dirty.size > 0 && !this.#isStopped) {
      const [first] = this.#dirty
      const batch = [...this.#dirty].filter((one) => one.environment.id === first?.environment.id)
      const inboxes = batch.slice(0, inboxesPerLookMax).filter((inbox) => this.#forget(inbox))
      if (inboxes.length === 0) continue
      try {
        await this.#lookAt(inboxes)
      } catch (error) {
        this.#world.log.debug({ error: (error as Error).message }, 'Inboxes could not be looked at; will try again')
        for (const inbox of inboxes) this.#dirty.add(inbox)
        return false
      }
    }
    return true
  }

  /** Takes it off the list; false for one without followers. */
  #forget(inbox: Inbox): boolean {
    this.#dirty.delete(inbox)
    return inbox.followers.size > 0
  }

  async #lookAt(inboxes: readonly Inbox[]): Promise<void> {
    const [first] = inboxes
    if (first === undefined) return
    const asked = inboxes.map(({ subscriberId, followers }) => ({ subscriberId, followers: [...followers] }))
    const looked = await look(this.#db, first.environment, asked, this.#world.now())
    for (const [index, inbox] of inboxes.entries()) {
      const one = looked[index]
      if (one === undefined) continue
      this.#judge(inbox, one.number)
      inbox.number = one.number?.number ?? inbox.number
      if (one.hasMore) this.#dirty.add(inbox)
    }
  }

  #after(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      work()
    }, ms)
    this.#timers.add(timer)
  }

  /** Ends those whose session is over. */
  #judge({ followers }: Inbox, number: InboxNumber | undefined): void {
    const now = this.#world.now()
    for (const follower of [...followers]) {
      const why = endingOf(follower, number, now)
      if (why !== undefined) follower.end(why)
    }
  }

  sweep(): void {
    if (this.#isStopped || this.#inboxes.size === 0) return
    this.#sweeping ??= this.#sweepAll()
      .catch((error: Error) => {
        this.#world.log.debug({ error: error.message }, 'Inboxes could not be looked at; will try again')
      })
      .finally(() => {
        this.#sweeping = undefined
      })
  }

  async #sweepAll(): Promise<void> {
    for (const [, inboxes] of grouped([...this.#inboxes.values()], ({ environment }) => environment.id)) {
      for (let from = 0; from < inboxes.length && !this.#isStopped; from += inboxesPerSweepMax) {
        await this.#sweepSome(inboxes.slice(from, from + inboxesPerSweepMax))
      }
    }
  }

  async #sweepSome(inboxes: readonly Inbox[]): Promise<void> {
    const [first] = inboxes
    if (first === undefined) return
    const ids = inboxes.map((inbox) => inbox.subscriberId)
    const numbers = await findInboxNumbers(this.#db, first.environment, ids)
    const bySubscriber = new Map(numbers.map((one) => [one.subscriberId, one]))
    const due: { readonly inbox: Inbox; readonly searches: number }[] = []
    for (const inbox of inboxes) {
      const number = bySubscriber.get(inbox.subscriberId)
      this.#judge(inbox, number)
      if (number === undefined) continue
      if (number.number > inbox.number) this.#look(inbox)
      const searches = this.#searchesDue(inbox, number)
      if (searches > inbox.searches) due.push({ inbox, searches })
    }
    if (due.length === 0) return
    await this.#numberStragglers(
      first.environment,
      due.map(({ inbox }) => inbox.subscriberId),
    )
    for (const { inbox, searches } of due) inbox.searches = searches
  }

  /** Counted from when it is followed: the clocks of node and database may differ. */
  #searchesDue({ sinceMs }: Inbox, { openedAt }: InboxNumber): number {
    if (this.#world.now().getTime() - openedAt.getTime() >= stragglersUntilMs) return 0
    const followedMs = this.#monotonicMs() - sinceMs
    return stragglerSearchesMs.filter((afterMs) => afterMs <= followedMs).length
  }

  async #numberStragglers(environment: Environment, subscriberIds: readonly string[]): Promise<void> {
    const found = await findStragglers(this.#db, environment, subscriberIds)
    if (found.length === 0) return
    await this.#db.transaction(async (tx) => {
      const inboxes = found.map((one) => one.subscriberId)
      const counted = await changeInboxes(tx, this.#world, environment, inboxes)
      await numberStragglers(
        tx,
        environment,
        found.map((one) => one.id),
        counted,
      )
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#sweeper)
    for (const timer of this.#timers) clearTimeout(timer)
    for (const { followers } of [...this.#inboxes.values()]) {
      for (const follower of [...followers]) follower.end('stopping')
    }
    await this.#working
    await this.#sweeping
    await this.#presence?.stop()
  }
}
