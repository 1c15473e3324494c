// The blocks of code in a document, and what is to be done with each: run, write, edit, compare, or nothing, for a reason.

export interface Block {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly text: string
  /** The file that the paragraph before it names, where that ends with a colon: `src/domain/people/label.ts`: */
  readonly path?: string
  /** `<!-- not run: … -->` above it. */
  readonly notRun?: string
  /** `<!-- in the background -->` above it: goes on while the rest of the page is run. */
  readonly background: boolean
  /** Nothing but blank lines stands between it and the block before. */
  readonly follows: boolean
}

const fence = /^(\s*)(`{3,})(\w*)\s*$/
const mark = /^\s*<!-- (not run: (.+)|in the background) -->\s*$/
/** What is written to a file when a paragraph names one. */
const written = new Set(['ts', 'js', 'sql', 'yaml', 'diff', 'html'])

export function blocksOf(page: string, markdown: string): Block[] {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  let before: string[] = []
  let follows = false
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent = '', ticks = '', language = ''] = fence.exec(lines[at] ?? '') ?? []
    if (ticks === '') {
      before.push(lines[at] ?? '')
      if ((lines[at] ?? '').trim() !== '' && !mark.test(lines[at] ?? '')) follows = false
      continue
    }
    const end = lines.findIndex((line, index) => index > at && line.trim() === ticks)
    if (end === -1) throw new Error(`${page}:${at + 1} opens a block that is never closed`)
    const text = lines.slice(at + 1, end).map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    const marks = marksOf(before)
    const path = written.has(language) ? pathIn(paragraphOf(before)) : undefined
    blocks.push({
      ...{ page, line: at + 1, language, text: `${text.join('\n')}\n`, follows, ...marks },
      ...(path === undefined ? {} : { path }),
    })
    follows = true
    before = []
    at = end
  }
  return blocks
}

function marksOf(before: readonly string[]): { notRun?: string; background: boolean } {
  const last = before.findLast((line) => line.trim() !== '') ?? ''
  const [, what, reason] = mark.exec(last) ?? []
  return { ...(reason === undefined ? {} : { notRun: reason }), background: what === 'in the background' }
}

/** The last paragraph, marks left out. */
function paragraphOf(before: readonly string[]): string {
  const lines = before.filter((line) => !mark.test(line))
  const end = lines.findLastIndex((line) => line.trim() !== '')
  const start = lines.findLastIndex((line, index) => index < end && line.trim() === '')
  return lines.slice(start + 1, end + 1).join(' ')
}

function pathIn(paragraph: string): string | undefined {
  if (!paragraph.trimEnd().endsWith(':')) return undefined
  return /`([\w./-]+\.(?:ts|mjs|sql|yaml|html))`/.exec(paragraph)?.[1]
}
