// People and configuration brought in and out by commands: from files, from another environment, from another service.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json } from '../support/app.ts'
import { CliScene } from '../support/cli-scene.ts'

let scene: CliScene
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'posthorn-transfer-'))
  scene = await CliScene.start(join(folder, 'data'))
})
after(async () => {
  await scene.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (...args: string[]) => scene.run(args)
const lines = async (path: string): Promise<Json[]> =>
  (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

test('a CSV file is imported row by row; what is wrong goes to a file, and the rest is there', async () => {
  const file = join(folder, 'people.csv')
  await writeFile(
    file,
    [
      '\uFEFFsubscriber_id,E-mail,First name,timezone,data.plan',
      'ada,ada@example.com,"Ada, Countess ""of"" Lovelace",Europe/London,gold',
      'bob,not an address,Bob,,',
      'cleo,cleo@example.com,"Cleo\nfrom Rome",,',
      ',nobody@example.com,,,',
      'dora,dora@example.com,Dora,Mars/Olympus,,too many',
      '',
    ].join('\r\n'),
  )
  const done = await run('subscribers', 'import', file)
  assert.equal(done.code, 1, done.stderr)
  assert.equal(done.stdout, '2 subscribers created and 0 updated in Development.\n')
  assert.match(done.stderr, /3 of 5 rows were not imported/)
  const wrong = await lines(`${file}.errors.jsonl`)
  assert.deepEqual(
    wrong.map(({ line, subscriberId }) => [line, subscriberId]),
    [
      [3, 'bob'],
      [6, undefined],
      [7, undefined],
    ],
  )
  assert.match(wrong[0].message, /email/)
  const ada = await scene.call('GET', '/v2/subscribers/ada')
  assert.deepEqual(
    [ada.firstName, ada.timezone, ada.data, ada.email],
    ['Ada, Countess "of" Lovelace', 'Europe/London', { plan: 'gold' }, 'ada@example.com'],
  )
  assert.equal((await scene.call('GET', '/v2/subscribers/cleo')).firstName, 'Cleo\nfrom Rome')
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.endsWith('.progress')),
    [],
  )
  await writeFile(file, 'subscriberId,emial\nx,y\n')
  const unknown = await run('subscribers', 'import', file)
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, /Unknown column "emial"\. Did you mean email\?/)
  assert.equal((await run('subscribers', 'import', join(folder, 'none.csv'))).code, 2)
})

test('an import that was stopped goes on where it was, and refuses to go on with another file', async () => {
  const file = join(folder, 'many.jsonl')
  const person = (number: number) => JSON.stringify({ subscriberId: `p-${number}`, email: `p${number}@example.com` })
  await writeFile(file, Array.from({ length: 1_200 }, (_, number) => person(number)).join('\n'))
  const { _id: environmentId } = await scene.call('GET', '/v1/environments/me?secrets=false')
  const bytes = (await readFile(file)).length
  const state = { rows: 1_000, created: 1_000, updated: 0, failed: 0 }
  const work = { file, bytes, url: scene.service.url, environmentId }
  await writeFile(`${file}.progress`, JSON.stringify({ work, state }))
  const done = await run('subscribers', 'import', file, '--json')
  assert.equal(done.code, 0, done.stderr)
  assert.match(done.stderr, /Going on after row 1000\./)
  assert.deepEqual(JSON.parse(done.stdout), { rows: 1_200, created: 1_200, updated: 0, failed: 0 })
  const count = sql`select count(*)::int as count from subscribers where subscriber_id like 'p-%'`
  assert.deepEqual(await scene.database.db.row(count), { count: 200 })
  await writeFile(`${file}.progress`, JSON.stringify({ work: { ...work, bytes: 1 }, state }))
  const other = await run('subscribers', 'import', file)
  assert.equal(other.code, 2)
  assert.match(other.stderr, /belongs to other work/)
  const again = await run('subscribers', 'import', file, '--restart')
  assert.equal(again.code, 0, again.stderr)
  assert.deepEqual(await scene.database.db.row(count), { count: 1_200 })
})
