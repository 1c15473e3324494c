// A separate connection outside the pool, which receives notifications for as long as it exists.
import pg from 'pg'
import type { Connection } from './connect.ts'
import { connectionSettings, keepAliveMs, serverKeepAlive } from './connect.ts'

export interface Session {
  /** Rejects when the server does not answer. */
  check(): Promise<void>
  /** Resolves when the connection is gone, for any reason. */
  readonly lost: Promise<void>
  close(): Promise<void>
}

/** A server that vanished without a word is noticed after this. */
const answerMsMax = 10_000
/** A connection that does not end when it is asked to is cut: the stop of the service waits for it. */
const endMsMax = 1_000

export async function openSession(
  connection: Connection,
  options: { channel: string; onNotification: (payload: string) => void },
): Promise<Session> {
  const client = new pg.Client({
    ...connectionSettings(connection),
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    connectionTimeoutMillis: answerMsMax,
    query_timeout: answerMsMax,
    application_name: 'posthorn node',
  })
  const lost = new Promise<void>((resolve) => {
    client.on('error', () => resolve())
    client.on('end', () => resolve())
  })
  client.on('notification', ({ payload = '' }) => options.onNotification(payload))
  try {
    await client.connect()
    if ('url' in connection) await client.query(serverKeepAlive).catch(() => {})
    await client.query(`listen ${pg.escapeIdentifier(options.channel)}`)
  } catch (error) {
    // A connection that was opened and cannot listen would stay, held by nothing.
    await endOf(client).catch(() => {})
    throw error
  }
  return {
    check: async () => void (await client.query('select 1')),
    lost,
    close: () => endOf(client),
  }
}

async function endOf(client: pg.Client): Promise<void> {
  const cut = setTimeout(() => client.connection.stream.destroy(), endMsMax)
  await client.end().finally(() => clearTimeout(cut))
}
