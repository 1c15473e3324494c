// HAProxy before a replicated pair, and PgBouncer before that: what nodes connect to instead of a server.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from './facts.ts'
import { freePort } from './nodes.ts'
import type { PostgresServer } from './postgres.ts'
import type { ReplicatedPair } from './replication.ts'
import { isPrimary } from './replication.ts'
import type { Stage } from './stage.ts'
import { endOf, findProgram, makeOwnDirectory, otherUser, startAs } from './unprivileged.ts'

export const haproxyProgram = findProgram('/usr/sbin/haproxy', '/usr/local/sbin/haproxy')
export const pgbouncerProgram = findProgram('/usr/sbin/pgbouncer', '/usr/local/bin/pgbouncer')

const answersWithinMs = 20_000

/** Resolves with the port behind which the primary always is. */
export async function startHaproxy(stage: Stage, pair: ReplicatedPair): Promise<number> {
  const port = await freePort()
  const [a, b] = pair.servers
  const config = [
    'global',
    '  maxconn 1000',
    'defaults',
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 1h',
    '  timeout server 1h',
    'listen postgres',
    `  bind 127.0.0.1:${port}`,
    '  option httpchk GET /',
    '  http-check expect status 200',
    '  default-server inter 500ms fastinter 200ms fall 2 rise 1 on-marked-down shutdown-sessions',
    `  server a 127.0.0.1:${a.port} check port ${await startCheck(stage, a)}`,
    `  server b 127.0.0.1:${b.port} check port ${await startCheck(stage, b)}`,
  ]
  const path = join(stage.directory, 'haproxy.cfg')
  writeFileSync(path, `${config.join('\n')}\n`)
  await startProgram(stage, 'haproxy', haproxyProgram ?? '', ['-db', '-f', path])
  await untilAnswered(pair.primary, port)
  return port
}

/** An HTTP check as cluster managers offer it: 200 where the server is the primary. */
async function startCheck(stage: Stage, server: PostgresServer): Promise<number> {
  const check = createServer(async (_request, response) => {
    response.statusCode = (await isPrimary(server)) ? 200 : 503
    response.end()
  })
  await new Promise<void>((resolve) => check.listen(0, '127.0.0.1', resolve))
  stage.onClose(() => check.close())
  return (check.address() as AddressInfo).port
}

/** In transaction mode, before whatever listens on the port. */
export async function startPgbouncer(stage: Stage, pair: ReplicatedPair, behindPort: number): Promise<number> {
  const port = await freePort()
  const identity = await otherUser()
  const directory = join(stage.directory, 'pgbouncer')
  makeOwnDirectory(directory, identity)
  const config = [
    '[databases]',
    `posthorn = host=127.0.0.1 port=${behindPort} dbname=posthorn user=posthorn`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'max_client_conn = 500',
    'default_pool_size = 20',
    'server_login_retry = 1',
  ]
  const path = join(stage.directory, 'pgbouncer.ini')
  writeFileSync(path, `${config.join('\n')}\n`)
  await startProgram(stage, 'pgbouncer', pgbouncerProgram ?? '', [path])
  await untilAnswered(pair.primary, port)
  return port
}

async function startProgram(stage: Stage, name: string, program: string, args: readonly string[]): Promise<void> {
  const logPath = join(stage.directory, `${name}.log`)
  const child = startAs(await otherUser(), program, args, { cwd: stage.directory, logPath })
  stage.onClose(async () => {
    child.kill('SIGKILL')
    await endOf(child)
  })
}

async function untilAnswered(server: PostgresServer, port: number): Promise<void> {
  const deadline = Date.now() + answersWithinMs
  while (Date.now() < deadline) {
    try {
      await withClient({ ...server.connection, port }, (client) => client.query('select 1'))
      return
    } catch {
      await sleep(100)
    }
  }
  throw new Error(`Nothing answered on the port ${port} within ${answersWithinMs / 1000} s`)
}
