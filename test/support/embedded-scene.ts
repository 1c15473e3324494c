// A place to try the embedded PostgreSQL in: a directory of its own, processes of its own, and nothing left of either afterwards.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import {
  chmod,
  cp,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, extname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Identity, mayUse, toEnter, toRead } from '../../src/db/embedded/embedded-identity.ts'
import {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/db/embedded/embedded-postgres.ts'
import { inspectProcess } from '../../src/db/embedded/embedded-process.ts'
import { type Log, silentLog } from '../../src/world/log.ts'
import { projectRoot } from './project-root.ts'

export const nobodyUid = 65534
export const isRoot = process.geteuid?.() === 0
export const platform = `${process.platform}-${process.arch}`
export const packageRoot = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)))
/** Other people use the machine too. */
export const patienceMs = 30_000

type Started = Pick<EmbeddedPostgres, 'connection' | 'dataDirectory' | 'adopted' | 'initialised'>

export interface ChildOrder {
  readonly becomeUid?: number
  readonly options: Omit<EmbeddedOptions, 'log'>
}

export type ChildReport =
  | { readonly ready: true }
  | { readonly started: Started }
  | { readonly failed: { readonly name: string; readonly message: string } }
  | { readonly stopped: true }

export interface Child {
  readonly pid: number
  /** Lets it start PostgreSQL; resolves with what came of it. */
  go(): Promise<ChildReport>
  stop(): Promise<void>
  kill(): Promise<void>
}

export interface Scene {
  readonly root: string
  readonly dataDirectory: string
  readonly said: { level: keyof Log; message: string }[]
  start(options?: Partial<EmbeddedOptions>): Promise<EmbeddedPostgres>
  child(order?: Partial<ChildOrder>): Promise<Child>
  /** Puts a database there that is like one just made, which saves the second that making it takes. */
  furnish(dataDirectory?: string): Promise<void>
}

export async function openScene(t: TestContext): Promise<Scene> {
  const root = await mkdtemp(join(await realpath(tmpdir()), 'posthorn-embedded-'))
  await chmod(root, 0o711)
  const dataDirectory = join(root, 'data')
  // No sync to disk: these tests kill processes, never the machine.
  const defaults = { dataDirectory, stateHome: join(root, 'state'), settings: { fsync: 'off' } }
  const said: Scene['said'] = []
  const hear = (level: keyof Log) => (_facts: object, message: string) => void said.push({ level, message })
  const log: Log = { debug: hear('debug'), info: hear('info'), warn: hear('warn'), error: hear('error') }
  const servers: EmbeddedPostgres[] = []
  const children: Child[] = []
  t.after(async () => {
    for (const child of children) await child.kill()
    await Promise.allSettled(servers.map((server) => server.stop()))
    await endServersBelow(root)
    await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  })
  return {
    root,
    dataDirectory,
    said,
    async start(options = {}) {
      const server = await startEmbeddedPostgres({ ...defaults, log, ...options })
      servers.push(server)
      return server
    },
    async child(order = {}) {
      const child = await startChild({ ...order, options: { ...defaults, ...order.options } })
      children.push(child)
      return child
    },
    furnish: (place = dataDirectory) => furnish(place),
  }
}

let template: Promise<string> | undefined

async function furnish(dataDirectory: string): Promise<void> {
  template ??= makeTemplate()
  await mkdir(dataDirectory, { recursive: true, mode: 0o711 })
  const copy = spawn('cp', ['-a', join(await template, 'data', 'postgres'), dataDirectory], { stdio: 'inherit' })
  await ended(copy)
  assert.equal(copy.exitCode, 0)
}

async function makeTemplate(): Promise<string> {
  const root = await mkdtemp(join(await realpath(tmpdir()), 'posthorn-embedded-'))
  process.once('exit', () => rmSync(root, { recursive: true, force: true }))
  await chmod(root, 0o711)
  const options = { dataDirectory: join(root, 'data'), stateHome: join(root, 'state'), settings: { fsync: 'off' } }
  await (await startEmbeddedPostgres({ ...options, log: silentLog })).stop()
  return root
}

async function startChild(order: ChildOrder): Promise<Child> {
  // Beside this file: compiled when the tests are, and through tsx when a test is run manually.
  const extension = extname(import.meta.filename)
  const script = join(import.meta.dirname, `embedded-child${extension}`)
  const loader = extension === '.ts' ? ['--import', 'tsx'] : ['--enable-source-maps']
  const child = spawn(process.execPath, [...loader, script, JSON.stringify(order)], {
    cwd: projectRoot,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const report = async (): Promise<ChildReport> => {
    const line = await lines.next()
    assert.ok(!line.done, 'the child ended without a word')
    return JSON.parse(line.value) as ChildReport
  }
  assert.deepEqual(await report(), { ready: true })
  return {
    pid: child.pid ?? 0,
    async go() {
      child.stdin.write('go\n')
      return report()
    },
    async stop() {
      child.stdin.end()
      assert.deepEqual(await report(), { stopped: true })
      await ended(child)
    },
    async kill() {
      child.kill('SIGKILL')
      await ended(child)
    },
  }
}

function ended(child: ChildProcess): Promise<unknown> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', resolve))
}

export function startedOf(report: ChildReport): Started {
  assert.ok('started' in report, JSON.stringify(report))
  return report.started
}

/** Servers whose supervisor was killed, by the pid in their own pid file, after a look at what that process is. */
async function endServersBelow(root: string): Promise<void> {
  for (const entry of await readdir(root, { recursive: true })) {
    if (!entry.endsWith('postgres/postmaster.pid')) continue
    const path = join(root, entry)
    const pid = await postmasterPid(dirname(path)).catch(() => 0)
    const state = await inspectProcess(pid)
    if (!state.alive || !state.command.includes(` -D ${dirname(path)} `)) continue
    process.kill(pid, 'SIGKILL')
    await eventually(async () => !(await inspectProcess(pid)).alive)
  }
}

export async function postmasterPid(cluster: string): Promise<number> {
  return Number.parseInt(await readFile(join(cluster, 'postmaster.pid'), 'utf8'), 10)
}

export async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!(await isTrue())) {
    assert.ok(performance.now() < deadline, 'it did not come true in time')
    await sleep(20)
  }
}

/** One statement on a connection of its own. */
export async function query(
  { connection }: Pick<EmbeddedPostgres, 'connection'>,
  statement: string,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ ...connection })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** The platform package where user nobody can use it: a clone may lie below a closed home. */
export async function reachablePackage(scene: Scene): Promise<string> {
  const nobody: Identity = { uid: nobodyUid, gid: nobodyUid, switches: isRoot }
  const bin = join(packageRoot, 'native', 'bin', 'postgres')
  return (await mayUse(nobody, bin, toRead | toEnter)) ? packageRoot : copyOfPackage(join(scene.root, 'reachable'))
}

/** Linked file by file where the disk allows, for it is large: remove files of it freely, but change none. */
export async function copyOfPackage(target: string): Promise<string> {
  for (const entry of await readdir(packageRoot, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath, entry.name)
    const copy = join(target, relative(packageRoot, source))
    await mkdir(dirname(copy), { recursive: true })
    if (entry.isSymbolicLink()) await symlink(await readlink(source), copy)
    else if (entry.isFile()) await link(source, copy).catch(() => cp(source, copy))
  }
  return target
}

/** A package of the same shape whose programs do nothing. */
export async function smallPackage(root: string): Promise<string> {
  const native = join(root, 'native')
  for (const folder of ['bin', 'lib/postgresql', 'share/postgresql'])
    await mkdir(join(native, folder), { recursive: true })
  for (const name of ['initdb', 'pg_ctl', 'postgres'])
    await writeFile(join(native, 'bin', name), '#!/bin/sh\n', { mode: 0o755 })
  await writeFile(join(native, 'share/postgresql/postgres.bki'), '')
  await writeFile(join(native, 'lib/libpq.so.5.18'), '')
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]
  await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify(links))
  await writeFile(join(root, 'package.json'), '{"version":"18.4.0-test"}')
  return root
}

/** Plays another user within this process, which must be root. Files only: a server needs a process of its own. */
export async function asUser<T>(uid: number, act: () => Promise<T>): Promise<T> {
  process.setegid?.(uid)
  process.seteuid?.(uid)
  try {
    return await act()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}
