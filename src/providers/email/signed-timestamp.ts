// How old a signed call may be, for vendors that repeat one which failed for hours and do not say whether they sign it anew.

const hourMs = 3_600_000

/**
 * Whether a moment, in seconds of the Unix clock, lies no further from now than some hours. Wider than `isRecent`: a receipt
 * that comes twice does no harm, one that is lost does.
 */
export function wasSignedWithin(hours: number, seconds: string | undefined, now: Date): boolean {
  const at = /^\d{9,11}$/.test(seconds ?? '') ? Number(seconds) * 1000 : Number.NaN
  return Math.abs(now.getTime() - at) <= hours * hourMs
}
