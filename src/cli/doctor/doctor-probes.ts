// What the checks of posthorn doctor look at: each thing fetched once, however many checks need it.
import type { ApiClient } from '../api-client.ts'
import { ApiError } from '../api-client.ts'
import type { Terminal } from '../command.ts'
import type { DatabaseFacts } from './database-facts.ts'
import { CannotCheck, OtherEnvironment } from './diagnosis.ts'

export interface Health {
  readonly tookMs: number
  /** How far the service's clock is ahead of ours; its header has whole seconds. */
  readonly aheadMs: number | undefined
}

export interface QueueCounts {
  readonly lanes: readonly { readonly queue: string; readonly due: number; readonly oldestMs: number }[]
  readonly buried: { readonly jobs: number; readonly tasks: number }
}

export interface OwnEnvironment {
  readonly name: string
  readonly capturesAll: boolean
  readonly mayDoEverything: boolean
}

export interface DoctorProbes {
  readonly terminal: Terminal
  readonly url: string
  health(): Promise<Health>
  ready(): Promise<Readonly<Record<string, unknown>>>
  environment(): Promise<OwnEnvironment>
  queue(): Promise<QueueCounts>
  /** Whatever else the key may read. */
  read<Body>(path: string, query?: Readonly<Record<string, string>>): Promise<Body>
  database(): Promise<DatabaseFacts>
}

export interface ProbeSources {
  readonly terminal: Terminal
  readonly url: string
  readonly publicClient: ApiClient
  readonly signal: AbortSignal
  /** The environment that is meant, if one was named. */
  readonly wanted?: string | undefined
  keyHolder(): Promise<ApiClient>
  database(): Promise<DatabaseFacts>
}

export function askAll(sources: ProbeSources): DoctorProbes {
  const { terminal, url, publicClient, signal, wanted, keyHolder, database } = sources
  const health = once(() => askHealth(publicClient, signal))
  /** Whatever the key may read: not requested from a service that does not respond at all. */
  const read = async <Body>(path: string, query: Readonly<Record<string, string>> = {}): Promise<Body> => {
    await health().catch(() => {
      throw new CannotCheck('The service does not respond.')
    })
    const client = await keyHolder()
    return (await client.call<Body>('GET', path, { query, signal })).body
  }
  const environment = once(async () => {
    const own = await read<Record<string, unknown>>('/v1/environments/me')
    const configurations = own['configurations'] as { capture?: boolean } | undefined
    if (wanted !== undefined && own['name'] !== wanted) throw new OtherEnvironment(String(own['name']), wanted)
    // Only full keys see the secret; that it is there is all that is kept of it.
    return {
      name: String(own['name']),
      capturesAll: configurations?.capture === true,
      mayDoEverything: own['signingSecret'] !== undefined,
    }
  })
  /** A rejected key is reported once, by the check of the key. */
  const readAsKey = async <Body>(path: string, query?: Readonly<Record<string, string>>): Promise<Body> => {
    await environment().catch((error: unknown) => {
      if (error instanceof OtherEnvironment) throw new CannotCheck(error.message)
      throw error instanceof ApiError ? new CannotCheck('The service does not allow this key to read.') : error
    })
    return read<Body>(path, query)
  }
  return {
    terminal,
    url,
    health,
    ready: once(() => askReady(publicClient, signal, health)),
    environment,
    queue: once(() => readAsKey<QueueCounts>('/v1/counts/queue')),
    read: readAsKey,
    database: once(database),
  }
}

function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let asked: Promise<Value> | undefined
  return () => {
    asked ??= ask()
    return asked
  }
}

async function askHealth(client: ApiClient, signal: AbortSignal): Promise<Health> {
  const [startedAt, started] = [Date.now(), performance.now()]
  const { headers } = await client.call('GET', '/health', { signal })
  const tookMs = Math.round(performance.now() - started)
  const theirs = Date.parse(headers.get('date') ?? '')
  // In the middle of its second, and of the call.
  const aheadMs = Number.isNaN(theirs) ? undefined : Math.round(theirs + 500 - (startedAt + tookMs / 2))
  return { tookMs, aheadMs }
}

async function askReady(
  client: ApiClient,
  signal: AbortSignal,
  health: () => Promise<Health>,
): Promise<Readonly<Record<string, unknown>>> {
  await health().catch(() => {
    throw new CannotCheck('The service does not respond.')
  })
  try {
    return (await client.call<Record<string, unknown>>('GET', '/ready', { signal })).body
  } catch (error) {
    // Not ready is an answer too.
    if (error instanceof ApiError && error.status === 503 && typeof error.body === 'object' && error.body !== null) {
      return error.body as Record<string, unknown>
    }
    throw error
  }
}

/** Whether the service runs on this machine, judging by its address. */
export function isLocal(url: string): boolean {
  const { hostname } = new URL(url)
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}
