// Writes a large value as JSON a piece at a time. All pieces together are what JSON.stringify writes.

import { Turn } from './turn.ts'

/** In letters. Written at once: about a millisecond. */
const pieceCost = 64 * 1024
/** Of one value that is no text, such as a number of up to 24 letters; and of any text beside its letters. */
const valueCost = 8
/** What goes deeper is not written at once: so no value is counted by more of those around it than this. */
const heightMax = 6

/** Of what JSON.parse returned, and of objects like it with members that are undefined: nothing else is understood. */
export function* jsonPieces(value: unknown): Generator<string> {
  const writer = new PieceWriter(value)
  while (!writer.isDone()) yield writer.piece()
}

/** All of them, in turns of the event loop. */
export async function jsonInTurns(value: unknown): Promise<string> {
  const turn = new Turn()
  const pieces: string[] = []
  for (const piece of jsonPieces(value)) {
    pieces.push(piece)
    if (turn.isOver()) await turn.next()
  }
  return pieces.join('')
}

/** A text, an array or an object that is too large to be written at once. */
type Open = { at: number } & (
  | { readonly text: string }
  | { readonly elements: readonly unknown[] }
  | { readonly members: Readonly<Record<string, unknown>>; readonly names: readonly string[] }
)

/** Without recursion: a value may be deeper than a stack of generators should be. */
class PieceWriter {
  readonly #open: Open[] = []
  #text = ''
  #cost = 0

  constructor(value: unknown) {
    this.#put(value)
  }

  isDone(): boolean {
    return this.#open.length === 0 && this.#text === ''
  }

  piece(): string {
    for (let open = this.#open.at(-1); open !== undefined && this.#cost < pieceCost; open = this.#open.at(-1)) {
      if ('text' in open) this.#goOnWithText(open)
      else if ('elements' in open) this.#goOnWithElements(open)
      else this.#goOnWithMembers(open)
    }
    const text = this.#text
    this.#text = ''
    this.#cost = 0
    return text
  }

  #put(value: unknown): void {
    const cost = costOf(value, pieceCost, heightMax)
    // Counting takes its time as well.
    this.#cost += Math.min(cost, pieceCost)
    if (cost <= pieceCost) this.#text += JSON.stringify(value)
    else if (typeof value === 'string') this.#begin('"', { at: 0, text: value })
    else if (Array.isArray(value)) this.#begin('[', { at: 0, elements: value })
    else {
      const members = value as Readonly<Record<string, unknown>>
      const names = Object.keys(members).filter((name) => members[name] !== undefined)
      this.#begin('{', { at: 0, members, names })
    }
  }

  #begin(bracket: string, open: Open): void {
    this.#text += bracket
    this.#open.push(open)
  }

  #end(bracket: string): void {
    this.#text += bracket
    this.#open.pop()
  }

  #goOnWithText(open: Open & { readonly text: string }): void {
    const { text, at } = open
    if (at >= text.length) {
      this.#end('"')
      return
    }
    const wanted = at + pieceCost
    // A pair of surrogates is one letter.
    const isInPair = (text.charCodeAt(wanted - 1) & 0xfc00) === 0xd800
    open.at = isInPair ? wanted + 1 : wanted
    this.#text += JSON.stringify(text.slice(at, open.at)).slice(1, -1)
    this.#cost += pieceCost
  }

  /** As many at once as are small enough together. */
  #goOnWithElements(open: Open & { readonly elements: readonly unknown[] }): void {
    const { elements, at } = open
    if (at === elements.length) {
      this.#end(']')
      return
    }
    if (at > 0) this.#text += ','
    let cost = 0
    let end = at
    for (; end < elements.length; end += 1) {
      const more = costOf(elements[end], pieceCost - cost, heightMax)
      if (cost + more > pieceCost) break
      cost += more
    }
    open.at = Math.max(end, at + 1)
    if (end === at) this.#put(elements[at])
    else {
      this.#text += JSON.stringify(elements.slice(at, end)).slice(1, -1)
      this.#cost += end < elements.length ? pieceCost : cost
    }
  }

  /** A name, then its value, which is two steps: either may be large. */
  #goOnWithMembers(open: Open & { members: Readonly<Record<string, unknown>>; names: readonly string[] }): void {
    const { members, names, at } = open
    if (at === 2 * names.length) {
      this.#end('}')
      return
    }
    const name = names[at >> 1] ?? ''
    const isName = at % 2 === 0
    open.at += 1
    if (isName && at > 0) this.#text += ','
    if (!isName) this.#text += ':'
    this.#put(isName ? name : members[name])
  }
}

/** Whether it is worth being written in pieces. */
export const isLong = (value: unknown, cost: number): boolean => costOf(value, cost, Number.POSITIVE_INFINITY) > cost

/** Counted until it is over `enough`, and no deeper than `height`: what is deeper is more than enough. */
function costOf(value: unknown, enough: number, height: number): number {
  if (typeof value === 'string') return value.length + valueCost
  if (typeof value !== 'object' || value === null) return valueCost
  if (height === 0) return Number.POSITIVE_INFINITY
  let cost = valueCost
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && cost <= enough; at += 1) cost += costOf(value[at], enough - cost, height - 1)
    return cost
  }
  for (const name of Object.keys(value)) {
    if (cost > enough) break
    const member = (value as Readonly<Record<string, unknown>>)[name]
    cost += name.length + valueCost + costOf(member, enough - cost, height - 1)
  }
  return cost
}
