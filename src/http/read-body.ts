// Reads the bytes of a body: within the limit of its route, and within what all bodies may take of this process.
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../domain/problem.ts'
import type { BodyBudget } from './body-budget.ts'
import { mediumBodyBytes, smallBodyBytes, tokensOfBytes } from './body-budget.ts'

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
  /** Takes tokens of the rate limit, or throws the 429. */
  charge(tokens: number): Promise<unknown>
}

/** What one body holds until it is answered. */
export class BodyShare {
  readonly #draws: BodyDraws
  readonly #giveBacks = new Set<() => void>()
  #isOver = false

  constructor(draws: BodyDraws, reply: FastifyReply) {
    this.#draws = draws
    const release = (): void => {
      this.#isOver = true
      for (const giveBack of this.#giveBacks) giveBack()
    }
    // Either comes, whether it was answered or cut.
    reply.raw.once('finish', release).once('close', release)
  }

  async takeBytes(bytes: number): Promise<() => void> {
    return this.#keep(await this.#draws.budget.takeBytes(this.#draws.owner, bytes))
  }

  async takeValues(values: number): Promise<void> {
    this.#keep(await this.#draws.budget.takeValues(values))
  }

  async charge(tokens: number): Promise<void> {
    if (tokens > 0) await this.#draws.charge(tokens)
  }

  /** Its sender may have gone while it waited. */
  #keep(giveBack: () => void): () => void {
    if (this.#isOver) giveBack()
    this.#giveBacks.add(giveBack)
    return giveBack
  }
}

/** Undefined where it is not told in advance. */
export function announcedBytes({ headers }: Pick<FastifyRequest, 'headers'>): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined
  return Number(headers['content-length'] ?? 0)
}

const tooLarge = (): Problem => new Problem(413, 'The body is larger than this call allows')

/** The whole body. One that is announced as small is read without a look at anything but its length. */
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

/** Asked before more bytes than the gate are kept; returns the next gate. The stream rests meanwhile. */
interface Gate {
  readonly firstBytes: number
  pass(received: number): Promise<number>
}

/** Begins as a small body does, and takes tokens and memory as it grows. */
function receiveUnannounced(
  { raw, bodyShare: share }: FastifyRequest,
  limitBytes: number,
  done: (error: Error | undefined, bytes?: Buffer) => void,
): void {
  let granted = smallBodyBytes
  let giveBack: (() => void) | undefined
  const pass = async (received: number): Promise<number> => {
    if (share === undefined) return limitBytes
    // Two steps and no more: whoever waits for the second holds little meanwhile.
    const next = Math.min(received > mediumBodyBytes ? limitBytes : mediumBodyBytes, limitBytes)
    await share.charge(tokensOfBytes(next) - tokensOfBytes(granted))
    const before = giveBack
    giveBack = await share.takeBytes(next)
    before?.()
    granted = next
    return next
  }
  receive(raw, limitBytes, undefined, done, { firstBytes: smallBodyBytes, pass })
}

function receive(
  payload: IncomingMessage,
  limitBytes: number,
  announced: number | undefined,
  done: (error: Error | undefined, bytes?: Buffer) => void,
  gate?: Gate,
): void {
  const chunks: Buffer[] = []
  let received = 0
  let gateBytes = gate?.firstBytes ?? limitBytes
  const end = (error: Error | undefined, bytes?: Buffer): void => {
    payload.off('data', onData).off('end', onEnd).off('error', onError)
    done(error, bytes)
  }
  const onData = (chunk: Buffer): void => {
    received += chunk.length
    if (received > limitBytes) {
      end(tooLarge())
      return
    }
    chunks.push(chunk)
    if (received <= gateBytes) return
    payload.pause()
    gate?.pass(received).then((next) => {
      gateBytes = next
      payload.resume()
    }, end)
  }
  const onEnd = (): void => {
    if (announced !== undefined && announced !== received) {
      end(new Problem(400, 'The body does not have the length its header says'))
    } else end(undefined, Buffer.concat(chunks, received))
  }
  const onError = (error: Error): void => end(Object.assign(error, { statusCode: 400 }))
  payload.on('data', onData).on('end', onEnd).on('error', onError)
  payload.resume()
}
