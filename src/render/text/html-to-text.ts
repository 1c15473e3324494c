// The text part of an e-mail, read from its HTML: links with their address, lists, headings and tables as lines.
import { Parser } from 'htmlparser2'
import { TagReader } from './tag-reader.ts'
import { TextWriter } from './text-writer.ts'

/** No one reads more; the HTML part is complete. */
export const textLengthMax = 200_000

export const parserOptions = { decodeEntities: true, lowerCaseTags: true } as const

export function htmlToText(html: string): string {
  const writer = new TextWriter()
  const reader = new TagReader(writer)
  const parser = new Parser(
    {
      onopentag: (name, attributes) => reader.open(name, attributes),
      onclosetag: (name) => reader.close(name),
      ontext: (text) => {
        if (writer.length < textLengthMax) reader.write(text)
      },
    },
    parserOptions,
  )
  parser.write(html)
  parser.end()
  return writer.end().slice(0, textLengthMax)
}
