// A connection of our own beside the pool: it holds a session lock and hears notifications for as long as it lives.
import pg from 'pg'
import type { Connection } from './connect.ts'
import { connectionSettings, keepAliveMs, serverKeepAlive } from './connect.ts'
import type { Statement } from './sql.ts'

export interface Session {
  rows<Row extends object>(statement: Statement): Promise<Row[]>
  /** Resolves when the connection is gone, for whatever reason. */
  readonly lost: Promise<void>
  close(): Promise<void>
}

/** A server that vanished without a word is noticed after this. */
const answerMsMax = 10_000
/** A connection that does not end when it is asked to is cut: the stop of the service waits for it. */
const endMsMax = 1_000

export async function openSession(
  connection: Connection,
  options: { channel: string; onNotification: () => void },
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
  client.on('notification', options.onNotification)
  try {
    await client.connect()
    if ('url' in connection) await client.query(serverKeepAlive).catch(() => {})
    await client.query(`listen ${pg.escapeIdentifier(options.channel)}`)
  } catch (error) {
    await endOf(client)
    throw error
  }
  return {
    rows: async <Row extends object>(statement: Statement) =>
      (await client.query({ text: statement.text, values: [...statement.values] })).rows as Row[],
    lost,
    close: () => endOf(client),
  }
}

async function endOf(client: pg.Client): Promise<void> {
  const cut = setTimeout(() => client.connection.stream.destroy(), endMsMax)
  await client.end().finally(() => clearTimeout(cut))
}
