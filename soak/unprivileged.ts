// Programs that refuse to run as root: PostgreSQL and PgBouncer are then started as another user.
import type { ChildProcess } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { chownSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Identity } from '../src/db/embedded/embedded-identity.ts'
import { chooseIdentity } from '../src/db/embedded/embedded-identity.ts'

const run = promisify(execFile)
const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' }

export const otherUser = (): Promise<Identity> => chooseIdentity(undefined, undefined)

const asUser = ({ uid, gid, switches }: Identity): { uid?: number; gid?: number } => (switches ? { uid, gid } : {})

export function makeOwnDirectory(path: string, identity: Identity): void {
  mkdirSync(path, { mode: 0o700 })
  if (identity.switches) chownSync(path, identity.uid, identity.gid)
}

/** To its end; an exit code other than 0 is an error with the program's own words. */
export async function runAs(identity: Identity, file: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await run(file, [...args], { ...asUser(identity), cwd, env: environment, timeout: 120_000 })
  return stdout
}

export function startAs(
  identity: Identity,
  file: string,
  args: readonly string[],
  { cwd, logPath }: { cwd: string; logPath: string },
): ChildProcess {
  const log = openSync(logPath, 'a')
  const child = spawn(file, [...args], { ...asUser(identity), cwd, env: environment, stdio: ['ignore', log, log] })
  closeSync(log)
  return child
}

/** The first of the paths that exists. */
export const findProgram = (...paths: string[]): string | undefined => paths.find((path) => existsSync(path))

export const hasEnded = (child: ChildProcess | undefined): boolean =>
  child === undefined || child.exitCode !== null || child.signalCode !== null

export async function endOf(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || hasEnded(child)) return
  await new Promise((resolve) => child.once('exit', resolve))
}
