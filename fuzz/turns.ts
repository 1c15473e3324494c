// Turns of the service that took too long: which requests were under way, and what each of them takes when it is sent alone.
import type { FuzzRequest } from './requests.ts'
import type { FuzzedService, Turn } from './service.ts'

/** What one request may take of the main thread at a time. */
export const turnMsMax = 100
/** How often a suspect is sent alone: the least counts, since the garbage of others may fall into any turn. */
const attempts = 3
const keptMs = 5_000
/** What an event makes the worker do follows its answer. */
const settleMs = 300
const suspectsMax = 12

export interface Sent {
  readonly request: FuzzRequest
  readonly sentAt: number
  answeredAt: number
}

export interface LongTurn extends Turn {
  readonly suspects: number
  /** The most that one of them took alone. */
  readonly aloneMs: number
}

export interface TurnWatch {
  sending(request: FuzzRequest): Sent
  answered(sent: Sent): void
  summary(): string
  suspects(): readonly Suspicion[]
  /** What was until now does not count. */
  forget(): void
  tryAlone(suspects: readonly Suspicion[], send: (request: FuzzRequest) => Promise<unknown>): Promise<void>
  confirmed(): readonly { request: FuzzRequest; aloneMs: number }[]
  turns(): readonly LongTurn[]
}

interface Suspicion {
  readonly turn: Turn
  readonly requests: readonly FuzzRequest[]
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function createTurnWatch(service: FuzzedService): TurnWatch {
  let recent: Sent[] = []
  let seen = 0
  let began = 0
  const long: LongTurn[] = []
  const confirmed = new Map<number, { request: FuzzRequest; aloneMs: number }>()

  const worstSince = (before: number): number =>
    Math.max(
      0,
      ...service
        .turns()
        .slice(before)
        .map(({ cpuMs }) => cpuMs),
    )

  const aloneMs = async (request: FuzzRequest, send: (request: FuzzRequest) => Promise<unknown>): Promise<number> => {
    let least = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < attempts && least > turnMsMax; attempt += 1) {
      const before = service.turns().length
      await send(request)
      await pause(request.path.includes('/events/') ? settleMs : settleMs / 5)
      least = Math.min(least, worstSince(before))
    }
    return least
  }

  return {
    sending: (request) => {
      const sent = { request, sentAt: Date.now(), answeredAt: Number.POSITIVE_INFINITY }
      recent.push(sent)
      return sent
    },
    answered: (sent) => {
      sent.answeredAt = Date.now()
    },
    summary: () =>
      `longest turn ${worstSince(began)} ms, ${long.length} over ${turnMsMax} ms, ${confirmed.size} of them by one request`,
    suspects: () => {
      const turns = service.turns()
      const found = turns.slice(seen).filter(({ cpuMs }) => cpuMs > turnMsMax)
      seen = turns.length
      const suspicions = found.map((turn) => ({ turn, requests: under(recent, turn) }))
      const now = Date.now()
      recent = recent.filter(({ answeredAt }) => answeredAt > now - keptMs)
      return suspicions
    },
    forget: () => {
      began = service.turns().length
      seen = began
    },
    tryAlone: async (suspicions, send) => {
      await pause(settleMs)
      for (const { turn, requests } of suspicions) {
        let most = 0
        for (const request of requests) {
          const least = await aloneMs(request, send)
          most = Math.max(most, least)
          if (least > turnMsMax) confirmed.set(request.index, { request, aloneMs: least })
        }
        long.push({ ...turn, suspects: requests.length, aloneMs: most })
      }
      seen = service.turns().length
    },
    confirmed: () => [...confirmed.values()],
    turns: () => long,
  }
}

/** Those that were under way in it, and what was accepted shortly before, largest first. */
function under(recent: readonly Sent[], { from, to }: Turn): FuzzRequest[] {
  return recent
    .filter(({ sentAt, answeredAt }) => sentAt <= to && answeredAt >= from - settleMs)
    .map(({ request }) => request)
    .sort((a, b) => (b.body?.length ?? 0) - (a.body?.length ?? 0))
    .slice(0, suspectsMax)
}
