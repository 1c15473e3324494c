// Words from outside, made fit to be stored: no characters a database refuses, and no more of them than a detail holds.

/** What an execution detail holds of a provider's words. */
export const detailBytesMax = 16 * 1024
/** The longest ids vendors give are below 200 bytes. */
export const providerMessageIdBytesMax = 1_000

/** Without NUL and half a surrogate pair, either of which would fail the whole batch that stores it. */
export function storable(words: string, bytesMax: number): string {
  const clean = words.replaceAll('\u0000', '').toWellFormed()
  // A character is at most three bytes a unit: only what may be too long is measured.
  if (clean.length * 3 <= bytesMax || Buffer.byteLength(clean) <= bytesMax) return clean
  // What is left of a character that was cut in two is left out.
  return Buffer.from(clean)
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/\ufffd+$/, '')
}
