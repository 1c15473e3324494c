// How a network sees the text of an SMS: its alphabet, and how many messages it becomes.

/** GSM 03.38, the basic alphabet. */
const basic = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ ÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
/** Its extension: each character takes two places. */
const extended = new Set('^{}\\[~]|€\f')

/** Characters of a text alone, and of each part of a longer one, which carries a header that joins it to the others. */
const gsmMax = { alone: 160, part: 153 }
const unicodeMax = { alone: 70, part: 67 }

/** Whether every character is in the GSM alphabet; a text with any other is sent as Unicode. */
export function isGsm(text: string): boolean {
  for (const character of text) if (!basic.has(character) && !extended.has(character)) return false
  return true
}

/** How many SMS a text becomes. */
export function segmentsOf(text: string): number {
  if (text === '') return 0
  const isPlain = isGsm(text)
  const places = isPlain ? [...text].reduce((sum, one) => sum + (extended.has(one) ? 2 : 1), 0) : text.length
  const { alone, part } = isPlain ? gsmMax : unicodeMax
  return places <= alone ? 1 : Math.ceil(places / part)
}

/** A number for vendors that want no plus sign: `+49 …` and `0049 …` are `49…`. */
export function digitsOf(number: string): string {
  return number.replace(/\D/g, '').replace(/^00/, '')
}
