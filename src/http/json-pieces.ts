// Writes a large value as JSON a piece at a time. All pieces together are what JSON.stringify writes.
import { leastBytesOf } from './event-value.ts'

/** Written at once: about a millisecond. */
const pieceBytes = 64 * 1024
/** Of a bulk call: its events, one, the payload, its files, one, the content; and a few more. What is below is written at once. */
const depthMax = 10

/** Of what JSON.parse returned: nothing else is understood. */
export function* jsonPieces(value: unknown, depth = 0): Generator<string> {
  if (depth > depthMax || leastBytesOf(value, pieceBytes) <= pieceBytes) yield JSON.stringify(value)
  else if (typeof value === 'string') yield* textPieces(value)
  else if (Array.isArray(value)) yield* arrayPieces(value, depth)
  else yield* objectPieces(value as Readonly<Record<string, unknown>>, depth)
}

function* arrayPieces(values: readonly unknown[], depth: number): Generator<string> {
  let before = '['
  let from = 0
  for (let at = 0; at < values.length; ) {
    let bytes = 0
    for (; at < values.length && bytes <= pieceBytes; at += 1) bytes += leastBytesOf(values[at], pieceBytes)
    yield before
    before = ','
    // Alone, it may be in need of pieces.
    if (at - from === 1) yield* jsonPieces(values[from], depth + 1)
    else {
      // The last of them may be the large one.
      const last = bytes > pieceBytes ? at - 1 : at
      if (last > from) yield JSON.stringify(values.slice(from, last)).slice(1, -1)
      at = last
    }
    from = at
  }
  yield ']'
}

function* objectPieces(members: Readonly<Record<string, unknown>>, depth: number): Generator<string> {
  let before = '{'
  for (const name of Object.keys(members)) {
    yield `${before}${JSON.stringify(name)}:`
    yield* jsonPieces(members[name], depth + 1)
    before = ','
  }
  yield '}'
}

function* textPieces(text: string): Generator<string> {
  yield '"'
  for (let from = 0; from < text.length; ) {
    const wanted = from + pieceBytes
    // A pair of surrogates is one letter.
    const isInPair = (text.charCodeAt(wanted - 1) & 0xfc00) === 0xd800
    const end = isInPair ? wanted + 1 : wanted
    yield JSON.stringify(text.slice(from, end)).slice(1, -1)
    from = end
  }
  yield '"'
}
