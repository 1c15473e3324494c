// How old a signed request may be, for vendors that repeat a failed one for hours and do not say whether they sign it
// again.

const hourMs = 3_600_000

/**
 * Whether a timestamp, in seconds since 1970, is within some hours of now. Wider than `isRecent`: a duplicate receipt
 * does no harm, a lost one does.
 */
export function wasSignedWithin(hours: number, seconds: string | undefined, now: Date): boolean {
  const at = /^\d{9,11}$/.test(seconds ?? '') ? Number(seconds) * 1000 : Number.NaN
  return Math.abs(now.getTime() - at) <= hours * hourMs
}
