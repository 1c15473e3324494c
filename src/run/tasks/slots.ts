// A bounded number of places, for work that may take its time.

export interface Slots {
  /** Undefined when all are taken; otherwise what gives it back. */
  take(): (() => void) | undefined
}

export function createSlots(max: number): Slots {
  let taken = 0
  return {
    take: () => {
      if (taken >= max) return undefined
      taken += 1
      return () => {
        taken -= 1
      }
    },
  }
}
