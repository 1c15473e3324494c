// People and configuration brought in and out by commands: from files, from another environment, from another service.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from '../../src/db/sql.ts'
import type { Json } from '../support/app.ts'
import { CliScene, linesIn } from '../support/cli-scene.ts'

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
  const wrong = await linesIn(`${file}.errors.jsonl`)
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
  assert.deepEqual(JSON.parse(done.stdout), {
    rows: 1_200,
    created: 1_200,
    updated: 0,
    unchanged: 0,
    failed: 0,
  })
  const count = sql`select count(*)::int as count from subscribers where subscriber_id like 'p-%'`
  assert.deepEqual(await scene.database.db.row(count), { count: 200 })
  await writeFile(`${file}.progress`, JSON.stringify({ work: { ...work, bytes: 1 }, state }))
  const other = await run('subscribers', 'import', file)
  assert.equal(other.code, 2)
  assert.match(other.stderr, /belongs to other work/)
  const again = await run('subscribers', 'import', file, '--restart')
  assert.equal(again.code, 0, again.stderr)
  assert.equal(
    again.stdout,
    '1000 subscribers created and 0 updated in Development. 200 were as in the file already.\n',
  )
  assert.deepEqual(await scene.database.db.row(count), { count: 1_200 })
})

test('a CSV file that is meant to hurt costs its wrong rows and no others', async () => {
  const file = join(folder, 'hostile.csv')
  const rows = [
    '\uFEFFsubscriberId,email,firstName,data.note',
    'h-1,h1@example.com,"two\r\nlines ""quoted""",',
    'h-2',
    'h-3,h3@example.com,5" pipe,x',
    'h-4,h4@example.com,"closed"x,',
    `h-5,h5@example.com,${'long'.repeat(2_600_000)},`,
    'h-6,h6@example.com,Six,a;b',
    'h-6,h6b@example.com,Six again,',
    '   ',
    'h-7,h7@example.com,\u2028,\u0000',
    'h-8,h8@example.com,"',
    'never closed',
  ]
  await writeFile(file, rows.join('\r\n'))
  const done = await run('subscribers', 'import', file, '--json')
  assert.equal(done.code, 1)
  const wrong = await linesIn(`${file}.errors.jsonl`)
  assert.deepEqual(
    wrong.map(({ line, message }) => [line, message]),
    [
      [5, 'The quotes of this row do not fit together'],
      [6, 'The quotes of this row do not fit together'],
      [7, 'The line is longer than 1048576 characters'],
      [12, 'A quote is never closed'],
      [11, 'Validation Error data.note: data.note must not contain NUL characters or unpaired surrogates'],
    ],
  )
  const one = await scene.call('GET', '/v2/subscribers/h-1')
  assert.deepEqual([one.firstName, one.email], ['two\nlines "quoted"', 'h1@example.com'])
  assert.equal((await scene.call('GET', '/v2/subscribers/h-6')).email, 'h6b@example.com')
  const count = sql`select count(*)::int as count from subscribers where subscriber_id like 'h-%'`
  assert.deepEqual(await scene.database.db.row(count), { count: 3 })
  await writeFile(file, 'email,firstName\na@example.com,A\n')
  assert.match((await run('subscribers', 'import', file)).stderr, /A column must be called subscriberId/)
  await writeFile(file, '')
  assert.match((await run('subscribers', 'import', file)).stderr, /is empty/)
})

test('a misspelt member of a row is a mistake of that row, as an unknown column is', async () => {
  const file = join(folder, 'unknown.jsonl')
  const rows = [
    { subscriberId: 'w-1', emial: 'w@example.com' },
    { subscriberId: 'w-2', email: 'w@example.com', data: { anything: 1 } },
    { subscriberId: 'w-3', channels: [{ providerId: 'fcm', credentials: { deviceToken: 'x' } }] },
  ]
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join('\n'))
  const done = await run('subscribers', 'import', file)
  assert.equal(done.code, 1)
  assert.equal(done.stdout, '1 subscribers created and 0 updated in Development.\n')
  assert.deepEqual(
    (await linesIn(`${file}.errors.jsonl`)).map(({ line, message }) => [line, message]),
    [
      [1, 'emial is unknown: did you mean email?'],
      [3, 'channels.0.credentials.deviceToken is unknown: did you mean deviceTokens?'],
    ],
  )
})

test('columns that are named twice are refused, and other separators than the comma are understood', async () => {
  const file = join(folder, 'columns.csv')
  await writeFile(file, 'subscriberId,email,E-mail\nt-1,a@example.com,b@example.com\n')
  const twice = await run('subscribers', 'import', file)
  assert.deepEqual([twice.code, /Two columns are email/.test(twice.stderr)], [2, true])
  await writeFile(file, 'subscriberId;First name\nsemi-1;"Ada; Countess"\nsemi-2;a,b\n')
  assert.equal((await run('subscribers', 'import', file)).code, 0)
  assert.equal((await scene.call('GET', '/v2/subscribers/semi-1')).firstName, 'Ada; Countess')
  assert.equal((await scene.call('GET', '/v2/subscribers/semi-2')).firstName, 'a,b')
  await writeFile(file, 'subscriberId\temail\ntab-1\ttab@example.com\n')
  assert.equal((await run('subscribers', 'import', file)).code, 0)
  assert.equal((await scene.call('GET', '/v2/subscribers/tab-1')).email, 'tab@example.com')
})

const make = (path: string, body: object, method = 'POST') => scene.call(method, path, body)

/** Something in every table that an export has lines of. */
async function fillConfiguration(): Promise<void> {
  const { _id: environmentId } = await scene.call('GET', '/v1/environments/me?secrets=false')
  await make('/v1/environments/me', { configurations: { capture: true } }, 'PATCH')
  await make('/v1/environment-variables', {
    key: 'SHOP',
    values: [{ _environmentId: environmentId, value: 'https://shop.example' }],
  })
  await make('/v1/environment-variables', {
    key: 'TOKEN',
    isSecret: true,
    values: [{ _environmentId: environmentId, value: 'hush' }],
  })
  const grid = { providerId: 'sendgrid', channel: 'email', name: 'Grid', identifier: 'grid' }
  await make('/v1/integrations', { ...grid, active: true, credentials: { apiKey: 'SG.hush', from: 'a@example.com' } })
  const fcm = { providerId: 'fcm', channel: 'push', name: 'Phones', identifier: 'phones' }
  await make('/v1/integrations', { ...fcm, configurations: { maxPerSecond: 10 } })
  await make('/v1/feeds', { name: 'Orders', identifier: 'orders' })
  await make('/v1/layouts', { name: 'Acme', identifier: 'acme', content: '<p>{{{body}}}</p>', isDefault: true })
  await make('/v1/translations/en', { texts: { hello: 'Hello' } }, 'PUT')
  const group = await make('/v1/notification-groups', { name: 'Shop' })
  await make('/v1/workflows', {
    name: 'Call',
    workflowId: 'call',
    active: true,
    notificationGroupId: group._id,
    steps: [
      {
        template: { type: 'custom' },
        metadata: { type: 'http', url: 'https://x.example/?token=hush', headers: { Authorization: 'Bearer hush' } },
      },
      { template: { type: 'email', subject: 'x', content: [{ type: 'text', content: 'x' }], layoutId: 'acme' } },
    ],
  })
  const mail = { template: { type: 'email', subject: 'News', content: [{ type: 'text', content: 'x' }] } }
  await make('/v1/workflows', { name: 'News', workflowId: 'news', active: true, steps: [mail] })
}

async function fillPeople(): Promise<void> {
  await make('/v1/tenants', { identifier: 'acme', name: 'Acme', data: { plan: 'team' } })
  await make('/v1/workflow-overrides', { workflowId: 'news', tenantId: 'acme', active: false })
  await make('/v2/contexts', { type: 'shop', id: 'one', data: { city: 'Rome' } })
  await make('/v1/webhook-endpoints', {
    url: 'https://hooks.example.com/in',
    eventTypes: ['message.failed'],
    workflows: ['news'],
  })
  const channels = [{ providerId: 'fcm', integrationIdentifier: 'phones', credentials: { deviceTokens: ['device-1'] } }]
  await make('/v1/subscribers/bulk', { subscribers: [{ subscriberId: 'ada', channels }] })
  await make('/v2/topics', { key: 'club', name: 'Club' })
  await make('/v2/topics/club/subscriptions', {
    subscriptions: ['ada', { subscriberId: 'cleo', identifier: 'cleo-club' }],
  })
  const hours = {
    isEnabled: true,
    weeklySchedule: { monday: { isEnabled: true, hours: [{ start: '9am', end: '17:00' }] } },
  }
  const preferences = '/v2/subscribers/ada/preferences'
  await make(
    preferences,
    {
      channels: { sms: false, email: true },
      schedule: hours,
      doNotDisturbUntil: new Date(Date.now() + 86_400_000).toISOString(),
    },
    'PATCH',
  )
  await make(
    preferences,
    { workflowId: 'news', channels: { email: false }, frequency: { type: 'daily', atTime: '18:00' } },
    'PATCH',
  )
  const suppressions = [{ channel: 'email', address: 'gone@example.com', reason: 'bounced', note: 'Closed' }]
  await make('/v1/suppressions/bulk', { suppressions: [...suppressions, { channel: 'sms', address: '+4930123456' }] })
}

const withoutHeader = async (path: string): Promise<string[]> =>
  (await readFile(path, 'utf8')).trimEnd().split('\n').slice(1)

test('an export into an empty environment gives an equal export, without a secret, and a repeat changes nothing', async () => {
  await fillConfiguration()
  await fillPeople()
  const file = join(folder, 'development.jsonl')
  const done = await run('export', file, '--json')
  assert.equal(done.code, 0, done.stderr)
  assert.doesNotMatch(done.stderr, /Warning:/)
  const text = await readFile(file, 'utf8')
  assert.doesNotMatch(text, /hush/)
  assert.match(text, /device-1/)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const report = await readFile(`${file}.report.jsonl`, 'utf8')
  assert.match(report, /"grid".*Secrets are not exported: apiKey/)
  assert.match(report, /"call".*header values of its custom steps/)
  assert.match(report, /"TOKEN".*secret/)
  assert.match(report, /"https:\/\/hooks\.example\.com".*signing secret/)
  const { exported } = JSON.parse(done.stdout)
  const kinds = [
    'settings',
    'variables',
    'integrations',
    'feeds',
    'layouts',
    'translations',
    'workflows',
    'groups',
    'tenants',
    'overrides',
    'contexts',
    'endpoints',
    'subscribers',
    'topics',
    'subscriptions',
    'suppressions',
  ]
  assert.deepEqual(Object.keys(exported), kinds)
  const put = await run('import', file, '--environment', 'Production', '--json')
  assert.equal(put.code, 0, put.stderr)
  assert.doesNotMatch(put.stderr, /Warning:/)
  const first = JSON.parse(put.stdout)
  assert.deepEqual(first.imported, exported)
  assert.ok(
    Object.values(first.changed).every((count) => Number(count) > 0),
    put.stdout,
  )
  const again = await run('import', file, '--environment', 'Production')
  assert.match(again.stdout, /Nothing changed: all of it was there already\.\n$/)
  const back = join(folder, 'production.jsonl')
  assert.equal((await run('export', back, '--environment', 'Production')).code, 0)
  assert.deepEqual(await withoutHeader(back), await withoutHeader(file))
  await writeFile(join(folder, 'other.jsonl'), '{"a":1}\n')
  const other = await run('import', join(folder, 'other.jsonl'))
  assert.deepEqual([other.code, /is not a file of `posthorn export`/.test(other.stderr)], [2, true])
})

test('with --secrets the credentials and headers are in the file, and integrations come back as they were', async () => {
  const file = join(folder, 'secrets.jsonl')
  const done = await run('export', file, '--secrets', '--no-people', '--json')
  assert.equal(done.code, 0, done.stderr)
  const all = await linesIn(file)
  const grid = all.find(({ value }) => value?.identifier === 'grid')
  assert.deepEqual([grid.value.active, grid.value.primary, grid.value.credentials.apiKey], [true, true, 'SG.hush'])
  assert.match(JSON.stringify(all), /Bearer hush/)
  assert.ok(!all.some(({ kind }) => kind === 'subscriber'))
})

test('the preferences of a subscription that is there are written too; those that cannot be are reported', async () => {
  const own = '/v2/topics/club/subscriptions/cleo-club'
  await make(own, { preferences: [{ workflowId: 'news', enabled: false }] }, 'PATCH')
  const file = join(folder, 'chosen.jsonl')
  assert.equal((await run('export', file)).code, 0)
  const before = await scene.call('GET', own, undefined, scene.productionKey)
  assert.equal(before.preferences, undefined)
  const put = await run('import', file, '--environment', 'Production', '--json')
  assert.equal(put.code, 0, put.stderr)
  assert.equal(JSON.parse(put.stdout).changed.subscriptions, 1)
  const { preferences } = await scene.call('GET', own, undefined, scene.productionKey)
  assert.deepEqual(
    preferences.map((one: Json) => [one.workflow.identifier, one.enabled]),
    [['news', false]],
  )
  const again = await run('import', file, '--environment', 'Production')
  assert.match(again.stdout, /Nothing changed: all of it was there already\.\n$/)
  // Of a workflow that is not there.
  const text = await readFile(file, 'utf8')
  const wrong = text.replace(
    '"preferences":[{"workflowId":"news","enabled":false}]',
    '"preferences":[{"workflowId":"gone"}]',
  )
  assert.notEqual(wrong, text)
  await writeFile(file, wrong)
  const refused = await run('import', file, '--environment', 'Production', '--json')
  const report = await readFile(`${file}.report.jsonl`, 'utf8')
  assert.match(report, /"club cleo".*its own preferences were not imported: /, refused.stderr)
  assert.equal(JSON.parse(refused.stdout).imported.subscriptions, 2)
})
