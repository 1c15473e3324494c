// Reads the bytes of a body: within the limit of its route, and within what all bodies may take of this process.
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../domain/problem.ts'
import type { BodyBudget } from './body-budget.ts'
import { mediumBodyBytes, smallBodyBytes, tokensOfBytes } from './body-budget.ts'
import { BodyPieces, piecesFree, piecesUnpaidMax } from './body-pieces.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Absent for small bodies, which take nothing. */
    bodyShare: BodyShare | undefined
  }
}

/** Whose budget a body draws from, as it is known once its sender is. */
export interface BodyDraws {
  readonly budget: BodyBudget
  readonly owner: string
  /** Takes tokens of the rate limit beyond those paid for this call, or throws the 429. */
  charge(tokens: number, paid: number): Promise<unknown>
}

/** What one body holds until it is answered, and until nothing works on it any more. */
export class BodyShare {
  readonly #draws: BodyDraws
  readonly #giveBacks = new Set<() => void>()
  #charged = 0
  #isOver = false
  #working = 0

  constructor(draws: BodyDraws, reply: FastifyReply) {
    this.#draws = draws
    const end = (): void => {
      this.#isOver = true
      this.#releaseIfIdle()
    }
    // One of the two occurs, whether it was answered or aborted.
    reply.raw.once('finish', end).once('close', end)
  }

  async takeBytes(bytes: number): Promise<() => void> {
    return this.#keep(await this.#draws.budget.takeBytes(this.#draws.owner, bytes))
  }

  async takeValues(values: number): Promise<void> {
    this.#keep(await this.#draws.budget.takeValues(this.#draws.owner, values))
  }

  /** For this many bytes in total; what was charged before counts. */
  async chargeFor(bytes: number): Promise<void> {
    const more = tokensOfBytes(bytes) - this.#charged
    if (more <= 0) return
    await this.#draws.charge(more, this.#charged)
    this.#charged += more
  }

  /** Nothing is released while this continues, though its sender may be gone: the memory is still in use. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.throwIfOver()
    this.#working += 1
    try {
      return await work()
    } finally {
      this.#working -= 1
      this.#releaseIfIdle()
    }
  }

  /** No one waits for its result. */
  throwIfOver(): void {
    if (this.#isOver) throw new Problem(400, 'The connection was closed before the whole body was read')
  }

  #releaseIfIdle(): void {
    if (!this.#isOver || this.#working > 0) return
    for (const giveBack of this.#giveBacks) giveBack()
  }

  /** Its sender may have gone while it waited. */
  #keep(giveBack: () => void): () => void {
    this.#giveBacks.add(giveBack)
    this.#releaseIfIdle()
    return giveBack
  }
}

/** Undefined if it is not announced in advance. */
export function announcedBytes({ headers }: Pick<FastifyRequest, 'headers'>): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined
  return Number(headers['content-length'] ?? 0)
}

const tooLarge = (): Problem => new Problem(413, 'The body is larger than this endpoint allows')
const tooManyPieces = (): Problem =>
  new Problem(400, 'The body is sent in too many small pieces', { headers: { connection: 'close' } })

/** The whole body. One that is announced as small is read with only its length checked. */
export function readBody(
  request: FastifyRequest,
  limitBytes: number,
  done: (error: Error | undefined, bytes?: Buffer) => void,
): void {
  const announced = announcedBytes(request)
  if (announced !== undefined && announced > limitBytes) done(tooLarge())
  else if (announced !== undefined && announced <= smallBodyBytes) receive(request.raw, limitBytes, announced, done)
  else if (announced === undefined) receiveUnannounced(request, limitBytes, done)
  else {
    const share = request.bodyShare
    const taken = share?.takeBytes(announced) ?? Promise.resolve()
    taken.then(() => receive(request.raw, limitBytes, announced, done), done)
  }
}

/**
 * Called when more has arrived than the gate allows; returns the next gate. The stream pauses in the meantime. What
 * arrives in many small pieces is `charged` as more bytes than were `received`.
 */
interface Gate {
  readonly firstBytes: number
  readonly piecesMax: number
  pass(received: number, charged: number): Promise<number>
}

/** Paid for at once: often enough that who cannot pay is refused soon. */
const chargedBytes = 512 * 1024

/**
 * Starts like a small body, and takes tokens and memory as it grows: in the end as many tokens as if it had been
 * announced.
 */
function receiveUnannounced(
  { raw, bodyShare: share }: FastifyRequest,
  limitBytes: number,
  done: (error: Error | undefined, bytes?: Buffer) => void,
): void {
  let granted = smallBodyBytes
  let giveBack: (() => void) | undefined
  const pass = async (received: number, charged: number): Promise<number> => {
    if (share === undefined) return Number.POSITIVE_INFINITY
    await share.chargeFor(charged)
    if (received > granted) {
      const before = giveBack
      // Only two steps: a request that waits for the second holds little in the meantime.
      granted = Math.min(received > mediumBodyBytes ? limitBytes : mediumBodyBytes, limitBytes)
      giveBack = await share.takeBytes(granted)
      before?.()
    }
    return charged + Math.min(granted - received, chargedBytes)
  }
  const piecesMax = share === undefined ? piecesUnpaidMax : piecesFree
  receive(raw, limitBytes, undefined, done, { firstBytes: smallBodyBytes, pass, piecesMax })
}

function receive(
  payload: IncomingMessage,
  limitBytes: number,
  announced: number | undefined,
  done: (error: Error | undefined, bytes?: Buffer) => void,
  gate?: Gate,
): void {
  const pieces = new BodyPieces(gate?.piecesMax)
  let gateBytes = gate?.firstBytes ?? limitBytes
  const end = (error: Error | undefined, bytes?: Buffer): void => {
    payload.off('data', onData).off('end', onEnd).off('error', onError)
    done(error, bytes)
  }
  const onData = (chunk: Buffer): void => {
    pieces.add(chunk)
    if (pieces.bytes > limitBytes) {
      end(tooLarge())
      return
    }
    if (pieces.areTooMany) {
      payload.pause()
      end(tooManyPieces())
      return
    }
    if (gate === undefined || pieces.chargedBytes <= gateBytes) return
    payload.pause()
    gate.pass(pieces.bytes, pieces.chargedBytes).then((next) => {
      gateBytes = next
      payload.resume()
    }, end)
  }
  const onEnd = (): void => {
    const { bytes } = pieces
    if (announced !== undefined && announced !== bytes) {
      end(new Problem(400, 'The body does not have the length that its Content-Length header states'))
    } else if (gate === undefined || pieces.chargedBytes <= gate.firstBytes) end(undefined, pieces.joined())
    else gate.pass(bytes, pieces.chargedBytes).then(() => end(undefined, pieces.joined()), end)
  }
  const onError = (error: Error): void => end(Object.assign(error, { statusCode: 400 }))
  payload.on('data', onData).on('end', onEnd).on('error', onError)
  payload.resume()
}
