// The blocks of an e-mail, and the HTML that stands for them: written so that it can be read back into the same blocks.
export type Align = 'left' | 'center' | 'right'

export type Block =
  | { readonly type: 'text' | 'heading'; readonly content: string; readonly align: Align }
  | { readonly type: 'button'; readonly content: string; readonly url: string; readonly align: Align }
  | { readonly type: 'image'; readonly url: string; readonly content: string; readonly align: Align }
  | { readonly type: 'divider' }
  | { readonly type: 'columns'; readonly columns: readonly (readonly Block[])[] }
  | { readonly type: 'loop'; readonly item: string; readonly list: string; readonly blocks: readonly Block[] }
  | { readonly type: 'condition'; readonly test: string; readonly blocks: readonly Block[] }

export const blockNames = {
  heading: 'Heading',
  text: 'Text',
  button: 'Button',
  image: 'Image',
  divider: 'Divider',
  columns: 'Columns',
  loop: 'Repeat',
  condition: 'Only if',
} satisfies Record<Block['type'], string>

export function newBlock(type: Block['type']): Block {
  const text = (content: string): Block => ({ type: 'text', content, align: 'left' })
  switch (type) {
    case 'heading':
      return { type, content: 'Hello {{ subscriber.firstName }}', align: 'left' }
    case 'text':
      return text('')
    case 'button':
      return { type, content: 'Open', url: 'https://example.com', align: 'left' }
    case 'image':
      return { type, url: 'https://example.com/picture.png', content: '', align: 'left' }
    case 'divider':
      return { type }
    case 'columns':
      return { type, columns: [[text('Left')], [text('Right')]] }
    case 'loop':
      return { type, item: 'item', list: 'payload.items', blocks: [text('{{ item.title }}')] }
    case 'condition':
      return { type, test: 'payload.plan == "gold"', blocks: [text('')] }
  }
}

/** What the service knows as blocks of its own. */
interface StoredBlock {
  readonly type: 'text' | 'button'
  readonly content: string
  readonly url?: string
  readonly styles?: { readonly textAlign?: Align }
}

/** From its own beginning: a tag without an end, while it is typed, reaches into none that comes later. */
const liquidTag = /(\{\{(?:(?!\{[{%]).)*?\}\}|\{%(?:(?!\{[{%]).)*?%\})/s
/** Liquid is rendered before anything reads the HTML: what stands in its tags stays as it was written. */
const outsideTags = (text: string, change: (part: string) => string): string =>
  text
    .split(liquidTag)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('')
const attribute = (text: string): string => outsideTags(text, (part) => part.replaceAll('"', '&quot;'))
const unattribute = (text: string): string => outsideTags(text, (part) => part.replaceAll('&quot;', '"'))
const newLine = /\r\n?|\n/g
/** A line break of the text is `<br>`; one in a tag of Liquid stays, as `{% liquid %}` counts its lines. */
const oneLine = (text: string): string => outsideTags(text, (part) => part.replace(newLine, '<br>'))
const lines = (text: string): string => outsideTags(text, (part) => part.replaceAll('<br>', '\n'))

/** In a text without tags the service keeps line breaks; in one with tags they are white space, so there it takes `<br>`. */
const storedText = (text: string): string =>
  text.includes('<') ? outsideTags(text, (part) => part.replace(newLine, '<br>')) : text
const textOfStored = (stored: string): string =>
  stored.includes('<') ? outsideTags(stored, (part) => lines(part.replace(newLine, ' '))) : stored

/** Of a button and of a picture: where they stand, the address has ended. */
const link =
  'display:inline-block;padding:12px 24px;background-color:#1f2933;color:#ffffff;font-weight:600;text-decoration:none;border-radius:6px'
const picture = 'max-width:100%;height:auto;border:0'

/** One element in one line, but for line breaks in tags of Liquid; what holds others begins and ends in lines of its own. */
export function htmlOf(blocks: readonly Block[]): string {
  return blocks.map(htmlOfBlock).join('\n')
}

function htmlOfBlock(block: Block): string {
  switch (block.type) {
    case 'heading':
      return `<h2 style="margin:0 0 16px;text-align:${block.align}">${oneLine(block.content)}</h2>`
    case 'text':
      return `<p style="margin:0 0 16px;text-align:${block.align}">${oneLine(block.content)}</p>`
    case 'button':
      return `<p style="margin:8px 0 24px;text-align:${block.align}"><a href="${attribute(block.url)}" style="${link}">${oneLine(block.content)}</a></p>`
    case 'image':
      return `<p style="margin:0 0 16px;text-align:${block.align}"><img src="${attribute(block.url)}" alt="${attribute(oneLine(block.content))}" style="${picture}"></p>`
    case 'divider':
      return '<hr style="margin:24px 0;border:0;border-top:1px solid #d8dce2">'
    case 'columns': {
      const width = Math.floor(100 / Math.max(1, block.columns.length))
      const cells = block.columns.map((column) => `<td width="${width}%" valign="top">\n${htmlOf(column)}\n</td>`)
      return ['<table role="presentation" width="100%" cellpadding="8"><tr>', ...cells, '</tr></table>'].join('\n')
    }
    case 'loop':
      return `{% for ${block.item} in ${block.list} %}\n${htmlOf(block.blocks)}\n{% endfor %}`
    case 'condition':
      return `{% if ${block.test} %}\n${htmlOf(block.blocks)}\n{% endif %}`
  }
}

const patterns = {
  heading: /^<h2 style="margin:0 0 16px;text-align:(left|center|right)">(.*)<\/h2>$/s,
  image: new RegExp(
    `^<p style="margin:0 0 16px;text-align:(left|center|right)"><img src="(.*?)" alt="(.*?)" style="${picture}"></p>$`,
    's',
  ),
  button: new RegExp(
    `^<p style="margin:8px 0 24px;text-align:(left|center|right)"><a href="(.*?)" style="${link}">(.*)</a></p>$`,
    's',
  ),
  text: /^<p style="margin:0 0 16px;text-align:(left|center|right)">(.*)<\/p>$/s,
  loop: /^\{% for (\S*) in (.*) %\}$/,
  condition: /^\{% if (.*) %\}$/,
}

/** The blocks that this HTML was made of; undefined when it was written otherwise. */
export function blocksOf(html: string): Block[] | undefined {
  // Line by line first: a tag that is not finished in one block may look as if it ended in another.
  return blocksOfLines(html, html.split('\n')) ?? blocksOfLines(html, linesOutsideTags(html))
}

function blocksOfLines(html: string, found: readonly string[]): Block[] | undefined {
  const reader = { lines: html === '' ? [] : found, at: 0 }
  const blocks = readUntil(reader, undefined)
  return blocks !== undefined && reader.at === reader.lines.length && htmlOf(blocks) === html ? blocks : undefined
}

/** No text holds this character: the service refuses it. */
const mark = '\u0000'
const linesOutsideTags = (html: string): string[] =>
  outsideTags(html, (part) => part.replaceAll('\n', mark)).split(mark)

interface Reader {
  readonly lines: readonly string[]
  at: number
}

function readUntil(reader: Reader, end: string | undefined): Block[] | undefined {
  const blocks: Block[] = []
  while (reader.at < reader.lines.length && reader.lines[reader.at] !== end) {
    const line = reader.lines[reader.at] ?? ''
    reader.at += 1
    const block = line === '' ? 'empty' : readBlock(line, reader)
    if (block === undefined) return undefined
    if (block !== 'empty') blocks.push(block)
  }
  return blocks
}

/** What is inside, up to the line that ends it. */
function readInside(reader: Reader, end: string): Block[] | undefined {
  const inside = readUntil(reader, end)
  if (reader.lines[reader.at] !== end) return undefined
  reader.at += 1
  return inside
}

function readBlock(line: string, reader: Reader): Block | undefined {
  const [, headingAlign, heading] = patterns.heading.exec(line) ?? []
  if (heading !== undefined) return { type: 'heading', align: headingAlign as Align, content: lines(heading) }
  const [, imageAlign, source, alternative] = patterns.image.exec(line) ?? []
  if (source !== undefined && alternative !== undefined)
    return {
      type: 'image',
      align: imageAlign as Align,
      url: unattribute(source),
      content: lines(unattribute(alternative)),
    }
  const [, buttonAlign, address, label] = patterns.button.exec(line) ?? []
  if (address !== undefined && label !== undefined)
    return { type: 'button', align: buttonAlign as Align, url: unattribute(address), content: lines(label) }
  const [, textAlign, text] = patterns.text.exec(line) ?? []
  if (text !== undefined) return { type: 'text', align: textAlign as Align, content: lines(text) }
  if (line.startsWith('<hr ')) return { type: 'divider' }
  if (line.startsWith('<table role="presentation"')) return readColumns(reader)
  const [, item, list] = patterns.loop.exec(line) ?? []
  if (item !== undefined && list !== undefined) {
    const blocks = readInside(reader, '{% endfor %}')
    return blocks && { type: 'loop', item, list, blocks }
  }
  const [, test] = patterns.condition.exec(line) ?? []
  if (test === undefined) return undefined
  const blocks = readInside(reader, '{% endif %}')
  return blocks && { type: 'condition', test, blocks }
}

function readColumns(reader: Reader): Block | undefined {
  const columns: Block[][] = []
  while (reader.lines[reader.at]?.startsWith('<td ') === true) {
    reader.at += 1
    const column = readInside(reader, '</td>')
    if (column === undefined) return undefined
    columns.push(column)
  }
  if (reader.lines[reader.at] !== '</tr></table>') return undefined
  reader.at += 1
  return { type: 'columns', columns }
}

/** As a step's template holds it; undefined for HTML that was written otherwise. */
export function blocksOfContent(content: unknown): Block[] | undefined {
  if (typeof content === 'string') return blocksOf(content)
  if (!Array.isArray(content)) return []
  return (content as StoredBlock[]).map(({ type, content: text, url, styles }) => {
    const align = styles?.textAlign ?? 'left'
    return type === 'button'
      ? { type, content: text, url: url ?? '', align }
      : { type: 'text', content: textOfStored(text), align }
  })
}

/** Text and buttons are blocks of the service; with any other, it is HTML. */
export function contentOfBlocks(blocks: readonly Block[]): { contentType: string; content: string | StoredBlock[] } {
  const stored: StoredBlock[] = []
  for (const block of blocks) {
    if (block.type !== 'text' && block.type !== 'button') return { contentType: 'customHtml', content: htmlOf(blocks) }
    const styles = block.align === 'left' ? {} : { styles: { textAlign: block.align } }
    stored.push({
      type: block.type,
      content: block.type === 'text' ? storedText(block.content) : block.content,
      ...(block.type === 'button' ? { url: block.url } : {}),
      ...styles,
    })
  }
  return { contentType: 'editor', content: stored }
}
