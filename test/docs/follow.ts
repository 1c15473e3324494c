// Follows a document: a service on a database of its own, and the page's commands in a folder of their own.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
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
const pageTimeoutMs = 400_000

/** What readers are asked to have, and what a machine may lack: then there is nothing to follow a page with. */
export const missingTool: string | undefined = ['bash', 'curl', 'git', 'jq', 'openssl'].find(
  (tool) => spawnSync(tool, ['--version']).error !== undefined,
)

/** A guide, against a service on a database of its own. What went wrong; empty when all of the page works. */
export async function followGuide(blocks: readonly Block[]): Promise<string[]> {
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
    const work = join(folder, 'work')
    await cp(join(projectRoot, 'docs/examples'), join(work, 'docs/examples'), { recursive: true })
    const own = { API: running.url, POSTHORN_URL: running.url, PROJECT_UNDER_TEST: projectRoot }
    return await followed(blocks, { folder, work, port, variables: { ...variables, ...own } })
  } finally {
    await running.stop()
    await database.drop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** A document of the project itself, in a copy of it; then the commands that see to what came of it. */
export async function followInProject(blocks: readonly Block[], afterwards: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-docs-'))
  await chmod(folder, 0o755)
  const port = await freePort()
  try {
    const work = join(folder, 'posthorn')
    await copyProject(work)
    const variables = { PORT: String(port), POSTHORN_API_KEY: developmentKey, PROJECT_UNDER_TEST: work }
    const last = { ...nothing, page: blocks[0]?.page ?? '', text: afterwards }
    return await followed([...blocks, last], { folder, work, port, variables })
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}

const nothing: Block = { page: '', line: 0, language: 'sh', text: '', background: false, follows: false }

/** What git would keep, with the packages and the build of this one. */
async function copyProject(work: string): Promise<void> {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: projectRoot,
  })
  for (const path of listed.toString().split('\0')) {
    const source = join(projectRoot, path)
    if (path !== '' && existsSync(source)) await cp(source, join(work, path))
  }
  await symlink(join(projectRoot, 'node_modules'), join(work, 'node_modules'))
  await cp(join(projectRoot, 'dist'), join(work, 'dist'), { recursive: true })
}

interface Following {
  readonly folder: string
  readonly work: string
  readonly port: number
  readonly variables: Readonly<Record<string, string>>
}

async function followed(blocks: readonly Block[], { folder, work, port, variables }: Following): Promise<string[]> {
  const out = join(folder, 'out')
  await mkdir(out)
  const script = scriptOf(blocks, { out, work, port })
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
      POSTHORN_DASHBOARD: 'off',
      POSTHORN_PROFILES: join(work, 'profiles.json'),
      EDIT: join(projectRoot, 'test/docs/apply-edit.mjs'),
      ...variables,
    },
  })
  return new Promise((resolve) => {
    child.on('close', resolve)
  })
}
