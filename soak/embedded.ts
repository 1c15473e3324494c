// The embedded database of one node: found through its pid file, looked into through its socket.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientConfig } from 'pg'

export function embeddedConnection(dataDirectory: string): ClientConfig {
  return { host: join(dataDirectory, 'socket'), port: 5432, user: 'posthorn', database: 'posthorn' }
}

/** Kills the postmaster and waits until it is gone; false when there was none. */
export async function killEmbedded(dataDirectory: string): Promise<boolean> {
  const text = await readFile(join(dataDirectory, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(text, 10)
  // A pid file may be older than the process that has the number now.
  if (!pid || !(await commandOf(pid)).includes(dataDirectory)) return false
  process.kill(pid, 'SIGKILL')
  while ((await commandOf(pid)).includes(dataDirectory)) await sleep(5)
  return true
}

const commandOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
