// Writes subscriptions to topics, with their own preferences; what is the same already is not written.
import { ApiError } from '../api-client.ts'
import type { Left } from './report.ts'
import type { Target, Thing, Written } from './target.ts'
import { cursorPages, has, isRefusal, reasonOf, sumOf, unchanged } from './target.ts'

const encoded = (text: unknown): string => encodeURIComponent(String(text))

export interface GivenSubscription {
  readonly subscriberId: string
  /** Absent: the default one. */
  readonly identifier?: string
  readonly name?: string
  /** By the identifiers of workflows. */
  readonly preferences?: readonly Thing[]
}

interface SubscribedAnswer {
  readonly data?: readonly unknown[]
  readonly errors?: readonly { readonly subscriberId: string; readonly message: string }[]
}

/** Up to a hundred. */
export async function writeSubscriptions(
  target: Target,
  topicKey: string,
  given: readonly GivenSubscription[],
): Promise<Written> {
  const path = `/v2/topics/${encoded(topicKey)}/subscriptions`
  const { known, seen } = await membersOf(target, topicKey, path)
  const repeated: Left[] = []
  const there: GivenSubscription[] = []
  const fresh = given.filter((one) => {
    const { subscriberId } = one
    const reason = 'The subscriber has another subscription to this topic: there can be only one here.'
    if (seen.has(subscriberId)) repeated.push({ kind: 'subscription', id: `${topicKey} ${subscriberId}`, reason })
    else if (known.has(subscriberId)) there.push(one)
    return !seen.has(subscriberId) && seen.add(subscriberId) && !known.has(subscriberId)
  })
  const done: Written[] = [{ changed: 0, left: repeated, refused: repeated.length }]
  for (const one of there) done.push(await writeOwnPreferences(target, topicKey, known.get(one.subscriberId), one))
  if (fresh.length > 0) done.push(await subscribe(target, topicKey, path, fresh))
  return sumOf(done)
}

/** Of a subscription that is there. None in what is given says nothing. */
async function writeOwnPreferences(
  target: Target,
  topicKey: string,
  stored: Stored | undefined,
  { subscriberId, preferences }: GivenSubscription,
): Promise<Written> {
  if (stored === undefined || preferences === undefined) return unchanged
  if (has({ preferences: stored.preferences }, { preferences: inOrder(preferences) })) return unchanged
  try {
    const path = `/v2/topics/${encoded(topicKey)}/subscriptions/${encoded(stored.identifier)}`
    const after = storedOf(await target.send<Thing>('PATCH', path, { preferences }))
    // The same can be written in several ways.
    const isSame = has({ preferences: stored.preferences }, { preferences: after.preferences })
    return { changed: isSame ? 0 : 1, left: [] }
  } catch (error) {
    if (!isRefusal(error)) throw error
    const reason = `It was there already, and its own preferences were not imported: ${reasonOf(error)}`
    return { changed: 0, left: [{ kind: 'subscription', id: `${topicKey} ${subscriberId}`, reason }] }
  }
}

/** As they are listed, with the members that are given. */
function storedOf({ identifier, preferences }: Thing): Stored {
  const all = Array.isArray(preferences) ? (preferences as readonly Thing[]) : []
  const own = all.map(({ workflow, enabled, condition }) => ({
    workflowId: (workflow as Thing | undefined)?.['identifier'],
    enabled,
    ...(condition === undefined || condition === null ? {} : { condition }),
  }))
  return { identifier: String(identifier), preferences: inOrder(own) }
}

const inOrder = (preferences: readonly Thing[]): readonly Thing[] =>
  [...preferences].sort((one, other) => (String(one['workflowId']) < String(other['workflowId']) ? -1 : 1))

async function subscribe(
  target: Target,
  topicKey: string,
  path: string,
  given: readonly GivenSubscription[],
): Promise<Written> {
  const leftOf = ({ errors = [] }: SubscribedAnswer): Left[] =>
    errors.map(({ subscriberId, message }) => ({
      kind: 'subscription',
      id: `${topicKey} ${subscriberId}`,
      reason: message,
    }))
  try {
    const answer = await target.send<SubscribedAnswer>('POST', path, { subscriptions: given })
    const left = leftOf(answer)
    return { changed: answer.data?.length ?? 0, left, refused: left.length }
  } catch (error) {
    if (!isRefusal(error)) throw error
    // All of them failed.
    const found = leftOf((error.body ?? {}) as SubscribedAnswer)
    if (found.length > 0) return { changed: 0, left: found, refused: given.length }
    const [first] = given
    const isOne = given.length === 1 && first !== undefined
    if (!isOne && given.some(({ preferences }) => preferences !== undefined)) {
      return eachOf(given, (one) => subscribe(target, topicKey, path, [one]))
    }
    if (isOne && first.preferences !== undefined) {
      const { preferences: _, ...plain } = first
      const reason = `It was imported without its own preferences: ${reasonOf(error)}`
      const incomplete = { kind: 'subscription', id: `${topicKey} ${first.subscriberId}`, reason }
      return sumOf([{ changed: 0, left: [incomplete] }, await subscribe(target, topicKey, path, [plain])])
    }
    return {
      changed: 0,
      left: [{ kind: 'subscription', id: topicKey, reason: reasonOf(error) }],
      refused: given.length,
    }
  }
}

/** One whose preferences cannot be stored must not keep the others out. */
async function eachOf(
  given: readonly GivenSubscription[],
  write: (one: GivenSubscription) => Promise<Written>,
): Promise<Written> {
  const written: Written[] = []
  for (const one of given) written.push(await write(one))
  return sumOf(written)
}

interface Stored {
  readonly identifier: string
  readonly preferences: readonly Thing[]
}

interface Members {
  topicKey: string
  /** Those that the topic has. */
  readonly known: Map<string, Stored>
  /** Those that were given. */
  readonly seen: Set<string>
}

/** Of one topic at a time: its subscriptions come together. */
async function membersOf(target: Target, topicKey: string, path: string): Promise<Members> {
  const members = await target.once('members', async (): Promise<Members> => {
    return { topicKey: '', known: new Map(), seen: new Set() }
  })
  if (members.topicKey === topicKey) return members
  members.topicKey = topicKey
  members.known.clear()
  members.seen.clear()
  try {
    for await (const { data } of cursorPages(target.read, path)) {
      for (const one of data) {
        members.known.set(String((one['subscriber'] as Thing | null)?.['subscriberId']), storedOf(one))
      }
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
  return members
}
