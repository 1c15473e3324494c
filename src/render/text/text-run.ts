// The text part of one message, written while its HTML is: what a plan says of the texts, and the values between them.
import { textLengthMax } from './html-to-text.ts'
import { TextWriter } from './text-writer.ts'

/** The position of a value: in text, in an attribute that is read, or in one that is not. */
export type Place = 'words' | 'preformatted' | 'hidden' | 'attribute' | 'otherAttribute'

/** One thing that happens to the text, known since the template was compiled. */
export type TextOp = (text: TextRun) => void

/** The parser's case-insensitive comparison takes this one for `<` when it looks for the end of a title. */
export const takenForLessThan = '\u001c'

/** The complete escapes that our own output contains. */
const escapes: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&#34;': '"',
  '&#39;': "'",
}
const escapePattern = /&(?:amp|lt|gt|#34|#39);/g
const strangeEscape = /&(?!(?:amp|lt|gt|#34|#39);)/

export class TextRun {
  readonly writer = new TextWriter()
  /** The value of an attribute so far. */
  attribute = ''
  readonly #attributes: Record<string, string> = {}
  #failed = false
  #tags = 0

  /** Fixed text of the template was written, with so many tags. */
  play(ops: readonly TextOp[], tags: number): void {
    this.#tags += tags
    for (const op of ops) op(this)
  }

  /** Text of a payload. In the HTML it is escaped, so that it ends neither a text nor an attribute. */
  value(place: Place, text: string): void {
    switch (place) {
      case 'words':
        this.writer.words(text)
        break
      case 'preformatted':
        this.writer.preformatted(text)
        break
      case 'attribute':
        this.attribute += text
        break
      case 'hidden':
        if (text.includes(takenForLessThan)) this.fail()
    }
  }

  /** Text that is in the HTML as it is: with markup in it, only the whole HTML shows what it means. */
  markup(place: Place, html: string): void {
    const isInText = place !== 'attribute' && place !== 'otherAttribute'
    if (isInText ? html.includes('<') : /[<>"']/.test(html)) this.fail()
    else if (!html.includes('&')) this.value(place, html)
    else if (strangeEscape.test(html)) this.fail()
    else
      this.value(
        place,
        html.replace(escapePattern, (found) => escapes[found] ?? ''),
      )
  }

  keepAttribute(name: string): void {
    this.#attributes[name] = this.attribute
  }

  kept(name: string): string {
    return this.#attributes[name] ?? ''
  }

  /** The text has to be read from the HTML. */
  fail(): void {
    this.#failed = true
  }

  /** Of the fixed texts; there are no others where the text could be written. */
  get tags(): number {
    return this.#tags
  }

  /** Undefined where it has to be read from the HTML. */
  end(): string | undefined {
    return this.#failed || this.writer.written >= textLengthMax ? undefined : this.writer.end()
  }
}
