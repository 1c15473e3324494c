// A PostgreSQL server of the system's packages in a temporary folder, on a socket there and on no port.
import { execFile, spawn } from 'node:child_process'
import { chmod, chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { eventually } from '../support/service.ts'

const run = promisify(execFile)
/** PostgreSQL refuses to run as root: then it runs as `nobody`. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
/** Every statement, as JSON, in the folder `log` of the data. */
const logged = ['logging_collector=on', 'log_destination=jsonlog', 'log_statement=all', 'log_rotation_size=0'].flatMap(
  (setting) => ['-c', setting],
)
const dumpBytesMax = 256 * 1024 * 1024

export interface TemporaryServer {
  readonly folder: string
  readonly url: string
  query(text: string): Promise<Record<string, unknown>[]>
  /** Plain SQL, without commands of psql. */
  dump(): Promise<string>
  /** The statements with parameters that the service has sent, each once. */
  statements(): Promise<string[]>
  stop(): Promise<void>
}

export async function startTemporaryServer(binaries: string): Promise<TemporaryServer> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-dump-'))
  await chmod(folder, 0o711)
  if (unprivileged.uid !== undefined) await chown(folder, unprivileged.uid, unprivileged.gid)
  const data = join(folder, 'postgres')
  await run(join(binaries, 'initdb'), ['-D', data, '-U', 'posthorn', '-A', 'trust', '-E', 'UTF8', '--locale=C'], {
    ...unprivileged,
    cwd: folder,
  })
  const settings = ['-k', folder, '-c', 'listen_addresses=', '-c', 'fsync=off', '-c', 'max_connections=100', ...logged]
  const server = spawn(join(binaries, 'postgres'), ['-D', data, ...settings], {
    ...unprivileged,
    cwd: folder,
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => server.on('close', resolve))
  await eventually(() =>
    run(join(binaries, 'pg_isready'), ['-h', folder]).then(
      () => true,
      () => false,
    ),
  )
  await run(join(binaries, 'createdb'), ['-h', folder, '-U', 'posthorn', 'posthorn'])
  const client = new pg.Client({ host: folder, user: 'posthorn', database: 'posthorn' })
  await client.connect()
  return {
    folder,
    url: `postgres://posthorn@localhost/posthorn?host=${encodeURIComponent(folder)}`,
    query: async (text) => (await client.query(text)).rows,
    dump: async () => {
      const options = ['--no-owner', '--no-privileges', '--no-comments', '--load-via-partition-root']
      // With the names of columns: a later release must still take rows that know nothing of its own columns.
      const rows = ['--column-inserts', '--rows-per-insert=100']
      const place = ['-h', folder, '-U', 'posthorn', 'posthorn']
      const { stdout } = await run(join(binaries, 'pg_dump'), [...options, ...rows, ...place], {
        maxBuffer: dumpBytesMax,
      })
      return stdout
    },
    statements: async () => {
      const log = join(data, 'log')
      const files = (await readdir(log)).filter((file) => file.endsWith('.json'))
      const texts = await Promise.all(files.map((file) => readFile(join(log, file), 'utf8')))
      const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line !== '')
      const found = lines.flatMap((line) => {
        const { application_name: name, message } = JSON.parse(line) as { application_name?: string; message?: string }
        const text = /^execute [^:]+: ([\s\S]+)$/.exec(message ?? '')?.[1]
        return name === 'posthorn' && text !== undefined ? [text] : []
      })
      return [...new Set(found)].sort()
    },
    stop: async () => {
      await client.end()
      server.kill('SIGINT')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
