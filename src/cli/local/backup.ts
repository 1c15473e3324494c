// posthorn backup and posthorn restore: the embedded database as one file, and back.
import { backUp, restore } from '../../main/backup.ts'
import type { Command, Terminal } from '../command.ts'
import { UsageError } from '../command.ts'
import { parsed, wrongCall } from '../terminal/arguments.ts'

export const backupCommand: Command = {
  name: 'backup',
  about:
    'Writes the embedded database to one file, also while the service runs. The encryption key is not in it: keep a copy of that elsewhere. Local: it needs the data directory.',
  examples: ['posthorn backup /backups/posthorn-2026-11-16.tar.gz'],
  usage: ['backup FILE'],
  run: async (terminal, args) => {
    const { config, log, print } = terminal
    const { positionals } = parsed({ args: [...args], allowPositionals: true, options: {} })
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) throw wrongCall(backupCommand)
    refuseServer(terminal, 'pg_dump or pg_basebackup')
    const { bytes } = await backUp(config, log, file, progressOf(terminal, 'Read'))
    print(`Backed up to ${file} (${sizeWords(bytes)}).`)
    print(
      'The encryption key is not in it: without POSTHORN_ENCRYPTION_KEY, or the file encryption.key, it is worthless.',
    )
  },
}

export const restoreCommand: Command = {
  name: 'restore',
  about:
    'Puts the database of a backup in place, once it is unpacked, verified and started beside the present one. Sending is held afterwards, until `posthorn release`. The service must be stopped. Local: it needs the data directory and the encryption key.',
  examples: [
    'posthorn restore /backups/posthorn-2026-11-16.tar.gz',
    'posthorn restore --replace FILE     # where there is a database; that one is moved aside',
  ],
  usage: ['restore [--replace] FILE'],
  run: async (terminal, args) => {
    const { config, log, print } = terminal
    const { values, positionals } = parsed({
      args: [...args],
      allowPositionals: true,
      options: { replace: { type: 'boolean', default: false } },
    })
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) throw wrongCall(restoreCommand)
    refuseServer(terminal, 'pg_restore, or the backup of that server')
    const how = { replaces: values.replace, progress: progressOf(terminal, 'Unpacked') }
    const { backupAt, dataDirectory, replaced, held } = await restore(config, log, file, how)
    print(`Restored the backup of ${backupAt} to ${dataDirectory}.`)
    if (replaced !== undefined) print(`The previous database is in ${replaced}; remove it when you no longer need it.`)
    if (held === 0) return print('Nothing was waiting to be sent in it.')
    print('Sending is held: what was sent after the backup would be sent again.')
    print(
      'Start the service, look at what is due with `posthorn release --dry-run`, then `posthorn release`, with --cancel or without.',
    )
  },
}

function refuseServer({ config }: Terminal, tools: string): void {
  if (config.databaseUrl === undefined) return
  throw new UsageError(
    `The database is a server (DATABASE_URL): use ${tools}. This command is for the embedded database. The encryption key is not in the database: keep a copy of it elsewhere.`,
  )
}

const megabyte = 1024 * 1024

const sizeWords = (bytes: number): string => `${(bytes / megabyte).toFixed(1)} MiB`

/** A line for every tenth. */
function progressOf({ note }: Terminal, verb: string): (doneBytes: number, totalBytes: number) => void {
  let said = 0
  return (doneBytes, totalBytes) => {
    const tenths = Math.floor((10 * doneBytes) / Math.max(1, totalBytes))
    if (tenths <= said) return
    said = tenths
    note(`${verb} ${tenths * 10} % of ${sizeWords(totalBytes)}`)
  }
}
