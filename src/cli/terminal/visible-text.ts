// Text from a database or a file, made safe for a terminal: nothing in it can move the cursor or hide other text.

/**
 * Control characters except the tab, characters that reorder a line, and line separators that we do not treat as line
 * ends.
 */
const unseen = /(?!\t)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** One line, with every such character as an escape such as `\u001b`. */
export const visible = (line: string): string =>
  line.replaceAll(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** As JSON on one line: inside its strings such an escape means the character itself. */
export const visibleJson = (value: unknown): string => visible(JSON.stringify(value))

/** Several lines, which stay lines. */
export const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n')
