// Connections that are being opened: how many there may be, of one caller and of all.

export interface Crowd {
  /** Takes a place and returns what gives it back, once; undefined where there is none. */
  enter(from: string): (() => void) | undefined
}

export function createCrowd({ allMax, eachMax }: { allMax: number; eachMax: number }): Crowd {
  const counts = new Map<string, number>()
  let all = 0
  return {
    enter(from) {
      const own = counts.get(from) ?? 0
      if (all >= allMax || own >= eachMax) return undefined
      counts.set(from, own + 1)
      all += 1
      let isIn = true
      return () => {
        if (!isIn) return
        isIn = false
        all -= 1
        const left = (counts.get(from) ?? 1) - 1
        if (left === 0) counts.delete(from)
        else counts.set(from, left)
      }
    },
  }
}
