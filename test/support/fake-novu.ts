// A Novu service as its public clients know it: entities wrapped in `data`, pages by cursor, offset and number, and its rate limit.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json } from './app.ts'

export interface FakeNovuData {
  readonly subscribers: readonly Json[]
  readonly topics?: readonly Json[]
  /** By topic. */
  readonly subscriptions?: Readonly<Record<string, readonly Json[]>>
  readonly integrations?: readonly Json[]
  readonly feeds?: readonly Json[]
  readonly layouts?: readonly Json[]
  readonly workflowsV1?: readonly Json[]
  readonly workflowsV2?: readonly Json[]
  /** The own texts by locale. */
  readonly translations?: Readonly<Record<string, Json>>
  /** By subscriber. */
  readonly preferences?: Readonly<Record<string, Json>>
}

export interface FakeNovu {
  readonly url: string
  readonly key: string
  /** The calls that were answered. */
  readonly calls: string[]
  /** Answers that go another way: once for each, for the first call whose path contains `path`. */
  readonly trouble: { path?: string; status: number; headers?: Record<string, string> }[]
  /** Called before every answer. */
  onCall?: (call: string) => Promise<void> | void
  close(): Promise<void>
}

const key = 'novu-key-0123456789abcdef'

/** `plain`: entities as the public document of the API has them, and not wrapped in `data`, as the service sends them. */
export async function startFakeNovu(data: FakeNovuData, shape: 'wrapped' | 'plain' = 'wrapped'): Promise<FakeNovu> {
  const calls: string[] = []
  const trouble: FakeNovu['trouble'] = []
  const server = createServer(async (request, response) => {
    const call = `${request.method} ${request.url}`
    await fake.onCall?.(call)
    calls.push(call)
    const place = trouble.findIndex(({ path = '' }) => call.includes(path))
    const [wrong] = place === -1 ? [] : trouble.splice(place, 1)
    if (wrong !== undefined) return reply(response, wrong.status, { message: 'Later' }, wrong.headers)
    if (request.headers.authorization !== `ApiKey ${key}`) return reply(response, 401, { message: 'API Key not found' })
    const found = answerOf(data, request)
    if (found === undefined) return reply(response, 404, { message: 'Not found' })
    const isEntity = shape === 'plain' && Object.keys(found).length === 1 && 'data' in found
    return reply(response, 200, isEntity ? found.data : found)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const fake: FakeNovu = { url: `http://127.0.0.1:${port}`, key, calls, trouble, close: () => closed(server) }
  return fake
}

function reply(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections()
    server.close(() => resolve())
  })

const wrapped = (body: Json): Json => ({ data: body })

function answerOf(data: FakeNovuData, request: IncomingMessage): Json {
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://x')
  const path = decodeURIComponent(pathname)
  const [, , resource, id, third] = path.split('/')
  if (path === '/v2/subscribers') return cursorPage(data.subscribers, query)
  if (path === '/v2/topics') return cursorPage(data.topics ?? [], query)
  if (resource === 'topics' && third === 'subscriptions') {
    const found = data.subscriptions?.[id ?? ''] ?? []
    const withIds = found.map((one, place) => ({
      _id: `${id}-${place}`,
      identifier: `tk_${id}:si_${one.subscriber.subscriberId}`,
      ...one,
    }))
    return cursorPage(withIds, query)
  }
  if (resource === 'subscribers' && third === 'preferences') {
    return wrapped(data.preferences?.[id ?? ''] ?? { global: { enabled: true, channels: {} }, workflows: [] })
  }
  if (path === '/v1/integrations') return wrapped(data.integrations ?? [])
  if (path === '/v1/feeds') return wrapped(data.feeds ?? [])
  if (path === '/v1/layouts' || path === '/v1/workflows') return numberedPage(path, data, query)
  if (resource === 'layouts' || resource === 'workflows') return ofV2(data, resource, id, query)
  if (path === '/v2/translations/master-json') return wrapped(data.translations?.[query.get('locale') ?? ''])
  if (path.startsWith('/v2/translations/group/')) {
    return wrapped({ resourceId: path.split('/').at(-1), locales: Object.keys(data.translations ?? {}) })
  }
  return undefined
}

/** The cursor is an `_id`. */
function cursorPage(all: readonly Json[], query: URLSearchParams): Json {
  const limit = Number(query.get('limit') ?? 10)
  const after = query.get('after')
  // Ids end with their place, so that a long list is not searched for each page.
  const start = after === null ? 0 : Number(after.split('-').at(-1)) + 1
  // One that is not there any more.
  if (start > all.length) return { data: [], next: null, previous: null, totalCount: 0, totalCountCapped: false }
  const page = all.slice(start, start + limit)
  const hasMore = start + limit < all.length
  const totalCountCapped = all.length > 50_000
  return {
    data: page,
    next: hasMore ? page.at(-1)._id : null,
    previous: null,
    totalCount: Math.min(all.length, 50_000),
    totalCountCapped,
  }
}

function numberedPage(path: string, data: FakeNovuData, query: URLSearchParams): Json {
  const all = path === '/v1/workflows' ? (data.workflowsV1 ?? []) : []
  const [page, limit] = [Number(query.get('page') ?? 0), Number(query.get('limit') ?? 10)]
  return { data: all.slice(page * limit, (page + 1) * limit), page, pageSize: limit, totalCount: all.length }
}

/** A list has no steps and no content; one of them has. */
function ofV2(
  data: FakeNovuData,
  resource: 'layouts' | 'workflows',
  id: string | undefined,
  query: URLSearchParams,
): Json {
  const name = resource === 'layouts' ? 'layoutId' : 'workflowId'
  const all = resource === 'layouts' ? (data.layouts ?? []) : (data.workflowsV2 ?? [])
  const found = all.find((one) => one[name] === id)
  if (id !== undefined) return found && wrapped(found)
  const [offset, limit] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 10)]
  const short = all.slice(offset, offset + limit).map(({ steps: _, controls: __, ...one }) => one)
  return wrapped({ [resource]: short, totalCount: all.length })
}
