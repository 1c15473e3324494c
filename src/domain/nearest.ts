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
