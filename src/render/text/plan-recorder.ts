// Records what a parser reports about the outline of a template: for each mark its position, and what came before it.
import type { Parser } from 'htmlparser2'
import { isHiddenStyle, readsAttribute, TagReader } from './tag-reader.ts'
import { mark } from './template-outline.ts'
import type { Place, TextOp } from './text-run.ts'
import type { TextSink, TextWriter } from './text-writer.ts'
import { phraseOf } from './text-writer.ts'

type Plain = Exclude<keyof TextSink, 'words' | 'preformatted' | 'link' | 'list'>

/** What was found at a mark. */
export interface Met {
  readonly place: Place
  /** The same for all places within one attribute, and for all in texts. */
  readonly within: string
  /** Elements that are open. */
  readonly depth: number
  /** The fewest that were open since the mark before. */
  readonly depthMin: number
  /** What happened since the mark before. */
  readonly ops: readonly TextOp[]
}

export class PlanRecorder {
  readonly #marks: Met[] = []
  readonly #count: number
  readonly #reader: TagReader
  #ops: TextOp[] = []
  /** Words that may still continue. */
  #words = ''
  #depth = 0
  #depthMin = 0
  #isUnfit = false
  #tag = ''
  #tagNumber = 0
  #seen = new Set<string>()

  constructor(count: number) {
    this.#count = count
    this.#reader = new TagReader(this.#sink())
  }

  /** Undefined unless each was met, once and in its order. */
  get marks(): readonly Met[] | undefined {
    return this.#isUnfit || this.#marks.length !== this.#count ? undefined : this.#marks
  }

  /** What happened after the last mark. */
  get end(): readonly TextOp[] {
    this.#endWords()
    return this.#ops
  }

  get handler(): NonNullable<ConstructorParameters<typeof Parser>[0]> {
    return {
      onopentagname: (name) => this.#startTag(name),
      onattribute: (name, value, quote) => this.#attribute(name, value, quote),
      onopentag: (name, attributes) => {
        this.#depth += 1
        if (attributes['style']?.includes(mark) === true) this.#demandShown(attributes)
        this.#reader.open(name, attributes)
      },
      onclosetag: (name) => {
        this.#depth -= 1
        this.#depthMin = Math.min(this.#depthMin, this.#depth)
        this.#reader.close(name)
      },
      ontext: (text) => this.#text(text),
    }
  }

  #startTag(name: string): void {
    this.#tag = name
    this.#tagNumber += 1
    this.#seen = new Set()
  }

  /** A style that is only known when it is rendered: one that hides something is for the parser. */
  #demandShown(attributes: Record<string, string>): void {
    attributes['style'] = ''
    this.#add((text) => {
      if (isHiddenStyle(text.kept('style'))) text.fail()
    })
  }

  #attribute(name: string, value: string, quote: string | null | undefined): void {
    const isFirst = !this.#seen.has(name)
    this.#seen.add(name)
    if (!value.includes(mark)) return
    if (quote !== '"' && quote !== "'") this.#isUnfit = true
    const isRead = isFirst && readsAttribute(this.#tag, name)
    const within = `${this.#tagNumber} ${name}`
    let isBegun = false
    this.#split(
      value,
      (fixed) => {
        if (!isRead || (fixed === '' && isBegun)) return
        const begins = !isBegun
        isBegun = true
        this.#add((text) => {
          text.attribute = begins ? fixed : text.attribute + fixed
        })
      },
      () => this.#meet(isRead ? 'attribute' : 'otherAttribute', within),
    )
    if (isRead) this.#add((text) => text.keepAttribute(name))
  }

  #text(text: string): void {
    this.#split(
      text,
      (fixed) => this.#reader.write(fixed),
      () => this.#meet(this.#textPlace(), ''),
    )
  }

  #textPlace(): Place {
    if (this.#reader.isSkipping) return 'hidden'
    return this.#reader.isPreformatted ? 'preformatted' : 'words'
  }

  #split(text: string, fixed: (text: string) => void, met: () => void): void {
    for (const [index, part] of text.split(mark).entries()) {
      if (index % 2 === 0) fixed(part)
      else if (Number(part) === this.#marks.length) met()
      else this.#isUnfit = true
    }
  }

  #meet(place: Place, within: string): void {
    this.#endWords()
    this.#marks.push({ place, within, depth: this.#depth, depthMin: this.#depthMin, ops: this.#ops })
    this.#ops = []
    this.#depthMin = this.#depth
  }

  #add(op: TextOp): void {
    this.#endWords()
    this.#ops.push(op)
  }

  #endWords(): void {
    if (this.#words === '') return
    const phrase = phraseOf(this.#words)
    this.#words = ''
    this.#ops.push(({ writer }) => writer.phrase(phrase))
  }

  #sink(): TextSink {
    const plain =
      <Name extends Plain>(name: Name) =>
      () =>
        this.#add(({ writer }) => (writer as Pick<TextWriter, Plain>)[name]())
    return {
      paragraph: plain('paragraph'),
      line: plain('line'),
      newLine: plain('newLine'),
      rule: plain('rule'),
      cell: plain('cell'),
      endLink: plain('endLink'),
      endList: plain('endList'),
      bullet: plain('bullet'),
      endItem: plain('endItem'),
      quote: plain('quote'),
      endQuote: plain('endQuote'),
      words: (words) => {
        if (words.includes(mark)) this.#add((text) => text.writer.words(text.kept('alt')))
        else this.#words += words
      },
      preformatted: (lines) => this.#add(({ writer }) => writer.preformatted(lines)),
      link: (address) => {
        if (address.includes(mark)) this.#add((text) => text.writer.link(text.kept('href')))
        else this.#add(({ writer }) => writer.link(address))
      },
      list: (start) => {
        if (start?.includes(mark) === true) this.#add((text) => text.writer.list(text.kept('start')))
        else this.#add(({ writer }) => writer.list(start))
      },
    }
  }
}
