// Sizes: files of at most 400 lines, functions of at most 70, and a first line that says what the file is.
import { codeOnly } from './code-only.ts'
import type { Breach, Sources } from './sources.ts'
import { lineAt } from './sources.ts'

export const fileLinesMax = 400
export const functionLinesMax = 70

export function longFiles(sources: Sources): Breach[] {
  return [...sources].flatMap(([file, text]) => {
    const lines = text.replace(/\n$/, '').split('\n').length
    return lines > fileLinesMax ? [{ file, line: lines, what: `has ${lines} lines; ${fileLinesMax} are allowed` }] : []
  })
}

export function namelessFiles(sources: Sources): Breach[] {
  return [...sources].flatMap(([file, text]) => {
    const [first = '', second = ''] = text.split('\n')
    const shebang = first.startsWith('#!')
    const fits = /^\/\/ \S+ ?\S*/.test(shebang ? second : first)
    return fits ? [] : [{ file, line: shebang ? 2 : 1, what: 'does not begin with a // comment that says what it is' }]
  })
}

export function longFunctions(sources: Sources): Breach[] {
  return [...sources].flatMap(([file, text]) =>
    functionsOf(text)
      .filter(({ lines }) => lines > functionLinesMax)
      .map(({ line, lines }) => ({
        file,
        line,
        what: `is a function of ${lines} lines; ${functionLinesMax} are allowed`,
      })),
  )
}

export interface FunctionExtent {
  readonly line: number
  readonly lines: number
}

/**
 * Every function, method, accessor, constructor and arrow, found in the text: the compiler has no programming interface.
 * It errs on the safe side: a block counts as a function unless it plainly is an object, a type, a class or an import
 * list, so `if` and `for` blocks are measured as well, and cannot be longer than the function around them.
 * The callback of `describe` is a list of tests and is not measured; its tests are.
 * Limits: an arrow without braces ends where a line ends and neither this nor the next goes on with an operator, so one
 * whose lines are joined by a word (`instanceof`, `as`) is measured short; the signature is counted when the line of the
 * opening brace begins with its closing parenthesis, as the formatter writes signatures of several lines.
 */
export function functionsOf(text: string): FunctionExtent[] {
  const code = codeOnly(text)
  return [...blocksOf(code), ...bareArrowsOf(code)].map(({ from, to }) => {
    const line = lineAt(code, from)
    return { line, lines: lineAt(code, to) - line + 1 }
  })
}

interface Extent {
  readonly from: number
  readonly to: number
}

function blocksOf(code: string): Extent[] {
  const pairs = bracketsOf(code)
  const openerOf = new Map([...pairs].map(([open, close]) => [close, open]))
  return [...pairs]
    .filter(([open]) => code[open] === '{' && mayBeFunction(code.slice(0, open)))
    .map(([open, to]) => {
      const lineStart = code.lastIndexOf('\n', open) + 1
      const first = lineStart + code.slice(lineStart).search(/\S/)
      return { from: (code[first] === ')' ? openerOf.get(first) : undefined) ?? open, to }
    })
}

/** What stands before a brace that opens an object, a type, a class body or a list of names. */
function mayBeFunction(before: string): boolean {
  const head = before.slice(-400)
  if (/^ *(?:describe|suite)\((['"`]) *\1(?:, \{[^{}\n]*\})?, \(\w*\) => $/m.test(head)) return false
  if (/=>\s*$/.test(head)) return true
  if (/[=(,[:?|&<.]\s*$/.test(head)) return false
  if (
    /\b(?:return|satisfies|as|extends|keyof|import|export|import type|export type|default|throw|await|yield)\s*$/.test(
      head,
    )
  ) {
    return false
  }
  return !/(?:^|[\n;{}])\s*(?:(?:export|declare|abstract) )*(?:class|interface|namespace|module|global)\b[^{};=()]*$/.test(
    head,
  )
}

function bracketsOf(code: string): Map<number, number> {
  const pairs = new Map<number, number>()
  const open: number[] = []
  for (let at = 0; at < code.length; at += 1) {
    if ('([{'.includes(code[at] ?? ' ')) open.push(at)
    if (')]}'.includes(code[at] ?? ' ')) {
      const opener = open.pop()
      if (opener !== undefined) pairs.set(opener, at)
    }
  }
  return pairs
}

function bareArrowsOf(code: string): Extent[] {
  return [...code.matchAll(/=>(?!\s*\{)/g)].map((match) => ({
    from: match.index,
    to: endOfExpression(code, match.index + 2),
  }))
}

function endOfExpression(code: string, start: number): number {
  let depth = 0
  let last = start
  for (let at = start; at < code.length; at += 1) {
    const one = code[at] ?? ' '
    if (one === '\n' && depth === 0 && last > start && endsHere(code, last, at)) return last
    if (')]}'.includes(one)) depth -= 1
    if (depth < 0 || (depth === 0 && (one === ',' || one === ';'))) return last
    if ('([{'.includes(one)) depth += 1
    if (/\S/.test(one)) last = at
  }
  return last
}

function endsHere(code: string, last: number, newline: number): boolean {
  const next = /\S/.exec(code.slice(newline))?.[0] ?? ''
  return !/[=+\-*/%&|^<>?:!~.,]/.test(code[last] ?? '') && !/[.?:+\-*/%&|^<>=)\]}]/.test(next)
}
