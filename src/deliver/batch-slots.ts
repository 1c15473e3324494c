// Batch slots: a call that holds a slot may carry many messages, if its provider accepts several at once.
import type { Limits } from './limits.ts'

export interface BatchSlot {
  /** Gives it up: the message was sent, or will not be. The call's slot is free when the last one has left. */
  leave(): void
}

/** How messages of one provider share a call. */
export interface Sharing {
  /** Only those with the same key do. */
  readonly key: string
  readonly max: number
}

/** Messages that share a call, because they were placed together. */
export interface Call {
  readonly integrationId: string
  readonly slots: readonly BatchSlot[]
}

export interface BatchPlan {
  /**
   * A slot in a call that is not full, or in a new one; none if the integration has `max` calls in flight. `bytes`:
   * what the message adds to the call.
   */
  take(integrationId: string, max: number, bytes: number, sharing?: Sharing): BatchSlot | undefined
}

/** A request is a text in memory, here and at the vendor's; the largest that a vendor takes is ten times as much. */
const bytesPerCallMax = 4 * 1024 * 1024

interface OpenCall extends Call {
  readonly slots: BatchSlot[]
  bytes: number
}

const calls = new WeakMap<BatchSlot, OpenCall>()

/** For messages that start together: none joins a call that was started before. */
export function createBatchPlan(limits: Limits, now: Date): BatchPlan {
  const open = new Map<string, OpenCall>()
  return {
    take(integrationId, max, bytes, sharing) {
      const name = sharing && `${integrationId} ${sharing.key}`
      const shared = name === undefined ? undefined : open.get(name)
      const fits =
        shared !== undefined &&
        sharing !== undefined &&
        shared.slots.length < sharing.max &&
        shared.bytes + bytes <= bytesPerCallMax
      if (fits) {
        limits.join(bytes)
        return slotIn(shared, limits, bytes)
      }
      if (!limits.take(integrationId, max, now, bytes)) return undefined
      const call: OpenCall = { integrationId, slots: [], bytes: 0 }
      if (name !== undefined) open.set(name, call)
      return slotIn(call, limits, bytes)
    },
  }
}

/** The call that a slot belongs to; none after it was left. */
export const callOfSlot = (slot: BatchSlot): Call | undefined => calls.get(slot)

function slotIn(call: OpenCall, limits: Limits, bytes: number): BatchSlot {
  const slot: BatchSlot = {
    leave: () => {
      const at = call.slots.indexOf(slot)
      // Leaving twice counts once: releasing a slot that is not held would allow one call too many.
      if (at === -1) return
      call.slots.splice(at, 1)
      calls.delete(slot)
      if (call.slots.length === 0) limits.free(call.integrationId, call.bytes)
    },
  }
  call.slots.push(slot)
  call.bytes += bytes
  calls.set(slot, call)
  return slot
}
