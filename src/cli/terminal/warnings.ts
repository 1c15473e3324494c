// What a service answers in the header Posthorn-Warnings, as sentences for a person at the terminal.
import type { Terminal } from '../command.ts'
import { visible } from './visible-text.ts'

/** A command that makes thousands of calls shows the same sentence once. */
const shownMax = 50

/** Notes each sentence once for a command. */
export function warningNotes({ note }: Pick<Terminal, 'note'>): (header: string) => void {
  const shown = new Set<string>()
  return (header) => {
    for (const words of warningWords(header)) {
      if (shown.has(words) || shown.size >= shownMax) continue
      shown.add(words)
      note(visible(`Warning: ${words}`))
    }
  }
}

/** `unknown-member;path="overrides.emial";nearest="email", more;count=3`: a list as of RFC 9651. */
export function warningWords(header: string): string[] {
  const items = header.match(/[a-z-]+(?:;[a-z]+=(?:"(?:[^"\\]|\\.)*"|[^;,"]*))*/g) ?? []
  return items.map((item) => {
    const [code = ''] = /^[a-z-]+/.exec(item) ?? []
    const found = item.matchAll(/;([a-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^;,"]*))/g)
    const about = Object.fromEntries([...found].map(([, name, text, bare]) => [name, plain(text ?? bare ?? '')]))
    return sentenceOf(code, about)
  })
}

function plain(text: string): string {
  const unescaped = text.replace(/\\(.)/g, '$1')
  try {
    return decodeURIComponent(unescaped)
  } catch {
    return unescaped
  }
}

function sentenceOf(code: string, about: Readonly<Record<string, string>>): string {
  const { path = '', name = '', nearest, used = '', count = '' } = about
  const meant = nearest === undefined ? '.' : `; did you mean ${nearest}?`
  if (code === 'unknown-member') return `${path} is not a known field and was ignored${meant}`
  if (code === 'unknown-parameter') return `${name} is not a known parameter and was ignored${meant}`
  if (code === 'name-taken') return `The identifier ${name} is taken: ${used} is used.`
  if (code === 'repeated') return `${path} is a repeat: nothing was done for it.`
  if (code === 'more') return `There are ${count} more warnings.`
  return [code, ...Object.entries(about).map(([key, value]) => `${key}=${value}`)].join(' ')
}
