// What callers do with deliveries of webhooks: send a test, send one again, send those of a time again.
import type { Page } from '../../commit/once.ts'
import { once, onceInPages } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, ok } from '../../domain/answer.ts'
import { timestampOfId } from '../../domain/derived-id.ts'
import type { Environment } from '../../domain/environment.ts'
import { conflict, invalidField, notFound } from '../../domain/problem.ts'
import type { DeliveryStatus } from '../../domain/webhooks/webhook-delivery.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.ts'
import { testEventType } from '../../domain/webhooks/webhook-event.ts'
import { sendingTask } from '../../record/webhooks/expand-news.ts'
import { wakeTasks } from '../../store/jobs/tasks.ts'
import type { DeliveryRow } from '../../store/webhooks/webhook-deliveries.ts'
import {
  findDelivery,
  insertDeliveries,
  redriveDelivery,
  redriveRange,
} from '../../store/webhooks/webhook-deliveries.ts'
import type { World } from '../../world/world.ts'
import { held } from './webhook-endpoints.ts'

interface Call {
  readonly endpointId: string
  readonly idempotency: Idempotency | undefined
}

/** By the same way as every event, so that what arrives is proof. */
export async function sendTest(
  db: Db,
  world: World,
  environment: Environment,
  { endpointId, idempotency }: Call,
): Promise<Answer<DeliveryRow>> {
  return once(db, world, environment, idempotency, async (tx) => {
    await enabled(tx, world, environment, endpointId)
    const now = world.now()
    const id = world.newId(now)
    const data = { message: 'This is a test of a webhook endpoint', endpointId }
    const body = { type: testEventType, timestamp: now.toISOString(), data }
    const about = { subjectId: id, subscriberId: null, number: 0 }
    const delivery = { endpointId, id, type: testEventType, ...about, body, createdAt: now }
    await insertDeliveries(tx, environment, [delivery], now)
    await wakeTasks(tx, environment, [sendingTask(endpointId, now)], now)
    return created(await existing(tx, environment, endpointId, id))
  })
}

export async function redriveOne(
  db: Db,
  world: World,
  environment: Environment,
  { endpointId, id, idempotency }: Call & { id: string },
): Promise<Answer<DeliveryRow>> {
  return once(db, world, environment, idempotency, async (tx) => {
    await enabled(tx, world, environment, endpointId)
    const now = world.now()
    if (!(await redriveDelivery(tx, environment, { endpointId, id, now }))) throw unknownDelivery(id)
    await wakeTasks(tx, environment, [sendingTask(endpointId, now)], now)
    return ok(await existing(tx, environment, endpointId, id))
  })
}

/** What one transaction holds. */
const redrivenAtOnceMax = 1_000
/** What one call redrives: more than an endpoint is sent in a day of trouble. */
const redrivenMax = 100_000

export interface RedrivenMany {
  readonly redriven: number
  readonly isCapped: boolean
  /** Where the next call begins; null when nothing is left. */
  readonly nextFrom: string | null
}

/** How far it has come. */
interface Redriven {
  readonly count: number
  readonly after: string | undefined
}

export async function redriveMany(
  db: Db,
  world: World,
  environment: Environment,
  call: Call & { from: string; to: string | undefined; statuses: readonly DeliveryStatus[] },
): Promise<Answer<RedrivenMany>> {
  const from = new Date(call.from)
  const to = call.to === undefined ? world.now() : new Date(call.to)
  if (from >= to) throw invalidField('from', 'from must be before to, which is now when left out', call.from)
  const start: Redriven = { count: 0, after: undefined }
  const page = async (tx: Tx, { count, after }: Redriven): Promise<Page<RedrivenMany, Redriven>> => {
    const { endpointId, statuses } = call
    await enabled(tx, world, environment, endpointId)
    const now = world.now()
    const range = { endpointId, from, to: new Date(to.getTime() + 1), statuses, after, limit: redrivenAtOnceMax, now }
    const found = await redriveRange(tx, environment, range)
    if (found.length > 0) await wakeTasks(tx, environment, [sendingTask(endpointId, now)], now)
    const redriven = count + found.length
    if (found.length < redrivenAtOnceMax) return { answer: ok({ redriven, isCapped: false, nextFrom: null }) }
    const last = found.at(-1)
    if (redriven < redrivenMax || last === undefined) return { next: { count: redriven, after: last } }
    return { answer: ok({ redriven, isCapped: true, nextFrom: timestampOfId(last).toISOString() }) }
  }
  return onceInPages(db, world, environment, call.idempotency, start, page)
}

async function enabled(tx: Tx, world: World, environment: Environment, id: string): Promise<WebhookEndpoint> {
  const endpoint = await held(tx, world, environment, id)
  if (endpoint.disabledAt !== null) {
    throw conflict(`Webhook endpoint ${id} is disabled; enable it first, with PATCH and {"enabled": true}`)
  }
  return endpoint
}

async function existing(tx: Tx, environment: Environment, endpointId: string, id: string): Promise<DeliveryRow> {
  const row = await findDelivery(tx, environment, { endpointId, id })
  if (row === undefined) throw unknownDelivery(id)
  return row
}

const unknownDelivery = (id: string) => notFound(`Delivery ${id} of this webhook endpoint not found`)
