// Webhook endpoints: created, changed, deleted, and given another secret.
import { audit } from '../../commit/audited.ts'
import { once } from '../../commit/once.ts'
import type { Db, Tx } from '../../db/sql.ts'
import type { Answer, Idempotency } from '../../domain/answer.ts'
import { created, noContent, ok } from '../../domain/answer.ts'
import type { Environment } from '../../domain/environment.ts'
import type { Author } from '../../domain/operate/audit.ts'
import type { FieldErrors } from '../../domain/problem.ts'
import { conflict, invalid, invalidField, notFound } from '../../domain/problem.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/webhook-endpoint.ts'
import { concurrencyDefault, endpointsMax, newEndpointSecret, rotated } from '../../domain/webhooks/webhook-endpoint.ts'
import type { WebhookEventType } from '../../domain/webhooks/webhook-event.ts'
import { sendingTask } from '../../record/webhooks/expand-news.ts'
import { wakeTasks } from '../../store/jobs/tasks.ts'
import { lockEnvironment } from '../../store/operate/installation.ts'
import {
  countEndpoints,
  findEndpoint,
  insertEndpoint,
  markEndpointDeleted,
  updateEndpoint,
} from '../../store/webhooks/webhook-endpoints.ts'
import { findPreferenceWorkflows } from '../../store/workflows/preference-workflows.ts'
import type { World } from '../../world/world.ts'
import type { ShownEndpoint } from './endpoint-views.ts'
import { namedEndpoint, recordOfEndpoint, shownEndpoint } from './endpoint-views.ts'

interface Call {
  readonly author: Author
  readonly idempotency: Idempotency | undefined
}

/** What callers set. */
export interface EndpointInput {
  readonly url?: string
  readonly description?: string
  readonly eventTypes?: readonly WebhookEventType[]
  /** By internal id or identifier. */
  readonly workflows?: readonly string[]
  readonly concurrency?: number
  readonly enabled?: boolean
}

export type NewEndpoint = ShownEndpoint & { readonly secret: string }

export async function createEndpoint(
  db: Db,
  world: World,
  environment: Environment,
  { endpoint: input, author, idempotency }: Call & { endpoint: EndpointInput & { url: string } },
): Promise<Answer<NewEndpoint>> {
  const url = goodAddress(input.url)
  return once(db, world, environment, idempotency, async (tx) => {
    await lockEnvironment(tx, environment)
    if ((await countEndpoints(tx, environment)) >= endpointsMax) {
      throw conflict(
        `An environment has at most ${endpointsMax} webhook endpoints; delete one that is no longer needed`,
      )
    }
    const now = world.now()
    const secret = newEndpointSecret()
    const endpoint: WebhookEndpoint = {
      id: world.newId(now),
      url,
      secret,
      previous: [],
      description: input.description ?? '',
      eventTypes: input.eventTypes ?? [],
      workflowIds: await workflowIdsOf(tx, environment, input.workflows ?? []),
      concurrency: input.concurrency ?? concurrencyDefault,
      ...notFailing,
      deliveredAt: null,
      createdAt: now,
      updatedAt: now,
    }
    await insertEndpoint(tx, world.sealer, environment, endpoint)
    const shown = await shownEndpoint(tx, environment, endpoint, now)
    const after = recordOfEndpoint(endpoint)
    await audit(tx, world, environment, author, { ...namedEndpoint(endpoint), action: 'create', after })
    return created({ ...shown, secret })
  })
}

const notFailing = { disabledAt: null, disabledBy: null, failingSince: null, failures: 0, lastError: null }

export async function changeEndpoint(
  db: Db,
  world: World,
  environment: Environment,
  { id, change, author, idempotency }: Call & { id: string; change: EndpointInput },
): Promise<Answer<ShownEndpoint>> {
  const url = change.url === undefined ? undefined : goodAddress(change.url)
  return once(db, world, environment, idempotency, async (tx) => {
    const before = await held(tx, world, environment, id)
    const now = world.now()
    const { description, eventTypes, workflows, concurrency, enabled } = change
    const isEnabled = enabled === true && before.disabledAt !== null
    const isDisabled = enabled === false && before.disabledAt === null
    const after: WebhookEndpoint = {
      ...before,
      // Another address has not failed yet.
      ...(url === undefined || url === before.url ? {} : { url, failingSince: null, failures: 0, lastError: null }),
      ...(description === undefined ? {} : { description }),
      ...(eventTypes === undefined ? {} : { eventTypes }),
      ...(workflows === undefined ? {} : { workflowIds: await workflowIdsOf(tx, environment, workflows) }),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(isEnabled ? notFailing : {}),
      ...(isDisabled ? { disabledAt: now, disabledBy: 'caller' as const } : {}),
      updatedAt: now,
    }
    await updateEndpoint(tx, world.sealer, environment, after)
    // What waited when it was disabled goes on.
    if (isEnabled) await wakeTasks(tx, environment, [sendingTask(id, now)], now)
    await audit(tx, world, environment, author, {
      ...namedEndpoint(after),
      action: 'change',
      before: recordOfEndpoint(before),
      after: recordOfEndpoint(after),
    })
    return ok(await shownEndpoint(tx, environment, after, now))
  })
}

export async function rotateEndpointSecret(
  db: Db,
  world: World,
  environment: Environment,
  { id, overlapSeconds, author, idempotency }: Call & { id: string; overlapSeconds: number },
): Promise<Answer<NewEndpoint>> {
  return once(db, world, environment, idempotency, async (tx) => {
    const before = await held(tx, world, environment, id)
    const now = world.now()
    const secret = newEndpointSecret()
    const until = new Date(now.getTime() + overlapSeconds * 1_000)
    const after: WebhookEndpoint = { ...before, ...rotated(before, secret, now, until), updatedAt: now }
    await updateEndpoint(tx, world.sealer, environment, after)
    await audit(tx, world, environment, author, {
      ...namedEndpoint(after),
      action: 'rotate',
      before: recordOfEndpoint(before),
      after: recordOfEndpoint(after),
    })
    return created({ ...(await shownEndpoint(tx, environment, after, now)), secret })
  })
}

export async function removeEndpoint(
  db: Db,
  world: World,
  environment: Environment,
  { id, author, idempotency }: Call & { id: string },
): Promise<Answer<null>> {
  return once(db, world, environment, idempotency, async (tx) => {
    const endpoint = await held(tx, world, environment, id)
    await markEndpointDeleted(tx, environment, id, world.now())
    const before = recordOfEndpoint(endpoint)
    await audit(tx, world, environment, author, { ...namedEndpoint(endpoint), action: 'delete', before })
    return noContent
  })
}

export const unknownEndpoint = (id: string) => notFound(`Webhook endpoint ${id} not found`)

/** No one else changes it before the transaction ends. */
export async function held(tx: Tx, world: World, environment: Environment, id: string): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(tx, world.sealer, environment, id, { lock: true })
  if (endpoint === undefined) throw unknownEndpoint(id)
  return endpoint
}

/** Where calls may go at all is asked when they are made: a name may stand for another address by then. */
function goodAddress(text: string): string {
  const address = URL.canParse(text) ? new URL(text) : undefined
  if (address === undefined || !['https:', 'http:'].includes(address.protocol)) {
    throw invalidField('url', 'url must be an http(s) address, such as https://api.example.com/posthorn')
  }
  if (address.username !== '' || address.password !== '') {
    throw invalidField('url', 'url must not hold a user or a password: verify the signature of calls instead')
  }
  return address.href
}

async function workflowIdsOf(tx: Tx, environment: Environment, asked: readonly string[]): Promise<string[]> {
  const found = await findPreferenceWorkflows(tx, environment, asked)
  const errors: FieldErrors = {}
  for (const [index, name] of asked.entries()) {
    if (found.has(name)) continue
    const field = `workflows[${index}]`
    errors[field] = { messages: [`${field}: the workflow ${name} does not exist`], value: name }
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
  return [...new Set(asked.flatMap((name) => found.get(name)?.id ?? []))]
}
