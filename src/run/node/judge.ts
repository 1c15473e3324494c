// Which nodes are dead, judged from what was seen of them: pure, so that time and sightings are arguments.

/** One node as a look found it. */
export interface Sighting {
  readonly key: string
  /** Changes for as long as the node lives. */
  readonly sign: string
  /** Its death is known, not inferred. */
  readonly isCertain: boolean
}

/** Times are of this node's own monotonic clock, which no failover and no time server moves. */
export interface Look {
  readonly startedAtMs: number
  readonly endedAtMs: number
  /** When this node last connected, or could beat again after it could not. */
  readonly connectedAtMs: number
  readonly sightings: readonly Sighting[]
}

/** What was seen of each node, and since when it has not changed. */
export type Sightings = ReadonlyMap<string, { readonly sign: string; readonly sinceMs: number }>

export interface Judgement {
  readonly seen: Sightings
  readonly dead: ReadonlySet<string>
}

/** A living node beats five times in this, and one that could not write for 6 s begins no call any more. */
export const unchangedMsMin = 10_000
/** After a failover all nodes reconnect, each in its own time: until then an old heartbeat means nothing. */
export const connectedMsMin = 20_000

/**
 * From the end of the look that first saw a sign to the start of this one: that is the least time that can have passed
 * between the two reads. What was seen before this node connected does not count.
 */
export function judge(before: Sightings, look: Look): Judgement {
  const { startedAtMs, endedAtMs, connectedAtMs, sightings } = look
  const mayInfer = startedAtMs - connectedAtMs >= connectedMsMin
  const judged = sightings.map(({ key, sign, isCertain }) => {
    const known = before.get(key)
    const isSame = known !== undefined && known.sign === sign && known.sinceMs >= connectedAtMs
    const sinceMs = isSame ? known.sinceMs : endedAtMs
    const isSilent = isSame && mayInfer && startedAtMs - sinceMs >= unchangedMsMin
    return { key, sign, sinceMs, isDead: isCertain || isSilent }
  })
  return {
    seen: new Map(judged.map(({ key, sign, sinceMs }) => [key, { sign, sinceMs }])),
    dead: new Set(judged.flatMap(({ key, isDead }) => (isDead ? [key] : []))),
  }
}
