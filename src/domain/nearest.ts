// The nearest of some words to one that was probably a slip of the pen.

/** The fewest letters to change, add or take away; the first of equals. Undefined when there are no candidates. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (best === undefined || distance < best.distance) best = { candidate, distance }
  }
  return best?.candidate
}

/** Words are compared up to here: ids are short, and the work grows with the product of both lengths. */
const comparedLengthMax = 64

export function editDistance(from: string, to: string): number {
  const source = from.slice(0, comparedLengthMax)
  const target = to.slice(0, comparedLengthMax)
  let row = Array.from({ length: target.length + 1 }, (_, index) => index)
  for (const [rowIndex, letter] of [...source].entries()) {
    const next = [rowIndex + 1]
    for (let column = 1; column <= target.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (target[column - 1] === letter ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[target.length] ?? 0
}

/** A word with more letters to change than this, or than a third of its own, is another word. */
const slipsMin = 2
/** A word that begins with the other is near from so many letters on: `mon` of `monday`, `desc` of `description`. */
const beginningMin = 3

/** The nearest word, if it is near enough to be meant. */
export function nearMiss(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > comparedLengthMax) return undefined
  const given = word.toLowerCase()
  const begun = given.length < beginningMin ? [] : candidates.filter((one) => one.toLowerCase().startsWith(given))
  if (begun.length > 0) return begun[0]
  const slipsMax = Math.max(slipsMin, Math.floor(word.length / 3))
  const found = nearest(
    word,
    candidates.filter(({ length }) => Math.abs(length - word.length) <= slipsMax && length > 1),
  )
  if (found === undefined) return undefined
  const distance = editDistance(given, found.toLowerCase())
  return distance <= slipsMax && distance < found.length ? found : undefined
}
