// What is wrong with the texts of a translation, reported when they are saved: each by key, line and column.
import { Turn } from '../domain/turn.ts'
import type { TextMistake } from '../domain/workflows/translation.ts'
import { parse, TemplateMistake } from './parse.ts'
import { withOutputs } from './translate.ts'

/** Whoever sends a wrong file needs to see that, not every line of it. */
const errorsReportedMax = 50

/** Other work is done in between: thousands of texts, each a template, take longer than one turn should. */
export async function textMistakes(texts: ReadonlyMap<string, string>, turn = new Turn()): Promise<TextMistake[]> {
  const mistakes: TextMistake[] = []
  for (const [key, text] of texts) {
    if (turn.isOver()) await turn.next()
    const message = text.includes('{') ? mistakeIn(text) : undefined
    if (message !== undefined) mistakes.push({ key, message })
    if (mistakes.length >= errorsReportedMax) break
  }
  return mistakes
}

function mistakeIn(text: string): string | undefined {
  try {
    parse(withOutputs(text), 'html')
    return undefined
  } catch (error) {
    if (error instanceof TemplateMistake) return error.message
    throw error
  }
}
