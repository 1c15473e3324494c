// Text from a database or a file, made fit for a terminal: nothing in it can move the cursor or hide what stands beside it.

/** Control characters but the tab, what reorders a line, and what ends one without being a line's end to us. */
const unseen = /(?!\t)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** One line, with every such character as an escape such as `\u001b`. */
export const visible = (line: string): string =>
  line.replaceAll(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** As JSON on one line: inside of its strings such an escape means the character itself. */
export const visibleJson = (value: unknown): string => visible(JSON.stringify(value))

/** Several lines, which stay lines. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n')
