// Blanks comments and the contents of strings, templates and regular expressions, so that what is left is code. Every
// character keeps its offset and every line its number; quotes stay, so that a caller can read a string back. Limits:
// it does not parse. Whether a `/` divides or opens a regular expression is decided by what stands before it; after
// `)` or `}` it is taken for a division. JSX is not understood.

export interface Blanked {
  /** Code alone. */
  readonly code: string
  /** Code, strings, templates and regular expressions: everything but comments. */
  readonly withStrings: string
  /** Code, comments, and what is written in words: everything but literals of one word, such as ids and addresses. */
  readonly prose: string
}

const lookBack = 200

type Kind = 'code' | 'comment' | 'literal'

const regexMayFollow =
  /(?:^|[=(,:[!&|?{;+\-*%<>~^]|\b(?:return|typeof|case|in|of|void|throw|new|await|yield|else|do))\s*$/

export function blank(text: string): Blanked {
  const kinds = kindsOf(text)
  const keep = (kept: (kind: Kind) => boolean): string =>
    [...kinds].map((kind, at) => (kept(kind) || text[at] === '\n' ? text[at] : ' ')).join('')
  return {
    code: keep((kind) => kind === 'code'),
    withStrings: keep((kind) => kind !== 'comment'),
    prose: withoutSingleWords(text, kinds),
  }
}

function withoutSingleWords(text: string, kinds: readonly Kind[]): string {
  let prose = ''
  for (let at = 0; at < text.length; ) {
    let end = at + 1
    while (end < text.length && kinds[end] === kinds[at]) end += 1
    const run = text.slice(at, end)
    prose += kinds[at] === 'literal' && !/\s/.test(run) ? ' '.repeat(run.length) : run
    at = end
  }
  return prose
}

export const codeOnly = (text: string): string => blank(text).code

function kindsOf(text: string): Kind[] {
  const kinds: Kind[] = new Array<Kind>(text.length).fill('code')
  const fill = (from: number, to: number, kind: Kind): number => {
    kinds.fill(kind, from, Math.min(to, text.length))
    return to
  }
  // For each `${` that is open: how many braces are open inside it.
  const holes: number[] = []
  let at = 0
  const template = (from: number): number => {
    const end = endOfTemplatePart(text, from)
    fill(from, end, 'literal')
    if (text[end] === '`') return end + 1
    holes.push(0)
    return end + 2
  }
  while (at < text.length) {
    const two = text.slice(at, at + 2)
    const one = text[at] ?? ''
    if (two === '//' || (at === 0 && two === '#!')) at = fill(at, indexOr(text, '\n', at), 'comment')
    else if (two === '/*') at = fill(at, indexOr(text, '*/', at + 2) + 2, 'comment')
    else if (one === "'" || one === '"') at = fill(at + 1, endOfString(text, at), 'literal') + 1
    else if (one === '`') at = template(at + 1)
    else if (one === '/' && regexMayFollow.test(codeBefore(text, kinds, at))) {
      at = fill(at + 1, endOfRegex(text, at), 'literal') + 1
    } else if (one === '}' && holes.at(-1) === 0) {
      holes.pop()
      at = template(at + 1)
    } else {
      const open = holes.pop()
      if (open !== undefined) holes.push(open + (one === '{' ? 1 : one === '}' ? -1 : 0))
      at += 1
    }
  }
  return kinds
}

/** The code on the way to an offset: enough of it to see a word and what stands before it. */
function codeBefore(text: string, kinds: readonly Kind[], to: number): string {
  const from = Math.max(0, to - lookBack)
  let before = ''
  for (let at = from; at < to; at += 1) before += kinds[at] === 'code' ? text[at] : ' '
  return from === 0 ? before : `x${before}`
}

function indexOr(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from)
  return found === -1 ? text.length : found
}

/** The offset of the closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== text[start] && text[at] !== '\n') at += text[at] === '\\' ? 2 : 1
  return at
}

/** The offset of the backtick or of the `${` that ends this stretch of template text. */
function endOfTemplatePart(text: string, start: number): number {
  let at = start
  while (at < text.length && text[at] !== '`' && text.slice(at, at + 2) !== '${') at += text[at] === '\\' ? 2 : 1
  return at
}

/** The offset of the closing slash; a slash inside a class does not close. */
function endOfRegex(text: string, start: number): number {
  let inClass = false
  let at = start + 1
  while (at < text.length && text[at] !== '\n' && (inClass || text[at] !== '/')) {
    if (text[at] === '[') inClass = true
    if (text[at] === ']') inClass = false
    at += text[at] === '\\' ? 2 : 1
  }
  return at
}
