// Searching for a text in a text in linear time: the engine's own search can take the product of their lengths.

/** Below this sum of products of lengths the engine's own search cannot take long, and is ten times as fast. */
const productsMax = 200_000

/** With so short a part there is not much to compare at each place. */
const shortLength = 8

/** Whether a text holds a part, for many texts and one part. */
export function searchFor(part: string): (text: string) => boolean {
  let borders: Uint32Array | undefined
  let left = productsMax
  return (text) => {
    if (part.length > text.length) return false
    left -= part.length * text.length
    if (left >= 0 || part.length < shortLength) return text.includes(part)
    borders ??= bordersOf(part)
    return holds(text, part, borders)
  }
}

/** Knuth, Morris and Pratt: of each beginning of the part, how much of it is its own beginning and end. */
function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length)
  let length = 0
  for (let at = 1; at < part.length; at += 1) {
    while (length > 0 && part.charCodeAt(at) !== part.charCodeAt(length)) length = borders[length - 1] as number
    if (part.charCodeAt(at) === part.charCodeAt(length)) length += 1
    borders[at] = length
  }
  return borders
}

function holds(text: string, part: string, borders: Uint32Array): boolean {
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    while (length > 0 && text.charCodeAt(at) !== part.charCodeAt(length)) length = borders[length - 1] as number
    if (text.charCodeAt(at) === part.charCodeAt(length)) length += 1
    if (length === part.length) return true
  }
  return false
}
