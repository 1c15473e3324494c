// The difference of two texts, line by line, for people.

/** More lines than this in what differs are not compared one by one: that would take their product. */
const comparedLinesMax = 2_000
/** Lines around a change that show where it is. */
const contextLines = 2

export interface DiffLine {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}
type Line = DiffLine

/** Empty when they are the same. */
export function textDiff(before: string, after: string): string[] {
  return diffLines(before, after).map(({ sign, text }) => `${sign} ${text}`.trimEnd())
}

/** As lines with their signs; those far from a change are left out, with `…` in their place. */
export function diffLines(before: string, after: string): DiffLine[] {
  return before === after ? [] : withoutDistant(compared(linesOf(before), linesOf(after)))
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

function compared(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  const rest = Math.min(before.length, after.length) - start
  while (end < rest && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1
  return [
    ...signed(' ', before.slice(0, start)),
    ...changed(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...signed(' ', before.slice(before.length - end)),
  ]
}

const signed = (sign: Line['sign'], lines: readonly string[]): Line[] => lines.map((text) => ({ sign, text }))

function changed(before: readonly string[], after: readonly string[]): Line[] {
  if (before.length > comparedLinesMax || after.length > comparedLinesMax) {
    return [...signed('-', before), ...signed('+', after)]
  }
  const common = commonLengths(before, after)
  const lines: Line[] = []
  let [one, other] = [0, 0]
  while (one < before.length || other < after.length) {
    const [left, right] = [before[one], after[other]]
    if (left !== undefined && left === right) {
      lines.push({ sign: ' ', text: left })
      one += 1
      other += 1
      continue
    }
    const skipLeft = common[one + 1]?.[other] ?? -1
    const skipRight = common[one]?.[other + 1] ?? -1
    if (left !== undefined && (right === undefined || skipLeft >= skipRight)) {
      lines.push({ sign: '-', text: left })
      one += 1
    } else {
      lines.push({ sign: '+', text: right ?? '' })
      other += 1
    }
  }
  return lines
}

/** How many lines the two have in common from each pair of places on. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint16Array[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1))
  for (let one = before.length - 1; one >= 0; one -= 1) {
    const row = lengths[one] as Uint16Array
    const below = lengths[one + 1] as Uint16Array
    for (let other = after.length - 1; other >= 0; other -= 1) {
      row[other] =
        before[one] === after[other] ? (below[other + 1] ?? 0) + 1 : Math.max(below[other] ?? 0, row[other + 1] ?? 0)
    }
  }
  return lengths
}

function withoutDistant(lines: readonly Line[]): Line[] {
  const near = lines.map((_, place) =>
    lines.slice(Math.max(0, place - contextLines), place + contextLines + 1).some((line) => line.sign !== ' '),
  )
  const shown: Line[] = []
  for (const [place, line] of lines.entries()) {
    if (near[place] === true) shown.push(line)
    else if (near[place - 1] === true) shown.push({ sign: ' ', text: '…' })
  }
  return shown
}
