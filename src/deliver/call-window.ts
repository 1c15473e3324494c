// How many concurrent calls one account may have: more while its responses stay fast, fewer when it asks for less.

export interface CallWindow {
  /** `max`: the maximum that the provider accepts. */
  size(max: number): number
  /** A call found no slot: more are wanted than there are. */
  missed(): void
  note(call: EndedCall, now: Date): void
}

export interface EndedCall {
  readonly beganAt: Date
  /** `slow-down`: too much at once (429). `failed`: no connection, no response in time, a server error. */
  readonly ending: 'answered' | 'slow-down' | 'failed'
  /** The latency that a busy process of ours may have added before it read the response. */
  readonly ownMs?: number
}

/** What vendors accept from one account without complaint; the limit is explored from here. */
export const usualCallsMax = 50

/** Answers that take half as long again as the fastest ones did: then calls wait at the provider, and more would wait longer. */
const slowerRatio = 1.5
/** About as slow with half the calls: then our calls are not queueing behind each other. */
const sameRatios = { min: 0.8, max: 1.25 } as const
/** Hardly longer than the fastest ones: few calls wait at the provider yet. While probing one that is slow by itself, no more is allowed. */
const promptRatio = 1.15
/** Steps by half that led straight back: then it is near its limit, and the way there is short. */
const overshotMax = 2
/** Below this, relative to what our own process adds, a difference means nothing. */
const slowerMs = 20
/** Failures within a round that count as a sign of too many calls: a provider that fails now and then is not overloaded. */
const failedShare = 1 / 10
const failedMin = 3
/**
 * A generous rate of calls for one node, and what any provider may have. Of one that answers within our own turns, more calls at
 * once are not sent sooner: they only wait in memory, and live long enough there for the old part of the heap.
 */
const callsPerMs = 5
const quickCallsMax = 200
/** What is known of how fast the provider can be is measured again after this. */
const fastestKeptMs = 60_000
/** Without a call for so long, whatever was learnt is out of date. */
const idleMs = 60_000

/** A round: as many responses as there were slots, from calls that all started within it. */
interface Round {
  readonly sinceMs: number
  readonly latenciesMs: number[]
  failed: number
  /** Calls waited for a slot. */
  wasShort: boolean
  /** The one before had half the calls: the first ones of this one found the provider at rest. */
  isRefilling?: boolean
}

export function createCallWindow(): CallWindow {
  return new Window()
}

class Window implements CallWindow {
  #size = usualCallsMax
  #max = usualCallsMax
  /** Below it the window doubles with each round, as it has been that large before, or nothing is known. */
  #doublesBelow = Number.POSITIVE_INFINITY
  #fastest: { readonly ms: number; readonly atMs: number } | undefined
  /** While the fastest answers are measured again, with half the calls: the size to go back to. */
  #sizeBefore: number | undefined
  /** While it is tried whether a provider that has become much slower is quicker with half the calls: how it was with all. */
  #trial: { readonly size: number; readonly latencyMs: number } | undefined
  /** It is slow by itself: more calls are tried. */
  #isProbing = false
  /** It has asked for less, or failed, since it was last probed or forgotten: then quick answers do not show that it takes more. */
  #askedForLess = false
  /** The last step was one by half. */
  #grewByHalf = false
  #overshot = 0
  #round = newRound(0)
  #lastMs = 0

  /** What was learnt stays, should the maximum be smaller for a while: nodes that share an account take turns. */
  size(max: number): number {
    this.#max = max
    return Math.min(this.#size, max)
  }

  /** How many calls there may be now: a round has as many answers. */
  get #used(): number {
    return Math.max(1, Math.min(this.#size, this.#max))
  }

  missed(): void {
    this.#round.wasShort = true
  }

  note({ beganAt, ending, ownMs = 0 }: EndedCall, now: Date): void {
    const nowMs = now.getTime()
    if (nowMs - this.#lastMs > idleMs) this.#forget(beganAt.getTime())
    this.#lastMs = nowMs
    // Begun before the size was last decided on: that is no news.
    if (beganAt.getTime() < this.#round.sinceMs) return
    const round = this.#round
    if (ending === 'failed') round.failed += 1
    else round.latenciesMs.push(Math.max(0, nowMs - beganAt.getTime()))
    const size = this.#used
    const failures = Math.max(failedMin, Math.floor(size * failedShare))
    if (ending === 'slow-down' || round.failed >= failures) {
      this.#resize(size / 2, nowMs)
      this.#askedForLess = true
    } else if (round.latenciesMs.length >= size) this.#endRound(lowerQuartile(round.latenciesMs), ownMs, nowMs)
  }

  #endRound(latencyMs: number, ownMs: number, nowMs: number): void {
    const { wasShort, isRefilling = false } = this.#round
    const sizeBefore = this.#sizeBefore
    this.#round = { ...newRound(nowMs), isRefilling: sizeBefore !== undefined }
    this.#sizeBefore = undefined
    if (sizeBefore !== undefined) this.#size = sizeBefore
    const fastest = this.#fastest
    if (sizeBefore !== undefined || fastest === undefined || latencyMs <= fastest.ms) {
      this.#fastest = { ms: latencyMs, atMs: nowMs }
    } else if (nowMs - fastest.atMs > fastestKeptMs) {
      this.#measureFastest(latencyMs, nowMs)
      return
    }
    if (sizeBefore !== undefined || this.#isSlowByItself(latencyMs, nowMs)) return
    const within = (ratio: number): number => (this.#fastest?.ms ?? latencyMs) * ratio + slowerMs + ownMs
    const quickMs = within(this.#isProbing ? promptRatio : slowerRatio)
    const enough = Math.max(quickCallsMax, (latencyMs - ownMs / 2) * callsPerMs)
    if (latencyMs <= quickMs) {
      if (this.#size > enough) this.#size = Math.ceil(Math.max(enough, this.#size - Math.sqrt(this.#size)))
      else if (wasShort) this.#grow(latencyMs <= within(promptRatio) && !isRefilling, enough)
    } else if (this.#size > usualCallsMax) this.#makeQuick(quickMs / latencyMs, latencyMs, nowMs)
    else this.#probe(latencyMs, nowMs)
  }

  /** The end of a trial. Other reasons than our calls made it slow, so as many as before do no harm. */
  #isSlowByItself(latencyMs: number, nowMs: number): boolean {
    const trial = this.#trial
    this.#trial = undefined
    const ratio = trial === undefined ? 0 : latencyMs / trial.latencyMs
    if (trial === undefined || ratio < sameRatios.min || ratio > sameRatios.max) return false
    this.#size = trial.size
    this.#probe(latencyMs, nowMs)
    return true
  }

  /** A provider that is merely slow is no reason for fewer calls than usual. Whether it takes more is tried, and soon seen. */
  #probe(latencyMs: number, nowMs: number): void {
    this.#fastest = { ms: latencyMs, atMs: nowMs }
    this.#doublesBelow = Number.POSITIVE_INFINITY
    this.#isProbing = true
    this.#askedForLess = false
  }

  /** A round in which all calls were late by chance costs a second or two; by square roots alone the way back took a quarter of a minute. */
  #grow(isPrompt: boolean, enough: number): void {
    const size = this.#size
    const max = Math.min(this.#max, Math.ceil(enough))
    if (size >= max) {
      this.#overshot = 0
      return
    }
    const isDoubling = size < this.#doublesBelow
    this.#grewByHalf = !isDoubling && isPrompt && !this.#askedForLess && this.#overshot < overshotMax
    const more = isDoubling ? size : Math.ceil(this.#grewByHalf ? size / 2 : Math.sqrt(size))
    this.#size = Math.min(max, size + more)
  }

  #makeQuick(factor: number, latencyMs: number, nowMs: number): void {
    const size = this.#size
    if (this.#grewByHalf) this.#overshot += 1
    this.#resize(Math.max(usualCallsMax, size * Math.max(0.5, factor)), nowMs)
    if (factor <= 0.5) this.#trial = { size, latencyMs }
  }

  #resize(size: number, nowMs: number): void {
    this.#size = Math.max(1, Math.floor(size))
    this.#doublesBelow = this.#size
    this.#sizeBefore = undefined
    this.#trial = undefined
    this.#isProbing = false
    this.#grewByHalf = false
    this.#round = newRound(nowMs)
  }

  /** With half the calls, none of ours waits for another at the provider: then its own speed is measured. */
  #measureFastest(latencyMs: number, nowMs: number): void {
    if (this.#size <= usualCallsMax) {
      this.#fastest = { ms: latencyMs, atMs: nowMs }
      return
    }
    // Its limit may be another by now.
    this.#overshot = 0
    this.#sizeBefore = this.#size
    this.#size = Math.max(usualCallsMax, Math.floor(this.#size / 2))
  }

  #forget(nowMs: number): void {
    this.#size = usualCallsMax
    this.#doublesBelow = Number.POSITIVE_INFINITY
    this.#fastest = undefined
    this.#sizeBefore = undefined
    this.#trial = undefined
    this.#isProbing = false
    this.#askedForLess = false
    this.#grewByHalf = false
    this.#overshot = 0
    this.#round = { ...newRound(nowMs), wasShort: this.#round.wasShort }
  }
}

function newRound(sinceMs: number): Round {
  return { sinceMs, latenciesMs: [], failed: 0, wasShort: false }
}

/** Not the mean: one turn of a busy event loop delays the reading of many responses. */
function lowerQuartile(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 4)] ?? 0
}
