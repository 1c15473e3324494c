// posthorn users: people are created, listed, changed, disabled and reset; passwords come from the terminal or standard input.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import { isPassword } from '../../src/domain/operate/password.ts'
import type { Ran, RunOptions } from '../support/cli-scene.ts'
import { runCommand } from '../support/cli-scene.ts'
import type { TestDatabase } from '../support/database.ts'
import { createTestDatabase } from '../support/database.ts'

let database: TestDatabase
let folder: string
before(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'posthorn-users-'))
})
after(async () => {
  await database.drop()
  await rm(folder, { recursive: true })
})

const users = (args: string, options: RunOptions = {}): Promise<Ran> =>
  runCommand(['users', ...args.split(' ')], {
    ...options,
    env: { DATABASE_URL: database.url, POSTHORN_DATA_DIR: folder, PORT: '4000' },
  })
const hashOf = async (email: string): Promise<string | undefined> =>
  (await database.db.row<{ hash: string | null }>(sql`select password_hash as hash from users where email = ${email}`))
    ?.hash ?? undefined

test('a user is created with a link, or with a password from standard input', async () => {
  const made = await users('create Ada@example.com --role owner --name Ada')
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /^http:\/\/localhost:4000\/sign-in\/password#[0-9a-f-]{36}\.[\w-]{43}\n$/)
  assert.match(made.stderr, /ada@example\.com is created as owner[\s\S]*works once/)
  const elsewhere = await users('reset ada@example.com --url https://posthorn.example.com/')
  assert.match(elsewhere.stdout, /^https:\/\/posthorn\.example\.com\/sign-in\/password#/)
  const words = 'correct horse battery staple'
  const given = await users('create grace@example.com --password', { input: `${words}\n` })
  assert.equal(given.code, 0, given.stderr)
  assert.equal(given.stdout, '')
  assert.equal(await isPassword(words, await hashOf('grace@example.com')), true)
})

test('a weak password, a wrong role and a wrong address create no one', async () => {
  for (const [args, code, says] of [
    ['create weak@example.com --password', 1, /at least 12 characters/],
    ['create weak@example.com --role root', 2, /the roles are owner, editor, viewer/],
    ['create weak', 2, /no e-mail address/],
    ['create grace@example.com', 1, /already/],
    ['create', 2, /Usage/],
    ['role grace@example.com', 2, /Usage/],
    ['disable missing@example.com', 1, /no user missing@example\.com/],
    ['list --organization Missing', 2, /Unknown organization/],
  ] as const) {
    const ran = await users(args, { input: 'short\n' })
    assert.equal(ran.code, code, `${args}: ${ran.stderr}`)
    assert.match(ran.stderr, says)
  }
  assert.equal(await hashOf('weak@example.com'), undefined)
})

test('roles, disabling and enabling are shown in the list; the last owner stays', async () => {
  assert.match((await users('role grace@example.com editor')).stdout, /grace@example\.com is editor/)
  assert.match((await users('disable grace@example.com')).stdout, /is disabled/)
  const listed = (await users('list')).stdout
  assert.match(listed, /^grace@example\.com {2}editor {2}disabled {2}by password {2}signed in never/m)
  assert.match(listed, /^ada@example\.com {2}owner {2}invited .* Ada$/m)
  assert.match((await users('enable grace@example.com')).stdout, /grace@example\.com is editor/)
  assert.match((await users('role ada@example.com viewer')).stderr, /last owner/)
  const rows = await database.db.rows<{ name: string; kind: string }>(sql`
    select key_id as kind, resource_name as name from audit_log where resource_kind = 'user'`)
  assert.ok(rows.length >= 12 && rows.every(({ kind }) => kind === 'cli'))
})
