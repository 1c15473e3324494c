// A connection of our own beside the pool: it holds a session lock and hears notifications for as long as it lives.
import pg from 'pg'
import type { Connection } from './connect.ts'
import { connectionSettings } from './connect.ts'
import type { Statement } from './sql.ts'

export interface Session {
  rows<Row extends object>(statement: Statement): Promise<Row[]>
  /** Resolves when the connection is gone, for whatever reason. */
  readonly lost: Promise<void>
  close(): Promise<void>
}

/** A server that vanished without a word is noticed after this. */
const keepAliveMs = 10_000
const answerMsMax = 10_000

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
  await client.connect()
  await client.query(`listen ${pg.escapeIdentifier(options.channel)}`)
  return {
    rows: async <Row extends object>(statement: Statement) =>
      (await client.query({ text: statement.text, values: [...statement.values] })).rows as Row[],
    lost,
    close: () => client.end(),
  }
}
