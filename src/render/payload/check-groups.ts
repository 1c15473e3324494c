// Payloads that a thread checks, in groups that form by themselves: what comes while one group is being checked is the next one.
// A message to a thread costs more than most checks do.
import { ThreadFailure } from '../../world/threads.ts'
import { tooBusy } from './payload-schema.ts'

/** What a thread says of each payload, in their order; of the last ones nothing, if the others took their time. */
export type AskThread<Reply> = (payloads: readonly string[]) => Promise<readonly Reply[]>

interface Waiting<Reply> {
  readonly payload: string
  readonly sinceMs: number
  /** One of its group ended the thread, and it may have been this one. */
  isAlone: boolean
  resolve(reply: Reply): void
  reject(error: unknown): void
}

/** Copied in one turn of the event loop. */
const groupMax = 100
const groupCharactersMax = 500_000
/** Before it is its turn: a caller of events is waiting. */
const waitMsMax = 2_000
/** More would not be checked in that time. */
const waitingMax = 5_000

/** Rejects as `ask` does, or with what `isTooBusy` recognises. */
export function createCheckGroups<Reply>(
  ask: AskThread<Reply>,
  nowMs = () => performance.now(),
): (payload: string) => Promise<Reply> {
  const waiting: Waiting<Reply>[] = []
  let isAsking = false

  async function askForAll(): Promise<void> {
    isAsking = true
    // The payloads of one call come one after the other.
    await Promise.resolve()
    while (waiting.length > 0) {
      refuseLate(waiting, nowMs())
      const group = takeGroup(waiting)
      if (group.length > 0) waiting.unshift(...(await settled(ask, group)))
    }
    isAsking = false
  }

  return (payload) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= waitingMax) return reject(tooBusy())
      waiting.push({ payload, sinceMs: nowMs(), isAlone: false, resolve, reject })
      if (!isAsking) void askForAll()
    })
}

/** The first has waited longest. */
function refuseLate<Reply>(waiting: Waiting<Reply>[], nowMs: number): void {
  const end = waiting.findIndex(({ sinceMs }) => nowMs - sinceMs <= waitMsMax)
  for (const { reject } of waiting.splice(0, end < 0 ? waiting.length : end)) reject(tooBusy())
}

function takeGroup<Reply>(waiting: Waiting<Reply>[]): Waiting<Reply>[] {
  let characters = 0
  const end = waiting.findIndex(({ payload, isAlone }, at) => {
    characters += payload.length
    return at > 0 && (at >= groupMax || characters > groupCharactersMax || isAlone || waiting[0]?.isAlone === true)
  })
  return waiting.splice(0, end < 0 ? waiting.length : end)
}

/** Those of which nothing was said. */
async function settled<Reply>(ask: AskThread<Reply>, group: Waiting<Reply>[]): Promise<Waiting<Reply>[]> {
  try {
    const replies = await ask(group.map(({ payload }) => payload))
    if (replies.length === 0) throw tooBusy()
    for (const [at, reply] of replies.entries()) group[at]?.resolve(reply)
    return group.slice(replies.length)
  } catch (error) {
    const isOneOfMany = group.length > 1 && error instanceof ThreadFailure && error.kind === 'broken'
    for (const one of group) {
      // Which of them ended the thread is found out by asking for each alone.
      if (isOneOfMany) one.isAlone = true
      else one.reject(error)
    }
    return isOneOfMany ? group : []
  }
}
