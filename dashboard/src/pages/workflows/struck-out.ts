// Files of a workflow, compared: values that one side may not see, and the other may, are no difference.
interface TextFile {
  readonly path: string
  readonly text: string
}

const struckOut = '[redacted]'

export const isSameFiles = (one: readonly TextFile[], other: readonly TextFile[]): boolean =>
  one.length === other.length &&
  one.every(({ path, text }, place) => path === other[place]?.path && isSameText(text, other[place].text))

function isSameText(one: string, other: string): boolean {
  if (one === other) return true
  const [lines, others] = [one.split('\n'), other.split('\n')]
  return lines.length === others.length && lines.every((line, place) => isSameLine(line, others[place] ?? ''))
}

const isSameLine = (one: string, other: string): boolean => one === other || fits(one, other) || fits(other, one)

/** Whether a line with values struck out can be the other one: what is left of it is there, in its order. */
function fits(line: string, whole: string): boolean {
  const [first = '', ...rest] = unquoted(line).split(struckOut).map(withoutMark)
  const last = rest.pop()
  const open = unquoted(whole)
  if (last === undefined || !open.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = open.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return open.length - last.length >= at && open.endsWith(last)
}

/** The service puts a question mark in the place of a tag, too. */
const withoutMark = (part: string): string => part.replace(/\?$/, '')

/** YAML puts quotes around some values, and not around those that they are struck out to; or the other way around. */
const unquoted = (line: string): string => line.replace(/: (["'])(.*)\1$/, ': $2')
