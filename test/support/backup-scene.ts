// Services on embedded databases of their own, with the commands that back them up and restore them.
import assert from 'node:assert/strict'
import { chmod, copyFile, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import type { Running } from '../../src/main.ts'
import { start } from '../../src/main.ts'
import { silentLog } from '../../src/world/log.ts'
import type { Json } from './app.ts'
import type { Ran } from './cli-scene.ts'
import { runCommand } from './cli-scene.ts'
import { query } from './embedded-scene.ts'

const key = 'test-key-of-development'

export class BackupScene {
  readonly root: string
  readonly #services: Running[] = []

  private constructor(root: string) {
    this.root = root
  }

  static async open(): Promise<BackupScene> {
    const root = await mkdtemp(join(await realpath(tmpdir()), 'posthorn-backup-'))
    await chmod(root, 0o711)
    return new BackupScene(root)
  }

  async close(): Promise<void> {
    for (const service of this.#services) await service.stop().catch(() => {})
    await rm(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }

  /** A data directory with nothing in it, or with the encryption key of another. */
  async place(name: string, keyOf?: string): Promise<string> {
    const directory = join(this.root, name)
    await mkdir(directory, { mode: 0o711 })
    await chmod(directory, 0o711)
    if (keyOf !== undefined) await copyFile(join(keyOf, 'encryption.key'), join(directory, 'encryption.key'))
    return directory
  }

  async start(dataDirectory: string, more: Record<string, string> = {}): Promise<Running> {
    const { config } = readConfig({ ...this.#env(dataDirectory), PORT: '0', POSTHORN_API_KEY: key, ...more })
    const service = await start(config, silentLog)
    this.#services.push(service)
    return service
  }

  run(dataDirectory: string, ...args: readonly string[]): Promise<Ran> {
    return runCommand(args, { env: { ...this.#env(dataDirectory), POSTHORN_LOG_LEVEL: 'error' } })
  }

  #env(dataDirectory: string): Record<string, string> {
    return { POSTHORN_DATA_DIR: dataDirectory, POSTHORN_DASHBOARD: 'off', POSTHORN_RATE_LIMIT: 'off' }
  }

  /** Of a service that runs there. */
  rows(dataDirectory: string, statement: string): Promise<Record<string, unknown>[]> {
    const host = join(dataDirectory, 'socket')
    return query({ connection: { host, port: 5432, user: 'posthorn', database: 'posthorn' } }, statement)
  }
}

export async function call(
  service: Running,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Json }> {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `ApiKey ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
}

export async function well(service: Running, method: string, path: string, body?: unknown): Promise<Json> {
  const answer = await call(service, method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
