// Writes the text part of an e-mail: words run together, lines and blank lines between them, links with their address.

/** What the elements of a document say about its text. */
export interface TextSink {
  /** A blank line separates what precedes and what follows. */
  paragraph(): void
  /** What precedes and what follows are on different lines. */
  line(): void
  newLine(): void
  rule(): void
  cell(): void
  /** White space counts as one blank, and what is written in several pieces as one text. */
  words(text: string): void
  preformatted(text: string): void
  link(address: string): void
  endLink(): void
  /** A numbered one has a start. */
  list(start: string | undefined): void
  endList(): void
  bullet(): void
  endItem(): void
  quote(): void
  endQuote(): void
}

/** Words and whether there is a blank around them; no words if there are only blanks. */
export interface Phrase {
  readonly words: string
  readonly isBlankBefore: boolean
  readonly isBlankAfter: boolean
}

export function phraseOf(text: string): Phrase {
  const line = text.replace(/\s+/g, ' ')
  const words = line.trim()
  return { words, isBlankBefore: line.startsWith(' '), isBlankAfter: line.endsWith(' ') }
}

/** Nothing would be changed, and there is no blank around it. */
const plainWords = /^\S+(?: \S+)*$/

const indentMax = 10

interface Link {
  readonly address: string
  said: string
}

export class TextWriter implements TextSink {
  /** Characters that were written, line breaks and indents included: the text is no longer. */
  written = 0
  #text = ''
  #line = ''
  /** Of the line: cached, as scanning a line that grows piece by piece takes longer each time. */
  #hasWords = false
  #endsBlank = false
  /** Line breaks to write before the next word. */
  #breaks = 0
  #quotes = 0
  #blank = false
  /** By list: the next number; undefined where its items have bullets. */
  readonly #lists: (number | undefined)[] = []
  readonly #links: Link[] = []
  /** A bullet is alone on its line: what opens now goes next to it. */
  #atBullet = false

  get length(): number {
    return this.#text.length + this.#line.length
  }

  end(): string {
    this.#flush()
    return this.#text.trim()
  }

  paragraph(): void {
    this.#break(this.#lists.length > 0 ? 1 : 2)
  }

  line(): void {
    this.#break(1)
  }

  newLine(): void {
    this.#breaks = Math.min(this.#breaks + 1, 2)
  }

  rule(): void {
    this.#put('----------')
  }

  cell(): void {
    if (this.#breaks === 0 && this.#hasWords) this.#put(' | ')
  }

  words(text: string): void {
    if (plainWords.test(text)) {
      this.#put(text)
      this.#blank = false
    } else this.phrase(phraseOf(text))
  }

  phrase({ words, isBlankBefore, isBlankAfter }: Phrase): void {
    if (isBlankBefore) this.#blank = true
    if (words === '') return
    this.#put(words)
    this.#blank = isBlankAfter
  }

  preformatted(text: string): void {
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) this.newLine()
      if (line !== '') this.#put(line)
    }
  }

  link(address: string): void {
    this.#links.push({ address, said: '' })
  }

  endLink(): void {
    const link = this.#links.pop()
    if (link === undefined) return
    const address = shownAddress(link.address)
    if (address === undefined) return
    const said = link.said.trim()
    if (said === address || said === link.address) return
    this.#blank = said !== ''
    this.#put(said === '' ? address : `(${address})`)
  }

  list(start: string | undefined): void {
    this.#lists.push(start === undefined ? undefined : Number.parseInt(start, 10) || 1)
  }

  endList(): void {
    this.#lists.pop()
  }

  bullet(): void {
    const next = this.#lists.at(-1)
    if (next === undefined) this.#put('- ')
    else {
      this.#put(`${next}. `)
      this.#lists[this.#lists.length - 1] = next + 1
    }
    this.#atBullet = true
  }

  endItem(): void {
    this.#atBullet = false
  }

  quote(): void {
    this.#quotes += 1
  }

  endQuote(): void {
    this.#quotes = Math.max(0, this.#quotes - 1)
  }

  #put(text: string): void {
    if (this.#breaks > 0) this.#startLine()
    const link = this.#links.at(-1)
    if (this.#blank && this.#line !== '' && !this.#endsBlank && !text.startsWith(' ')) {
      this.#line += ' '
      this.written += 1
      if (link !== undefined) link.said += ' '
    }
    this.#blank = false
    this.#atBullet = false
    this.#line += text
    this.#endsBlank = text.endsWith(' ')
    this.#hasWords ||= /\S/.test(text)
    this.written += text.length
    if (link !== undefined) link.said += text
  }

  #startLine(): void {
    this.#flush()
    if (this.#text !== '') this.#text += this.#breaks === 1 ? '\n' : '\n\n'
    this.written += this.#breaks
    this.#breaks = 0
    this.#blank = false
    if (this.#quotes === 0 && this.#lists.length < 2) return
    const indent = '  '.repeat(Math.min(Math.max(this.#lists.length - 1, 0), indentMax))
    this.#line = '> '.repeat(Math.min(this.#quotes, indentMax)) + indent
    this.#hasWords = this.#quotes > 0
    this.#endsBlank = this.#line !== ''
    this.written += this.#line.length
  }

  #flush(): void {
    this.#text += this.#line.trimEnd()
    this.#line = ''
    this.#hasWords = false
    this.#endsBlank = false
  }

  #break(count: number): void {
    if (!this.#atBullet && this.#breaks < count) this.#breaks = count
  }
}

/** Whether it helps a reader who cannot click. */
function shownAddress(address: string): string | undefined {
  const mail = /^mailto:([^?]+)/i.exec(address)
  if (mail?.[1] !== undefined) return mail[1]
  if (/^tel:/i.test(address)) return address.slice(4)
  return /^https?:/i.test(address) ? address : undefined
}
