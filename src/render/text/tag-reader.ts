// What the elements of a document mean for its text: which are shown, and which are on separate lines.
import type { TextSink } from './text-writer.ts'

const skipped = new Set([
  ...['script', 'style', 'head', 'title', 'template', 'svg', 'object', 'iframe', 'select', 'noscript'],
])
/** With a blank line around them. */
const paragraphs = new Set([
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'table', 'blockquote', 'pre', 'hr', 'dl'],
])
/** On lines of their own. */
const lines = new Set([
  ...['address', 'article', 'aside', 'center', 'dd', 'div', 'dt', 'fieldset', 'figcaption', 'figure', 'footer', 'form'],
  ...['header', 'li', 'main', 'nav', 'section', 'tr', 'caption', 'body', 'html'],
])

type Attributes = Readonly<Record<string, string>>

export const isHiddenStyle = (style: string): boolean => /display\s*:\s*none/i.test(style)

const isHidden = (attributes: Attributes): boolean =>
  attributes['hidden'] !== undefined || isHiddenStyle(attributes['style'] ?? '')

/** The attributes it looks at. The one that hides is read for every element. */
export const readsAttribute = (tag: string, name: string): boolean =>
  name === 'style' || readAttributes.has(`${tag} ${name}`)

const readAttributes = new Set(['a href', 'img alt', 'ol start'])

export class TagReader {
  readonly #sink: TextSink
  #pre = 0
  #skipping = 0
  /** Whether an open element hides what is in it, so that its end shows again. */
  readonly #skippedBy: boolean[] = []

  constructor(sink: TextSink) {
    this.#sink = sink
  }

  get isSkipping(): boolean {
    return this.#skipping > 0
  }

  get isPreformatted(): boolean {
    return this.#pre > 0
  }

  open(name: string, attributes: Attributes): void {
    const skips = skipped.has(name) || isHidden(attributes)
    this.#skippedBy.push(skips)
    if (skips) this.#skipping += 1
    if (this.#skipping > 0) return
    const sink = this.#sink
    this.#breakAround(name)
    if (name === 'br') sink.newLine()
    else if (name === 'hr') sink.rule()
    else if (name === 'img') sink.words(attributes['alt'] ?? '')
    else if (name === 'a') sink.link(attributes['href'] ?? '')
    else if (name === 'ul') sink.list(undefined)
    else if (name === 'ol') sink.list(attributes['start'] ?? '1')
    else if (name === 'li') sink.bullet()
    else if (name === 'pre') this.#pre += 1
    else if (name === 'blockquote') sink.quote()
    else if (name === 'td' || name === 'th') sink.cell()
  }

  close(name: string): void {
    if (this.#skippedBy.pop() === true) {
      this.#skipping -= 1
      return
    }
    if (this.#skipping > 0) return
    const sink = this.#sink
    if (name === 'a') sink.endLink()
    else if (name === 'ul' || name === 'ol') sink.endList()
    else if (name === 'pre') this.#pre = Math.max(0, this.#pre - 1)
    else if (name === 'li') sink.endItem()
    this.#breakAround(name)
    if (name === 'blockquote') sink.endQuote()
  }

  write(text: string): void {
    if (this.#skipping > 0) return
    if (this.#pre > 0) this.#sink.preformatted(text)
    else this.#sink.words(text)
  }

  #breakAround(name: string): void {
    if (paragraphs.has(name)) this.#sink.paragraph()
    else if (lines.has(name)) this.#sink.line()
  }
}
