// What bodies may take of this process: tokens of the rate limit by their size, and memory that all of them share.
import { Problem } from '../../domain/problem.ts'
import { createByteBudget } from '../../run/send/byte-budget.ts'
import type { World } from '../../world/world.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte

/** Neither counted nor waited for: nearly every request has less, and none of them waits because of others. */
export const smallBodyBytes = 64 * kibibyte
/** What most routes allow. Larger ones have a separate budget, so that they do not hold these up. */
export const mediumBodyBytes = mebibyte
/** Reading, judging and writing as much costs about as much as a small call. */
const bytesPerToken = 8 * kibibyte

// One environment whose bodies arrive slowly, or never, must not block all others.
const mediumBytesMax = 32 * mebibyte
/** Eight of the largest at once, or thirty bulk calls of a hundred usual events. */
const mediumBytesPerEnvironmentMax = mediumBytesMax / 4
/** Four of the largest that any route takes. */
const largeBytesMax = 104 * mebibyte
const largeBytesPerEnvironmentMax = largeBytesMax / 2
/** After this long, an error is better for the caller than waiting. */
const waitMs = 5_000
const retryAfterSeconds = '5'

/** Objects, arrays and texts of one body: one for every seven bytes of the largest. They take ten times the memory of their bytes. */
export const bodyValuesMax = 4_000_000
/** Members and elements of one body, numbers too: as many bytes as the largest body can hold as a list of numbers. */
export const bodyMembersMax = 8_000_000
/** A body with fewer is parsed whatever else is. */
const manyValues = 200_000
/** Of all bodies that are being worked on: one of the worst at a time, or many of the usual. */
const valuesAtOnceMax = 6_000_000
/** For one environment. A larger body is admitted while none of its others is. */
const valuesPerEnvironmentMax = valuesAtOnceMax / 2

/** Tokens beyond those of the route. */
export function tokensOfBytes(bytes: number): number {
  return bytes > smallBodyBytes ? Math.ceil((bytes - smallBodyBytes) / bytesPerToken) : 0
}

export interface BodyBudget {
  /** Waits for capacity, or throws the 503. What it returns gives the bytes back. */
  takeBytes(owner: string, bytes: number): Promise<() => void>
  /** The same for what a body becomes when it is parsed. */
  takeValues(owner: string, values: number): Promise<() => void>
  /** Bytes of all bodies that were granted and not given back. */
  heldBytes(): number
}

const nothing = (): void => {}

export function createBodyBudget(world: Pick<World, 'sleep'>): BodyBudget {
  const medium = createByteBudget(world, {
    bytesMax: mediumBytesMax,
    bytesPerOwnerMax: mediumBytesPerEnvironmentMax,
    waitMs,
  })
  const large = createByteBudget(world, {
    bytesMax: largeBytesMax,
    bytesPerOwnerMax: largeBytesPerEnvironmentMax,
    waitMs,
  })
  const parsed = createByteBudget(world, {
    bytesMax: valuesAtOnceMax,
    bytesPerOwnerMax: valuesPerEnvironmentMax,
    waitMs,
  })
  return {
    takeBytes: async (owner, bytes) => orBusy(await (bytes > mediumBodyBytes ? large : medium).take(bytes, owner)),
    takeValues: async (owner, values) => (values > manyValues ? orBusy(await parsed.take(values, owner)) : nothing),
    heldBytes: () => medium.heldBytes() + large.heldBytes(),
  }
}

function orBusy(giveBack: (() => void) | undefined): () => void {
  if (giveBack !== undefined) return giveBack
  const headers = { 'retry-after': retryAfterSeconds }
  throw new Problem(503, 'Too many large requests at once; please try again', { headers })
}
