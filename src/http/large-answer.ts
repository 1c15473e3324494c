// Answers that are too large to be written at once: in turns, and few of them at a time.
import type { FastifyReply } from 'fastify'
import { isLong, jsonPieces } from '../domain/json-pieces.ts'
import { Problem } from '../domain/problem.ts'
import { Turn } from '../domain/turn.ts'
import type { ByteBudget } from '../run/send/byte-budget.ts'
import { createByteBudget } from '../run/send/byte-budget.ts'
import type { World } from '../world/world.ts'

const mebibyte = 1024 * 1024
/** Written at once: a few milliseconds, whatever it holds. */
const writtenAtOnce = mebibyte / 2
/** What one answer is taken to need until its caller has read it. */
const answerBytes = 32 * mebibyte
const bytesMax = 4 * answerBytes
/** Whoever asks for many, and does not read them, keeps others of its environment waiting, and no one else. */
const bytesPerEnvironmentMax = 2 * answerBytes
const waitMs = 5_000
/** A caller who reads nothing for so long is cut off. */
const unreadMsMax = 30_000

export const createAnswerBudget = (world: Pick<World, 'sleep'>): ByteBudget =>
  createByteBudget(world, { bytesMax, bytesPerOwnerMax: bytesPerEnvironmentMax, waitMs })

export const isLargeAnswer = (body: unknown): boolean => isLong(body, writtenAtOnce)

type Write = (body: Record<string, unknown>) => string

/**
 * `write` writes such a body by its schema; undefined if it is written as it is. Without an `owner` it takes nothing of the budget, and is
 * never refused.
 */
export async function largeAnswer(
  reply: FastifyReply,
  budget: ByteBudget,
  owner: string | undefined,
  body: unknown,
  write: Write | undefined,
): Promise<Buffer> {
  if (owner !== undefined) await takeFrom(budget, owner, reply)
  reply.raw.setTimeout(unreadMsMax, () => reply.raw.destroy())
  const pieces: Buffer[] = []
  const turn = new Turn()
  for (const piece of piecesOf(body, write)) {
    pieces.push(Buffer.from(piece))
    if (turn.isOver()) await turn.next()
  }
  return Buffer.concat(pieces)
}

async function takeFrom(budget: ByteBudget, owner: string, reply: FastifyReply): Promise<void> {
  const giveBack = await budget.take(answerBytes, owner)
  if (giveBack === undefined) {
    const headers = { 'retry-after': '5' }
    throw new Problem(503, 'Too many large answers at once; please try again', { headers })
  }
  reply.raw.once('close', giveBack)
  if (reply.raw.destroyed) giveBack()
}

function piecesOf(body: unknown, write: Write | undefined): Generator<string> {
  if (write === undefined || typeof body !== 'object' || body === null) return jsonPieces(body)
  return Array.isArray(body) ? listPieces(body, write) : pagePieces(body as Page, write)
}

type Page = Readonly<Record<string, unknown>>

function* listPieces(items: readonly unknown[], write: Write): Generator<string> {
  yield '['
  for (const [at, item] of items.entries()) {
    yield `${at === 0 ? '' : ','}${write([item] as unknown as Record<string, unknown>).slice(1, -1)}`
  }
  yield ']'
}

/** Beside its list a page has little: it is written again for each item. */
const besideListMax = 16 * 1024

/** An item at a time: each is written in the page as if it were the only one, and cut out of it. One thing alone is written at once. */
function* pagePieces(page: Page, write: Write): Generator<string> {
  const name = Object.keys(page).find((one) => isListOf(page, one))
  const empty = name === undefined ? '' : write({ ...page, [name]: [] })
  const opening = `"${name}":[`
  const begin = empty.indexOf(opening)
  // No text can contain it, as the quotes in a text are escaped; another member can.
  if (name === undefined || begin === -1 || empty.indexOf(opening, begin + 1) !== -1) {
    yield write(page)
    return
  }
  const headLength = begin + opening.length
  const tailLength = empty.length - headLength
  yield empty.slice(0, headLength)
  for (const [at, item] of (page[name] as readonly unknown[]).entries()) {
    const one = write({ ...page, [name]: [item] })
    yield `${at === 0 ? '' : ','}${one.slice(headLength, one.length - tailLength)}`
  }
  yield empty.slice(headLength)
}

function isListOf(page: Page, name: string): boolean {
  const { [name]: list, ...rest } = page
  return Array.isArray(list) && list.length > 0 && !isLong(rest, besideListMax)
}
