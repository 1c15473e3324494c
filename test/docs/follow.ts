// Follows a document: a service on a database of its own, and the page's commands in a folder of their own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { start } from '../../src/main.ts'
import { silentLog } from '../../src/world/log.ts'
import { createTestDatabase } from '../support/database.ts'
import { projectRoot } from '../support/project-root.ts'
import type { Block } from './blocks.ts'
import { scriptOf } from './page-script.ts'
import { differences, lastJson } from './shown-json.ts'

export const developmentKey = 'ph_the-key-of-development'
const productionKey = 'ph_the-key-of-production'
const encryptionKey = Buffer.alloc(32, 7).toString('base64')
/** A page that takes longer hangs. */
const pageTimeoutMs = 60_000

/** What went wrong; empty when all of the page works. */
export async function follow(blocks: readonly Block[]): Promise<string[]> {
  const database = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-docs-'))
  await chmod(folder, 0o755)
  const port = await freePort()
  const variables = {
    DATABASE_URL: database.url,
    POSTHORN_ENCRYPTION_KEY: encryptionKey,
    POSTHORN_API_KEY: developmentKey,
    POSTHORN_API_KEY_2: productionKey,
    POSTHORN_BASE_URL: `http://localhost:${port}`,
  }
  const { config } = readConfig({ ...variables, PORT: String(port), POSTHORN_DATA_DIR: join(folder, 'data') })
  const running = await start(config, silentLog)
  try {
    return await followed(blocks, folder, { ...variables, API: running.url, POSTHORN_URL: running.url })
  } finally {
    await running.stop()
    await database.drop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function followed(
  blocks: readonly Block[],
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<string[]> {
  const [out, work] = [join(folder, 'out'), join(folder, 'work')]
  await mkdir(out)
  await mkdir(work)
  await cp(join(projectRoot, 'docs/examples'), join(work, 'docs/examples'), { recursive: true })
  const script = scriptOf(blocks, { out, work })
  await writeFile(join(out, 'page.sh'), script.text)
  const code = await run(join(out, 'page.sh'), work, variables)
  const page = blocks[0]?.page ?? ''
  if (code !== 0) return [await failure(page, out, script.parts)]
  const mistakes: string[] = []
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1]
    const part = script.parts.find((one) => one.block === before)
    if (block.language !== 'json' || !block.follows || part === undefined || block.notRun !== undefined) continue
    const shown: unknown = JSON.parse(block.text)
    const answered = lastJson(await readFile(part.output, 'utf8'))
    mistakes.push(...differences(shown, answered).map((what) => `${page}:${block.line} ${what}`))
  }
  return mistakes
}

/** The address stands in e-mails, so it must be known before the service is started. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function failure(page: string, out: string, parts: ReturnType<typeof scriptOf>['parts']): Promise<string> {
  const line = Number((await readFile(join(out, 'at'), 'utf8').catch(() => '0')).trim())
  const part = parts.find(({ block }) => block.line === line)
  const said = part === undefined ? [] : [part.output, `${part.output}.err`]
  const texts = await Promise.all(said.map((path) => readFile(path, 'utf8').catch(() => '')))
  return `${page}:${line} fails:\n${part?.block.text ?? ''}${texts.join('').slice(-3_000)}`
}

function run(script: string, work: string, variables: Readonly<Record<string, string>>): Promise<number | null> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('bash', [script], {
    cwd: work,
    stdio: 'ignore',
    timeout: pageTimeoutMs,
    env: {
      PATH: `${join(projectRoot, 'test/docs/bin')}:${PATH}`,
      HOME,
      KEY: developmentKey,
      EDIT: join(projectRoot, 'test/docs/apply-edit.mjs'),
      PROJECT_UNDER_TEST: projectRoot,
      ...variables,
    },
  })
  return new Promise((resolve) => {
    child.on('close', resolve)
  })
}
