// Reads everything that can be carried over from a Novu service over its public API, page by page.
import type { ApiClient, Query } from '../api-client.ts'
import { ApiError } from '../api-client.ts'
import type { Caller } from './batches.ts'
import { callAgain } from './batches.ts'
import type { Left } from './report.ts'
import type { Page, Thing } from './target.ts'
import { cursorPages, pageSize } from './target.ts'

/** A Novu service, or the files of one. */
export interface NovuSource {
  integrations(): Promise<readonly Thing[]>
  feeds(): Promise<readonly Thing[]>
  /** With their content. */
  layouts(): AsyncGenerator<Thing>
  workflowsV1(): AsyncGenerator<Thing>
  /** With their steps. */
  workflowsV2(): AsyncGenerator<Thing>
  /** Those in which any workflow or layout has texts of its own. */
  locales(): Promise<ReadonlySet<string>>
  /** The own texts of all workflows and layouts in a locale. */
  ownTexts(locale: string): Promise<Thing | undefined>
  subscribers(after: string | undefined): AsyncGenerator<Page>
  topics(): AsyncGenerator<Page>
  subscriptions(topicKey: string): AsyncGenerator<Page>
  preferences(subscriberId: string): Promise<Thing | undefined>
}

interface Reader {
  read<Body>(path: string, query?: Query): Promise<Body>
  /** What cannot be read is reported, unless this version of the service does not have it. */
  ifThere<Body>(named: Omit<Left, 'reason'>, path: string, query?: Query): Promise<Body | undefined>
}

export function novuService(
  caller: Caller,
  client: ApiClient,
  left: (items: readonly Left[]) => Promise<void>,
): NovuSource {
  const reader = readerOf(caller, client, left)
  const { read, ifThere } = reader
  const encoded = (text: unknown): string => encodeURIComponent(String(text))
  async function* whole(kind: string, path: string, member: string, name: string): AsyncGenerator<Thing> {
    for await (const { [name]: id } of listed(reader, `${kind}s`, path, member)) {
      const found = await ifThere<Thing>({ kind, id: String(id) }, `${path}/${encoded(id)}`)
      if (found !== undefined) yield found
    }
  }
  const workflowsV2 = () => whole('workflow', '/v2/workflows', 'workflows', 'workflowId')
  async function* layouts(): AsyncGenerator<Thing> {
    const seen = new Set<unknown>()
    for await (const layout of whole('layout', '/v2/layouts', 'layouts', 'layoutId')) {
      seen.add(layout['layoutId'])
      yield layout
    }
    for await (const layout of numbered(reader, 'layouts', '/v1/layouts')) {
      if (!seen.has(layout['identifier'])) yield layout
    }
  }
  const localesOf = async (type: string, id: unknown): Promise<readonly string[]> => {
    const path = `/v2/translations/group/${type}/${encoded(id)}`
    return (await ifThere<{ locales?: string[] }>({ kind: 'translation', id: String(id) }, path))?.locales ?? []
  }
  return {
    integrations: () => read<Thing[]>('/v1/integrations'),
    feeds: async () => itemsIn(await ifThere({ kind: 'feeds', id: 'all' }, '/v1/feeds')),
    layouts,
    workflowsV1: () => numbered(reader, 'workflows', '/v1/workflows'),
    workflowsV2,
    locales: async () => {
      const locales = new Set<string>()
      const add = async (type: string, id: unknown): Promise<void> => {
        for (const locale of await localesOf(type, id)) locales.add(locale)
      }
      for await (const one of workflowsV2())
        if (one['isTranslationEnabled'] === true) await add('workflow', one['workflowId'])
      for await (const one of layouts()) if (one['isTranslationEnabled'] === true) await add('layout', one['layoutId'])
      return locales
    },
    ownTexts: (locale) => ifThere({ kind: 'translation', id: locale }, '/v2/translations/master-json', { locale }),
    subscribers: (after) => cursorPages(read, '/v2/subscribers', { first: after }),
    topics: () => cursorPages(read, '/v2/topics'),
    subscriptions: (topicKey) => cursorPages(read, `/v2/topics/${encoded(topicKey)}/subscriptions`),
    preferences: (subscriberId) => {
      const path = `/v2/subscribers/${encoded(subscriberId)}/preferences`
      return ifThere({ kind: 'preference', id: subscriberId }, path, { criticality: 'nonCritical' })
    },
  }
}

function readerOf(caller: Caller, client: ApiClient, left: (items: readonly Left[]) => Promise<void>): Reader {
  const read = async <Body>(path: string, query: Query = {}): Promise<Body> => {
    try {
      return unwrapped((await callAgain(caller, client, ['GET', path], { query })).body) as Body
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      const { message } = (error.body ?? {}) as { message?: unknown }
      throw new ApiError(
        `Novu at ${client.url} rejected its API key (${message}): give it with --key-file or --key.`,
        401,
      )
    }
  }
  return {
    read,
    ifThere: async <Body>(named: Omit<Left, 'reason'>, path: string, query: Query = {}) => {
      try {
        return await read<Body>(path, query)
      } catch (error) {
        if (!(error instanceof ApiError) || error.status === undefined || [401, 429].includes(error.status)) throw error
        const { message } = (error.body ?? {}) as { message?: unknown }
        const reason = `GET ${path} answers ${error.status}${typeof message === 'string' ? ` (${message})` : ''}.`
        if (error.status !== 404) await left([{ ...named, reason }])
        return undefined
      }
    },
  }
}

async function* listed({ ifThere }: Reader, kind: string, path: string, member: string): AsyncGenerator<Thing> {
  for (let offset = 0; ; offset += pageSize) {
    const body = await ifThere<Thing>({ kind, id: path }, path, { limit: pageSize, offset })
    const items = (body?.[member] ?? []) as Thing[]
    yield* items
    if (items.length < pageSize) return
  }
}

async function* numbered({ ifThere }: Reader, kind: string, path: string): AsyncGenerator<Thing> {
  for (let page = 0; ; page += 1) {
    const items = itemsIn(await ifThere({ kind, id: path }, path, { page, limit: pageSize }))
    yield* items
    if (items.length < pageSize) return
  }
}

/** An array, or a page that has one. */
function itemsIn(body: unknown): readonly Thing[] {
  const list = Array.isArray(body) ? body : (body as { data?: unknown } | undefined)?.data
  return Array.isArray(list) ? list : []
}

/** The service wraps what is not a page: `{data: …}`, and nothing beside it. */
function unwrapped(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return Object.keys(body).length === 1 && 'data' in body ? body.data : body
}
