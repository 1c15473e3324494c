// The dumps of releases: where they are, how one is restored, and what is read of one before and after an upgrade.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import type { Json } from '../support/app.ts'
import type { TestDatabase } from '../support/database.ts'
import { projectRoot } from '../support/project-root.ts'
import type { Call } from './dump-workflows.ts'

export interface Dump {
  readonly version: string
  readonly madeAt: string
  readonly encryptionKey: string
  readonly keys: { readonly development: string; readonly production: string }
  /** The idempotency key of the trigger `done-once`. */
  readonly once: string
}

/** By environment and path: the answer to GET. */
export type DumpAnswers = Readonly<Record<keyof Dump['keys'], Readonly<Record<string, Json>>>>

export const dumpFolder = join(projectRoot, 'test', 'upgrade')

export function listDumps(): Dump[] {
  const files = readdirSync(dumpFolder).filter((file) => /^\d+\.\d+\.\d+\.json$/.test(file))
  return files.sort().map((file) => JSON.parse(readFileSync(join(dumpFolder, file), 'utf8')))
}

export function answersOf({ version }: Dump): DumpAnswers {
  return JSON.parse(gunzipSync(readFileSync(join(dumpFolder, `${version}.answers.json.gz`))).toString('utf8'))
}

/** What that release sends to the database, with parameters: each statement once. */
export function statementsOf({ version }: Dump): string[] {
  return JSON.parse(gunzipSync(readFileSync(join(dumpFolder, `${version}.statements.json.gz`))).toString('utf8'))
}

const sqlOf = ({ version }: Dump): string =>
  gunzipSync(readFileSync(join(dumpFolder, `${version}.sql.gz`))).toString('utf8')

/** Into an empty database; the statements go as one text, and so in one transaction. */
export const restore = (dump: Dump, database: TestDatabase): Promise<void> => runText(database, sqlOf(dump))

/** What a database has by itself once it is migrated. */
const ofMigrations: ReadonlySet<string> = new Set(['schema_migrations', 'retention_progress'])

/** The rows alone, by table, as statements that name their columns. */
export function insertsOf(dump: Dump): { table: string; text: string }[] {
  const parts = sqlOf(dump)
    .split(/^(?=INSERT INTO public\.)/m)
    .slice(1)
  return parts.flatMap((part) => {
    const table = /^INSERT INTO public\.(\w+) /.exec(part)?.[1] ?? ''
    // The last of a table is followed by comments and whatever comes next.
    const [text = ''] = part.split('\n\n\n--')
    return ofMigrations.has(table) ? [] : [{ table, text }]
  })
}

/** In a session of its own: a dump changes its search path. */
export async function runText({ connection }: TestDatabase, text: string): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

const lists = [
  '/v2/subscribers?limit=100&subscriberId=ada',
  '/v2/subscribers?limit=20',
  '/v2/topics',
  '/v2/topics/team/subscriptions',
  '/v1/integrations',
  '/v1/workflows?limit=50',
  '/v2/workflows?limit=50',
  '/v1/tenants',
  '/v1/layouts',
  '/v1/feeds',
  '/v1/translations',
  '/v2/contexts',
  '/v1/suppressions',
  '/v1/workflow-overrides',
  '/v1/environments',
  '/v1/environments/me',
  '/v1/environments/api-keys',
  '/v1/audit?limit=100',
  '/v1/audit/verify',
  '/v1/redrives',
  '/v1/messages?limit=200',
  '/v1/notifications?page=0&limit=20',
]

/** Reads what every release can be asked: lists, feeds, and every notification of some people by itself. */
export async function readPaths(call: Call): Promise<Record<string, Json>> {
  const answers: Record<string, Json> = {}
  const read = async (path: string): Promise<void> => {
    // What an environment does not have is no part of what it answers.
    const answer = await call('GET', path).catch(() => undefined)
    if (answer !== undefined) answers[path] = answer
  }
  for (const path of lists) await read(path)
  for (const subscriberId of ['ada', 'ben', 'cleo', 'dora']) {
    await read(`/v1/subscribers/${subscriberId}/notifications/feed?limit=50`)
    await read(`/v2/subscribers/${subscriberId}/preferences`)
    const list = `/v1/notifications?page=0&limit=50&subscriberIds=${subscriberId}`
    await read(list)
    for (const { _id } of answers[list]?.data ?? []) await read(`/v1/notifications/${_id}`)
  }
  return answers
}
