// Seats: a call that holds a slot may carry many messages, where its provider takes many at once.
import type { Limits } from './limits.ts'

export interface Seat {
  /** Gives it up: the message was sent, or will not be. The call's slot is free when the last one has left. */
  leave(): void
}

/** How messages of one provider share a call. */
export interface Sharing {
  /** Only those with the same key do. */
  readonly key: string
  readonly max: number
}

/** Messages that are called together, because they were seated together. */
export interface Call {
  readonly integrationId: string
  readonly seats: readonly Seat[]
}

export interface Seating {
  /**
   * A seat in a call that is not full, or in a new one; none where the integration has all its calls under way, `max` at the
   * most. `bytes`: what the message adds to the call.
   */
  take(integrationId: string, max: number, bytes: number, sharing?: Sharing): Seat | undefined
}

/** A request is a text in memory, here and at the vendor's; the largest that a vendor takes is ten times as much. */
const bytesPerCallMax = 4 * 1024 * 1024

interface OpenCall extends Call {
  readonly seats: Seat[]
  bytes: number
}

const calls = new WeakMap<Seat, OpenCall>()

/** For messages that begin together: nobody joins a call that was begun before. */
export function createSeating(limits: Limits, now: Date): Seating {
  const open = new Map<string, OpenCall>()
  return {
    take(integrationId, max, bytes, sharing) {
      const name = sharing && `${integrationId} ${sharing.key}`
      const shared = name === undefined ? undefined : open.get(name)
      const hasRoom =
        shared !== undefined &&
        sharing !== undefined &&
        shared.seats.length < sharing.max &&
        shared.bytes + bytes <= bytesPerCallMax
      if (hasRoom) {
        limits.join(bytes)
        return seatIn(shared, limits, bytes)
      }
      if (!limits.take(integrationId, max, now, bytes)) return undefined
      const call: OpenCall = { integrationId, seats: [], bytes: 0 }
      if (name !== undefined) open.set(name, call)
      return seatIn(call, limits, bytes)
    },
  }
}

/** The call that a seat is in; of one that left, none. */
export const callOfSeat = (seat: Seat): Call | undefined => calls.get(seat)

function seatIn(call: OpenCall, limits: Limits, bytes: number): Seat {
  const seat: Seat = {
    leave: () => {
      const at = call.seats.indexOf(seat)
      // Twice is once: a slot that nobody held would let a call too many begin.
      if (at === -1) return
      call.seats.splice(at, 1)
      calls.delete(seat)
      if (call.seats.length === 0) limits.free(call.integrationId, call.bytes)
    },
  }
  call.seats.push(seat)
  call.bytes += bytes
  calls.set(seat, call)
  return seat
}
