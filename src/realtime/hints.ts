// Hints that inboxes changed: to this node at once, to the others by NOTIFY after the commit, many in one.
import type { Sql } from '../db/sql.ts'
import { sql } from '../db/sql.ts'

export const inboxHintChannel = 'posthorn_inbox'

/** Whose inboxes may have changed; `all`: of the whole environment. `from`: where it was noticed. */
export type InboxHint = (
  environmentId: string,
  subscriberIds: readonly string[] | 'all',
  from: 'here' | 'elsewhere',
) => void

export interface InboxHints {
  /** What the World reports. */
  report(environmentId: string, subscriberIds: readonly string[]): void
  /** What another node said. */
  hear(payload: string): void
  /** Whoever streams inboxes on this node. */
  listen(listener: InboxHint): void
}

/** A notification in every commit would halve their rate; as hints after it, twenty a second are as good. */
const hintEveryMs = 50
/** PostgreSQL takes 8,000 bytes a notification: an id without its hyphens has 32. */
const idsPerHintMax = 240
/** Beyond it, whoever streams looks at all inboxes of the environment. */
const hintsAtOnceMax = 20
const idLength = 32

/** `nodeId` keeps a node from hearing itself. */
export function createInboxHints(db: Sql, nodeId: string): InboxHints {
  const waiting = new Map<string, Set<string>>()
  let timer: NodeJS.Timeout | undefined
  let hintedAt = Number.NEGATIVE_INFINITY
  let notifyHere: InboxHint = () => {}

  async function send(): Promise<void> {
    hintedAt = performance.now()
    const payloads = [...waiting].flatMap(([environmentId, ids]) => payloadsOf(nodeId, environmentId, [...ids]))
    waiting.clear()
    await db
      .run(sql`select pg_notify(${inboxHintChannel}, payload) from unnest(${payloads}::text[]) as payload`)
      .catch(() => {})
    timer = undefined
    if (waiting.size > 0) schedule()
  }

  function schedule(): void {
    timer = setTimeout(send, Math.max(0, hintedAt + hintEveryMs - performance.now()))
  }

  return {
    report(environmentId, subscriberIds) {
      notifyHere(environmentId, subscriberIds, 'here')
      const ids = waiting.get(environmentId) ?? new Set()
      for (const id of subscriberIds) ids.add(id)
      waiting.set(environmentId, ids)
      if (timer === undefined) schedule()
    },
    hear(payload) {
      const [from, environmentId = '', ids = ''] = payload.split(' ')
      if (from === nodeId) return
      notifyHere(environmentId, ids === '*' ? 'all' : idsOf(ids), 'elsewhere')
    },
    listen(listener) {
      notifyHere = listener
    },
  }
}

function payloadsOf(nodeId: string, environmentId: string, ids: readonly string[]): string[] {
  const before = `${nodeId} ${environmentId}`
  if (ids.length > idsPerHintMax * hintsAtOnceMax) return [`${before} *`]
  const payloads: string[] = []
  for (let from = 0; from < ids.length; from += idsPerHintMax) {
    const some = ids.slice(from, from + idsPerHintMax)
    payloads.push(`${before} ${some.map((id) => id.replaceAll('-', '')).join('')}`)
  }
  return payloads
}

function idsOf(text: string): string[] {
  const ids: string[] = []
  for (let from = 0; from + idLength <= text.length; from += idLength) {
    ids.push(text.slice(from, from + idLength).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'))
  }
  return ids
}
