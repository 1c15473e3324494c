// The idempotency-key header, read into the value that manage and accept write in their own transaction.
import { createHash } from 'node:crypto'
import type { Idempotency } from '../domain/answer.ts'
import { jsonPieces } from '../domain/json-pieces.ts'
import { Problem } from '../domain/problem.ts'
import { Turn } from '../domain/turn.ts'

const keyLengthMax = 255
const methods = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export interface IdempotentRequest {
  readonly method: string
  readonly url: string
  readonly header: string | string[] | undefined
  readonly body: unknown
  /** Whether the caller is answered less than others are: then stored answers are apart from theirs. */
  readonly seesLess?: boolean
}

/** Undefined for reads and for calls without a key: clients send one on every call, so that must cost nothing. */
export function idempotencyOf(request: IdempotentRequest): Idempotency | undefined {
  const keyed = keyOf(request)
  if (keyed === undefined) return undefined
  const { key, scopeHash, query } = keyed
  return { key, scopeHash, requestHash: sha256(`${query}\n${JSON.stringify(request.body) ?? ''}`) }
}

/** The same of a body so large that writing it again at once would keep others waiting. */
export async function idempotencyInTurns(request: IdempotentRequest): Promise<Idempotency | undefined> {
  const keyed = keyOf(request)
  if (keyed === undefined) return undefined
  const { key, scopeHash, query } = keyed
  const hash = createHash('sha256').update(`${query}\n`)
  const turn = new Turn()
  for (const piece of jsonPieces(request.body)) {
    hash.update(piece)
    if (turn.isOver()) await turn.next()
  }
  return { key, scopeHash, requestHash: hash.digest() }
}

function keyOf(request: IdempotentRequest): { key: string; scopeHash: Buffer; query: string } | undefined {
  const key = Array.isArray(request.header) ? request.header[0] : request.header
  if (key === undefined || key === '' || !methods.has(request.method)) return undefined
  if (key.length > keyLengthMax) {
    throw new Problem(
      400,
      `idempotencyKey "${key.slice(0, 32)}…" has exceeded the maximum allowed length of ${keyLengthMax} characters`,
    )
  }
  const queryAt = request.url.indexOf('?')
  const path = queryAt === -1 ? request.url : request.url.slice(0, queryAt)
  const query = queryAt === -1 ? '' : request.url.slice(queryAt + 1)
  const apart = request.seesLess === true ? '\nwithout secrets' : ''
  return { key, scopeHash: sha256(`${request.method}\n${path.replace(/\/+$/, '')}\n${key}${apart}`), query }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
