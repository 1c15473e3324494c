// The load: sends the planned calls as fast as the scene releases them, repeats what was not answered, keeps the ledger.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../test/support/random.ts'
import type { Call, Json } from './api.ts'
import { tryCall } from './api.ts'
import type { PlannedRecipient } from './extras.ts'
import type { Ledger } from './ledger.ts'
import type { PlannedCall, PlannedEvent } from './plan.ts'
import { between, randomFor } from './random.ts'
import { textOf } from './words.ts'

export interface LoadCounts {
  /** Events acknowledged and in the ledger. */
  acknowledged: number
  /** Calls whose answer was lost, and that were sent again. */
  lostAnswers: number
  /** Answers 5xx and 429, and 409 to a key that is in use; each followed by a repeat. */
  refusals: Record<string, number>
  cancels: number
}

export interface LoadOptions {
  readonly seed: string
  readonly calls: readonly PlannedCall[]
  readonly ledger: Ledger
  /** The addresses of all nodes: a client does not know which of them are well. */
  readonly baseUrls: readonly string[]
  onAcknowledged(events: readonly PlannedEvent[], acknowledgedAt: number): void
}

const inFlightMax = 24
const releaseEveryMs = 20
const repeatAfterMs = [50, 250] as const

export class Load {
  readonly counts: LoadCounts = { acknowledged: 0, lostAnswers: 0, refusals: {}, cancels: 0 }
  private readonly random: Random
  private readonly inFlight = new Set<Promise<void>>()
  private started = 0
  private released = 0
  private failure: unknown
  private stopped = false

  private readonly options: LoadOptions

  constructor(options: LoadOptions) {
    this.options = options
    this.random = randomFor(options.seed, 'clients')
  }

  /** How much of the load may have been sent by now, from 0 to 1; never less than before. */
  release(share: number): void {
    this.released = Math.max(this.released, Math.floor(Math.min(1, share) * this.options.calls.length))
  }

  async run(): Promise<void> {
    while (!this.stopped && this.started < this.options.calls.length) {
      while (this.started < this.released && this.inFlight.size < inFlightMax) this.begin()
      this.throwFailure()
      await sleep(releaseEveryMs)
    }
    while (this.inFlight.size > 0) await Promise.all(this.inFlight)
    this.throwFailure()
  }

  /** Gives up what is not acknowledged yet; nothing of it is owed. */
  stop(): void {
    this.stopped = true
  }

  private begin(): void {
    const call = this.options.calls[this.started++]
    if (call === undefined) return
    this.track(this.send(call))
  }

  private track(work: Promise<void>): void {
    const tracked = work
      .catch((error) => {
        this.failure ??= error
        this.stopped = true
      })
      .finally(() => this.inFlight.delete(tracked))
    this.inFlight.add(tracked)
  }

  private throwFailure(): void {
    if (this.failure !== undefined) throw this.failure
  }

  private async send(call: PlannedCall): Promise<void> {
    const sentAt = Date.now()
    const request = call.isBulk
      ? { method: 'POST', path: '/v1/events/trigger/bulk', body: { events: call.events.map(bodyOf) } }
      : { method: 'POST', path: '/v1/events/trigger', body: bodyOf(call.events[0] as PlannedEvent) }
    const answering = Array.from({ length: call.senders }, () =>
      this.untilAnswered({ ...request, key: call.key }, call, 201),
    )
    const answers = (await Promise.all(answering)).filter((answer) => answer !== undefined)
    if (answers.length < call.senders) return
    const transactionIds = transactionIdsOf(
      call,
      answers.map(({ body }) => (call.isBulk ? body : [body])),
    )
    const acknowledgedAt = Date.now()
    const attempts = answers.reduce((sum, answer) => sum + answer.attempts, 0)
    await this.options.ledger.append(
      call.events.map(({ via: _via, cancelAfterMs: _cancel, ...event }, index) => ({
        ...{ type: 'event', ...event, transactionId: transactionIds[index] ?? '' },
        ...{ sentAt, acknowledgedAt, attempts },
      })),
    )
    this.counts.acknowledged += call.events.length
    this.options.onAcknowledged(call.events, acknowledgedAt)
    call.events.forEach(({ cancelAfterMs }, index) => {
      if (cancelAfterMs !== undefined) this.track(this.cancel(call, transactionIds[index] ?? '', cancelAfterMs))
    })
  }

  private async cancel(call: PlannedCall, transactionId: string, afterMs: number): Promise<void> {
    await sleep(afterMs)
    const path = `/v1/events/trigger/${transactionId}`
    const answer = await this.untilAnswered({ method: 'DELETE', path }, call, 200)
    if (answer === undefined) return
    const acknowledgedAt = Date.now()
    await this.options.ledger.append([{ type: 'cancel', transactionId, acknowledgedAt, answer: answer.body === true }])
    this.counts.cancels++
  }

  private async untilAnswered(
    request: Omit<Call, 'environment'>,
    { environment }: PlannedCall,
    success: number,
  ): Promise<{ body: Json; attempts: number } | undefined> {
    for (let attempts = 1; !this.stopped; attempts++) {
      const result = await tryCall(this.random.oneOf(this.options.baseUrls), { ...request, environment })
      if (result !== 'lost') {
        if (result.status === success) return { body: result.body, attempts }
        const isInUse = result.status === 409 && request.key !== undefined
        if (result.status < 500 && result.status !== 429 && !isInUse) {
          throw new Error(`${request.path}: ${result.status} ${JSON.stringify(result.body).slice(0, 500)}`)
        }
        this.counts.refusals[result.status] = (this.counts.refusals[result.status] ?? 0) + 1
      } else this.counts.lostAnswers++
      await sleep(between(this.random, repeatAfterMs))
    }
    return undefined
  }
}

function bodyOf(event: PlannedEvent): object {
  const { workflow: name, transactionId, recipients, topic, actor, tenant, context, marker, via } = event
  return {
    ...{ name, transactionId, actor, tenant, context },
    to: topic === undefined ? recipients.map(recipientOf) : { type: 'Topic', topicKey: topic },
    payload: { m: marker, via, text: textOf(event) },
  }
}

const recipientOf = ({ subscriberId, given }: PlannedRecipient): unknown =>
  given === undefined ? subscriberId : { subscriberId, ...given }

/** Every event of a call must have been taken, under its own id, and by all answers under the same. */
function transactionIdsOf(call: PlannedCall, answers: readonly Json[]): string[] {
  return call.events.map(({ transactionId, marker }, index) => {
    const results = answers.map((answer) => answer[index])
    const expected = transactionId ?? results[0]?.transactionId
    const isTaken = results.every((result) => result?.status === 'processed' && result.transactionId === expected)
    if (!isTaken || expected === undefined)
      throw new Error(`The event ${marker} was answered with ${JSON.stringify(results)}`)
    return expected as string
  })
}
