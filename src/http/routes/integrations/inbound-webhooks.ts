// What providers call us at: /v1/webhooks/{environmentId}/{integrationId}. No API key: the call proves itself.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptInbound, takesCalls } from '../../../accept/accept-inbound.ts'
import type { Db } from '../../../db/sql.ts'
import { BoundedMap } from '../../../domain/bounded-map.ts'
import type { Integration } from '../../../domain/delivery/integration.ts'
import type { Environment } from '../../../domain/environment.ts'
import { notFound, Problem } from '../../../domain/problem.ts'
import { isWithin } from '../../../domain/time/is-within.ts'
import { isUuid } from '../../../domain/uuid-v7.ts'
import type { InboundCall } from '../../../providers/inbound/receipt.ts'
import type { Queue } from '../../../queue/queue.ts'
import type { ReportedReceipt } from '../../../record/receipts/record-receipts.ts'
import { createEnvironments } from '../../../run/cache/environments.ts'
import type { ByteBudget } from '../../../run/send/byte-budget.ts'
import { createByteBudget } from '../../../run/send/byte-budget.ts'
import { findIntegration } from '../../../store/integrations/integrations.ts'
import type { World } from '../../../world/world.ts'
import { createFewAtOnce } from '../../access/few-at-once.ts'

/** An e-mail with its files; a batch of reports is far smaller. */
const bodyBytesMax = 20 * 1024 * 1024
/**
 * Anyone who knows the URL of an integration can send such bodies, and they prove nothing before they are fully read.
 */
const largeBytesAtOnceMax = 4 * bodyBytesMax
/** What other routes take: not worth counting. */
const smallBytesMax = 1024 * 1024
const bodyWaitMs = 5_000
/** Addresses that were found lately: calls to them do not queue with those to addresses that are made up. */
const foundMax = 10_000
const foundMs = 600_000
/** Where the product that Posthorn descends from has them. */
const paths = [
  '/v1/webhooks/:environmentId/:integrationId',
  '/v2/inbound-webhooks/delivery-providers/:environmentId/:integrationId',
]

type Target = { Params: { environmentId: string; integrationId: string } }

export interface InboundWebhookOptions {
  readonly queue: Queue
  /** The URL that vendors call; if it is relative, the host of the request is trusted. */
  readonly baseUrl: string
}

export async function installInboundWebhooks(
  app: FastifyInstance,
  db: Db,
  world: World,
  { queue, baseUrl }: InboundWebhookOptions,
): Promise<void> {
  const environments = createEnvironments(db)
  const fewAtOnce = createFewAtOnce()
  const foundAt = new BoundedMap<string, number>(foundMax)
  const largeBodies = createByteBudget(world, { bytesMax: largeBytesAtOnceMax, waitMs: bodyWaitMs })
  const targets = new WeakMap<FastifyRequest, { environment: Environment; integration: Integration }>()
  /** Before the body is read: an unauthenticated client cannot make us hold megabytes for nothing. */
  const find = async (request: FastifyRequest<Target>, reply: FastifyReply): Promise<void> => {
    const { environmentId, integrationId } = request.params
    if (!isUuid(environmentId) || !isUuid(integrationId)) throw noSuchWebhook()
    const lookUp = async () => {
      const environment = (await environments.of([environmentId])).get(environmentId)
      const integration = environment && (await findIntegration(db, world.sealer, environment, integrationId))
      return { environment, integration }
    }
    const address = `${environmentId}/${integrationId}`.toLowerCase()
    const now = world.now().getTime()
    const wasFound = isWithin(foundAt.get(address), now, foundMs)
    const { environment, integration } = await (wasFound ? lookUp() : fewAtOnce(lookUp))
    if (environment === undefined || integration === undefined || !takesCalls(integration)) {
      foundAt.delete(address)
      throw noSuchWebhook()
    }
    foundAt.set(address, now)
    targets.set(request as FastifyRequest, { environment, integration })
    await waitForBodyBudget(largeBodies, request, reply)
  }
  const take = async (request: FastifyRequest<Target>, reply: FastifyReply): Promise<FastifyReply> => {
    // Some vendors check whether the URL responds before they accept it.
    if (request.method === 'HEAD') return reply.code(200).send()
    const target = targets.get(request as FastifyRequest)
    if (target === undefined) throw noSuchWebhook()
    const { environment, integration } = target
    const result = await acceptInbound(db, world, environment, queue, { integration, call: callOf(request, baseUrl) })
    switch (result.kind) {
      case 'unknown':
        throw noSuchWebhook()
      case 'disbelieved':
        throw new Problem(401, 'The request is not proven to come from the provider')
      case 'greeted':
        return reply.code(200).type(typeOf(result.answer)).send(result.answer)
      case 'taken':
        if (result.reply !== undefined) return reply.code(200).type('text/plain').send(result.reply)
        return reply.code(200).send(result.reports.map(shownReport))
    }
  }
  await app.register(async (hooks) => {
    hooks.removeAllContentTypeParsers()
    hooks.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body)
    for (const path of paths) {
      hooks.route<Target>({
        method: ['GET', 'POST'],
        url: path,
        bodyLimit: bodyBytesMax,
        onRequest: find,
        handler: take,
      })
    }
  })
}

/**
 * Large bodies share a budget, and a vendor that finds none left calls again. A body of unannounced size may be the
 * largest.
 */
async function waitForBodyBudget(
  budget: ByteBudget,
  { headers }: FastifyRequest<Target>,
  reply: FastifyReply,
): Promise<void> {
  const isStreamed = headers['transfer-encoding'] !== undefined
  const bytes = isStreamed ? bodyBytesMax : Number(headers['content-length'] ?? 0)
  // One that is too long is refused when it is read.
  if (!(bytes > smallBytesMax && bytes <= bodyBytesMax)) return
  const giveBack = await budget.take(bytes)
  if (giveBack === undefined) {
    throw new Problem(503, 'Too many large requests at once; please try again', { headers: { 'retry-after': '10' } })
  }
  let isHeld = true
  const release = (): void => {
    if (isHeld) giveBack()
    isHeld = false
  }
  // One of the two occurs, whether it was answered or aborted.
  reply.raw.once('finish', release).once('close', release)
}

/** Vendors that ask whether we are there want back a word of theirs, or JSON that holds it. */
const typeOf = (answer: string): string => (answer.startsWith('{') ? 'application/json' : 'text/plain')

const noSuchWebhook = (): Problem => notFound('No integration receives webhooks at this address')

function callOf(request: FastifyRequest, baseUrl: string): InboundCall {
  const host = header(request.headers['x-forwarded-host']) ?? request.host
  const scheme = header(request.headers['x-forwarded-proto']) ?? request.protocol
  const origin = URL.canParse(baseUrl) ? baseUrl.replace(/\/+$/, '') : `${scheme}://${host}`
  const [, query = ''] = request.url.split(/\?(.*)/s)
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  )
  return {
    method: request.method,
    url: `${origin}${request.url}`,
    query: new URLSearchParams(query),
    headers: Object.fromEntries(headers),
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
  }
}

/** The first of a list that proxies wrote. */
function header(value: string | string[] | undefined): string | undefined {
  const first = (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim()
  return first === '' ? undefined : first
}

function shownReport({ messageId, receipt }: ReportedReceipt): object {
  const { status, at, providerMessageId, words } = receipt
  return {
    id: messageId,
    event: {
      status,
      ...(at === undefined ? {} : { date: at.toISOString() }),
      ...(providerMessageId === undefined ? {} : { externalId: providerMessageId }),
      ...(words === undefined ? {} : { response: words }),
    },
  }
}
