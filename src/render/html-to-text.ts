// The text part of an e-mail, read from its HTML: links with their address, lists, headings and tables as lines.
import { Parser } from 'htmlparser2'

/** Nobody reads more; the HTML beside it is whole. */
export const textLengthMax = 200_000

const skipped = new Set([
  'script',
  'style',
  'head',
  'title',
  'template',
  'svg',
  'object',
  'iframe',
  'select',
  'noscript',
])
/** With a blank line around. */
const paragraphs = new Set([
  'p',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'table',
  'blockquote',
  'pre',
  'hr',
  'dl',
])
/** On lines of their own. */
const lines = new Set([
  ...['address', 'article', 'aside', 'center', 'dd', 'div', 'dt', 'fieldset', 'figcaption', 'figure', 'footer', 'form'],
  ...['header', 'li', 'main', 'nav', 'section', 'tr', 'caption', 'body', 'html'],
])
const indentMax = 10

interface Link {
  readonly address: string
  said: string
}

interface List {
  next: number | undefined
}

class TextWriter {
  text = ''
  #line = ''
  /** Line breaks that are owed before the next word. */
  #breaks = 0
  #pre = 0
  #skipping = 0
  #quotes = 0
  #blank = false
  readonly #lists: List[] = []
  readonly #links: Link[] = []
  /** A bullet stands alone on its line: what opens now goes beside it. */
  #atBullet = false
  /** What an open element did, so that its end undoes it. */
  readonly #skippedBy: boolean[] = []

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const skips = skipped.has(name) || isHidden(attributes)
    this.#skippedBy.push(skips)
    if (skips) this.#skipping += 1
    if (this.#skipping > 0) return
    if (paragraphs.has(name)) this.#break(this.#lists.length > 0 ? 1 : 2)
    else if (lines.has(name)) this.#break(1)
    if (name === 'br') this.#newLine()
    else if (name === 'hr') this.#put('----------')
    else if (name === 'img') this.#word(attributes['alt'] ?? '')
    else if (name === 'a') this.#links.push({ address: attributes['href'] ?? '', said: '' })
    else if (name === 'ul') this.#lists.push({ next: undefined })
    else if (name === 'ol') this.#lists.push({ next: Number.parseInt(attributes['start'] ?? '1', 10) || 1 })
    else if (name === 'li') this.#bullet()
    else if (name === 'pre') this.#pre += 1
    else if (name === 'blockquote') this.#quotes += 1
    else if ((name === 'td' || name === 'th') && this.#breaks === 0 && this.#line.trim() !== '') this.#put(' | ')
  }

  close(name: string): void {
    if (this.#skippedBy.pop() === true) {
      this.#skipping -= 1
      return
    }
    if (this.#skipping > 0) return
    if (name === 'a') this.#endLink()
    else if (name === 'ul' || name === 'ol') this.#lists.pop()
    else if (name === 'pre') this.#pre = Math.max(0, this.#pre - 1)
    if (name === 'li') this.#atBullet = false
    if (paragraphs.has(name)) this.#break(this.#lists.length > 0 ? 1 : 2)
    else if (lines.has(name)) this.#break(1)
    if (name === 'blockquote') this.#quotes = Math.max(0, this.#quotes - 1)
  }

  write(text: string): void {
    if (this.#skipping > 0) return
    if (this.#pre > 0) {
      for (const [index, line] of text.split('\n').entries()) {
        if (index > 0) this.#newLine()
        if (line !== '') this.#put(line)
      }
    } else this.#word(text)
  }

  get length(): number {
    return this.text.length + this.#line.length
  }

  get isLinked(): boolean {
    return this.#links.length > 0
  }

  end(): string {
    this.#flush()
    return this.text.trim()
  }

  #word(text: string): void {
    const words = text.replace(/\s+/g, ' ')
    if (words === ' ' || words === '') {
      this.#blank ||= words === ' '
      return
    }
    if (words.startsWith(' ')) this.#blank = true
    this.#put(words.trim())
    this.#blank = words.endsWith(' ')
  }

  #put(text: string): void {
    if (this.#breaks > 0) this.#startLine()
    if (this.#blank && this.#line !== '' && !this.#line.endsWith(' ') && !text.startsWith(' ')) this.#line += ' '
    this.#blank = false
    this.#atBullet = false
    this.#line += text
    const link = this.#links.at(-1)
    if (link !== undefined) link.said += text
  }

  #startLine(): void {
    this.#flush()
    if (this.text !== '') this.text += '\n'.repeat(this.#breaks)
    this.#breaks = 0
    this.#blank = false
    this.#line = `${'> '.repeat(Math.min(this.#quotes, indentMax))}${'  '.repeat(Math.min(Math.max(this.#lists.length - 1, 0), indentMax))}`
  }

  #flush(): void {
    this.text += this.#line.trimEnd()
    this.#line = ''
  }

  #break(count: number): void {
    if (this.#atBullet) return
    this.#breaks = Math.max(this.#breaks, count)
  }

  #newLine(): void {
    this.#breaks = Math.min(this.#breaks + 1, 2)
  }

  #bullet(): void {
    const list = this.#lists.at(-1)
    if (list?.next === undefined) this.#put('- ')
    else {
      this.#put(`${list.next}. `)
      list.next += 1
    }
    this.#atBullet = true
  }

  #endLink(): void {
    const link = this.#links.pop()
    if (link === undefined) return
    const address = shownAddress(link.address)
    if (address === undefined) return
    const said = link.said.trim()
    if (said === address || said === link.address) return
    this.#blank = said !== ''
    this.#put(said === '' ? address : `(${address})`)
  }
}

/** What helps a reader who cannot click. */
function shownAddress(address: string): string | undefined {
  const mail = /^mailto:([^?]+)/i.exec(address)
  if (mail?.[1] !== undefined) return mail[1]
  if (/^tel:/i.test(address)) return address.slice(4)
  return /^https?:/i.test(address) ? address : undefined
}

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  return attributes['hidden'] !== undefined || /display\s*:\s*none/i.test(attributes['style'] ?? '')
}

/** Is told of every text between tags: whether it stands in a link, and how much was written before it. */
export type Watch = (text: string, place: { readonly isLinked: boolean; readonly before: number }) => void

export function htmlToText(html: string, watch?: Watch): string {
  const writer = new TextWriter()
  const parser = new Parser(
    {
      onopentag: (name, attributes) => writer.open(name, attributes),
      onclosetag: (name) => writer.close(name),
      ontext: (text) => {
        if (watch !== undefined) watch(text, { isLinked: writer.isLinked, before: writer.length })
        if (writer.length < textLengthMax) writer.write(text)
      },
    },
    { decodeEntities: true, lowerCaseTags: true },
  )
  parser.write(html)
  parser.end()
  return writer.end().slice(0, textLengthMax)
}
