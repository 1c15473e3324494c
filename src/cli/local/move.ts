// posthorn move: takes the embedded database to a PostgreSQL server.
import { databaseUrl } from '../../config/values.ts'
import type { MovedTable } from '../../db/backup/move-rows.ts'
import { moveTo } from '../../main/move.ts'
import type { Command } from '../command.ts'
import { UsageError } from '../command.ts'
import { parsed, wrongCall } from '../terminal/arguments.ts'

export const moveCommand: Command = {
  name: 'move',
  about:
    'Moves everything from the embedded database to an empty database on a PostgreSQL server, and compares the counts. The service must be stopped. Local: it needs the data directory.',
  examples: ['PGPASSWORD=… posthorn move --to postgres://posthorn@db.example.com:5432/posthorn?sslmode=verify-full'],
  usage: ['move --to URL'],
  run: async ({ config, log, print, note }, args) => {
    const { values } = parsed({ args: [...args], options: { to: { type: 'string' } } })
    if (values.to === undefined) throw wrongCall(moveCommand)
    if (config.databaseUrl !== undefined) {
      throw new UsageError(
        'The database is a server already (DATABASE_URL). This command is for the embedded database: remove that variable, or use pg_dump.',
      )
    }
    const url = urlOf(values.to)
    const moved = await moveTo(config, log, url, (table, rows, isDone) => {
      if (rows > 0) note(`${table}: ${rows} rows${isDone ? '' : ' …'}`)
    })
    print(wordsOf(moved))
    print('Start every node with DATABASE_URL set to that address, and with the same encryption key:')
    print(
      config.encryptionKey === undefined
        ? `POSTHORN_ENCRYPTION_KEY is the content of encryption.key in ${config.dataDirectory}.`
        : 'POSTHORN_ENCRYPTION_KEY as it is now.',
    )
    print('The embedded database is as it was, and sends nothing if it is started again.')
  },
}

function wordsOf(moved: readonly MovedTable[] | undefined): string {
  if (moved === undefined) return 'Everything was moved to that database already, by an earlier call of this command.'
  const total = moved.reduce((sum, { rows }) => sum + rows, 0)
  return `Moved ${total} rows of ${moved.length} tables; the counts are the same.`
}

function urlOf(text: string): string {
  try {
    return databaseUrl(text)
  } catch (error) {
    throw new UsageError(`--to ${(error as Error).message}`)
  }
}
